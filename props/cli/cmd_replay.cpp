#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/dump.h"
#include "props/ledger.h"

namespace exactk::props::cli {
namespace {

struct ReplayCommand {
  DeviceOptions device;
  std::string line;
  std::filesystem::path dump;  // empty: none
};

std::vector<Job> jobs_of(const Workbench& bench, const fixtures::Case& c) {
  std::vector<Job> jobs;
  for (const int wave : bench.waves) {
    for (const KernelUnderTest& kernel : bench.kernels) {
      if (!is_of(kernel, c)) continue;
      jobs.push_back({c, kernel, {}});
      jobs.back().options.wave_width = wave;
      jobs.back().options.logits_from = logits_from(bench.device);
    }
  }
  return jobs;
}

// One sentence if what was asked for is not what a dump holds: one run of a top-k.
std::string undumpable(const fixtures::Case& c, size_t runs) {
  if (c.op != fixtures::Op::kTopkDecode && c.op != fixtures::Op::kTopkPrefill) {
    return fmt::format("--dump is for topk.decode and topk.prefill, not for {}",
                       fixtures::name(c.op));
  }
  if (runs <= 1) return "";
  return fmt::format(
      "--dump holds one run, and {} are selected; name one kernel with --kernel, "
      "and on the host device one width with --wave",
      runs);
}

int replay(ReplayCommand command) {
  auto parsed = fixtures::parse_case(command.line);
  if (!parsed) return complain(kUsage, parsed.error());
  const bool dumping = !command.dump.empty();
  // What is dumped is in the memory of the process that launches.
  command.device.in_process = command.device.in_process || dumping;
  auto opened = open_workbench(command.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  Workbench bench = std::get<Workbench>(std::move(opened));
  fixtures::Case c = *parsed;
  if (command.device.schedule_seed) c.schedule = *command.device.schedule_seed;
  std::vector<Job> jobs = jobs_of(bench, c);
  if (const std::string error = dumping ? undumpable(c, jobs.size()) : ""; !error.empty())
    return complain(kUsage, error);
  Ledger ledger;
  report_refused(bench.refused, ledger);
  for (Job& job : jobs) {
    const uint32_t promised = job.kernel.kernel->modes;
    std::optional<LaunchDump> dump;
    if (dumping) {
      dump.emplace(c, (promised & EXACTK_MODE_ABSOLUTE) != 0);
      job.options.launched = [&dump](const Launched& launched) { dump->keep(launched); };
    }
    const Outcome outcome = bench.run(job);
    ledger.add(outcome);
    fmt::print("{}\n", outcome.report);
    std::fflush(stdout);
    if (!dump || dump->empty()) continue;
    if (const std::string error = dump->write(command.dump); !error.empty())
      return complain(kUsage, error);
    fmt::print("check   {}\n\n", dump->check_line(command.dump, promised));
  }
  fmt::print("{}\n", ledger.totals());
  if (ledger.any_failure()) return kKernelFailed;
  if (ledger.judged() == 0)
    return complain(kNothingJudged,
                    "nothing was judged: no kernel of the operation is selected, or each was "
                    "skipped for the reason above");
  return kAllPassed;
}

}  // namespace

void add_replay(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("replay", "one case line exactly, with everything that is known about it");
  auto options = std::make_shared<ReplayCommand>();
  command->add_option("case", options->line, "the case line, quoted")->required();
  command->add_option("--dump", options->dump,
                      "folder for the tensors of the launch that fails, else of the last one, as "
                      "exactk check takes them; works in the process itself");
  add_device_options(*command, options->device);
  command->callback([&chosen, options] { chosen = [options] { return replay(*options); }; });
}

}  // namespace exactk::props::cli
