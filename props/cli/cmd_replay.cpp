#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>

#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/cli/failure_log.h"
#include "props/cli/regressions.h"
#include "props/dump.h"
#include "props/ledger.h"

namespace exactk::props::cli {
namespace {

struct ReplayCommand {
  DeviceOptions device;
  std::string line;
  std::vector<std::string> after;
  std::filesystem::path dump;  // empty: none
  std::string regression;      // slug; empty: none is added
  std::filesystem::path regressions = "fixtures/cases/regressions";
};

// What --after says: KERNEL wave=W CASE.
struct Earlier {
  std::string kernel;
  int wave = 0;
  fixtures::Case value;
};

fixtures::Result<Earlier> earlier_of(const std::string& text) {
  std::istringstream words(text);
  std::string kernel, wave, line;
  words >> kernel >> wave;
  std::getline(words >> std::ws, line);
  if (wave != "wave=32" && wave != "wave=64")
    return tl::unexpected(
        fmt::format("--after '{}' is not KERNEL wave=32 CASE or KERNEL wave=64 CASE", text));
  auto value = fixtures::parse_case(line);
  if (!value) return tl::unexpected("--after: " + value.error());
  return Earlier{kernel, wave == "wave=32" ? 32 : 64, *value};
}

// The jobs of what runs before; the kernels are those of the workbench.
fixtures::Result<std::vector<Job>> jobs_before(const std::vector<Earlier>& all,
                                               const Workbench& bench,
                                               const DeviceOptions& options) {
  std::vector<Job> jobs;
  for (const Earlier& earlier : all) {
    const auto found = std::find_if(
        bench.kernels.begin(), bench.kernels.end(),
        [&](const KernelUnderTest& kernel) { return kernel.name() == earlier.kernel; });
    if (found == bench.kernels.end() || !is_of(*found, earlier.value))
      return tl::unexpected(fmt::format("--after: '{}' is no kernel of {}", earlier.kernel,
                                        fixtures::name(earlier.value.op)));
    Job job{earlier.value, *found, {}};
    job.options.wave_width = earlier.wave;
    job.options.workers = options.workers;
    job.options.logits_from = logits_from(bench.device);
    jobs.push_back(std::move(job));
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

// One run, after those that came before it, with its dump. False if the dump can't be written.
bool replay_job(const ReplayCommand& command, const Workbench& bench,
                const std::vector<Job>& before, Job job, std::vector<Outcome>& outcomes) {
  if (!before.empty()) bench.restart();
  for (const Job& earlier : before)
    fmt::print("after   {}: {}\n", job_text(earlier), oracle::name(bench.run(earlier).verdict));
  const uint32_t promised = job.kernel.kernel->modes;
  std::optional<LaunchDump> dump;
  if (!command.dump.empty()) {
    dump.emplace(job.value, (promised & EXACTK_MODE_ABSOLUTE) != 0);
    job.options.launched = [&dump](const Launched& launched) { dump->keep(launched); };
  }
  outcomes.push_back(bench.run(job));
  fmt::print("{}\n", outcomes.back().report);
  std::fflush(stdout);
  if (!dump || dump->empty()) return true;
  if (const std::string error = dump->write(command.dump); !error.empty())
    return complain(kUsage, error), false;
  fmt::print("check   {}\n\n", dump->check_line(command.dump, promised));
  return true;
}

int exit_code(const Ledger& ledger) {
  if (ledger.any_failure()) return kKernelFailed;
  if (ledger.judged() > 0) return kAllPassed;
  return complain(kNothingJudged,
                  "nothing was judged: no kernel of the operation is selected, or each was "
                  "skipped for the reason above");
}

// The workbench for the line and for what runs before it; then with the line's kernels alone.
std::variant<Workbench, int> open_for(const ReplayCommand& command,
                                      const std::vector<Earlier>& earlier,
                                      std::vector<Job>& before) {
  DeviceOptions options = command.device;
  // What is dumped is in the memory of the process that launches.
  options.in_process = options.in_process || !command.dump.empty();
  const bool all = earlier.empty();
  for (const Earlier& e : earlier) options.kernel += "," + e.kernel;
  auto opened = open_workbench(options);
  if (all || std::holds_alternative<int>(opened)) return opened;
  Workbench& bench = std::get<Workbench>(opened);
  auto jobs = jobs_before(earlier, bench, options);
  if (!jobs) return complain(kUsage, jobs.error());
  before = std::move(*jobs);
  std::erase_if(bench.kernels, [&](const KernelUnderTest& kernel) {
    return !globs_match(command.device.kernel, kernel.name());
  });
  return opened;
}

int replay(const ReplayCommand& command) {
  auto parsed = fixtures::parse_case(command.line);
  if (!parsed) return complain(kUsage, parsed.error());
  std::vector<Earlier> earlier;
  for (const std::string& text : command.after) {
    auto one = earlier_of(text);
    if (!one) return complain(kUsage, one.error());
    earlier.push_back(std::move(*one));
  }
  std::vector<Job> before;
  auto opened = open_for(command, earlier, before);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  const Workbench bench = std::get<Workbench>(std::move(opened));
  const std::vector<Job> jobs = jobs_of(bench, command.device, *parsed);
  if (const std::string error = command.dump.empty() ? "" : undumpable(*parsed, jobs.size());
      !error.empty())
    return complain(kUsage, error);
  Ledger ledger;
  report_refused(bench.refused, ledger);
  std::vector<Outcome> outcomes;
  for (const Job& job : jobs) {
    if (!replay_job(command, bench, before, job, outcomes)) return kUsage;
    ledger.add(outcomes.back());
  }
  if (!command.regression.empty() && ledger.judged() > 0) {
    const auto file = add_regression(command.regressions, command.regression, *parsed, outcomes);
    if (!file) return complain(kUsage, file.error());
    fmt::print("added   {}\n", file->string());
  }
  fmt::print("{}\n", ledger.totals());
  std::fflush(stdout);
  return exit_code(ledger);
}

}  // namespace

void add_replay(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("replay", "one case line exactly, with everything that is known about it");
  auto options = std::make_shared<ReplayCommand>();
  command->add_option("case", options->line, "the case line, quoted")->required();
  command
      ->add_option("--after", options->after,
                   "what runs before it in the same process, KERNEL wave=W CASE, quoted; may be "
                   "given several times")
      ->allow_extra_args(false);
  command->add_option("--add-regression", options->regression,
                      "keep the case as the next one of the regression corpus, under this name");
  command->add_option("--regressions", options->regressions, "folder of the regression corpus")
      ->capture_default_str();
  command->add_option("--dump", options->dump,
                      "folder for the tensors of the launch that fails, else of the last one, as "
                      "exactk check takes them; works in the process itself");
  add_device_options(*command, options->device);
  command->callback([&chosen, options] { chosen = [options] { return replay(*options); }; });
}

}  // namespace exactk::props::cli
