#include <fmt/format.h>

#include <cstdio>

#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/ledger.h"

namespace exactk::props::cli {
namespace {

struct ReplayCommand {
  DeviceOptions device;
  std::string line;
};

int replay(const ReplayCommand& command) {
  auto parsed = fixtures::parse_case(command.line);
  if (!parsed) return complain(kUsage, parsed.error());
  auto opened = open_workbench(command.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  Workbench bench = std::get<Workbench>(std::move(opened));
  fixtures::Case c = *parsed;
  if (command.device.schedule_seed) c.schedule = *command.device.schedule_seed;
  Ledger ledger;
  for (const int wave : bench.waves) {
    for (const KernelUnderTest& kernel : bench.kernels) {
      if (!is_of(kernel, c)) continue;
      Job job{c, kernel, {}};
      job.options.wave_width = wave;
      job.options.logits_from = logits_from(bench.device);
      const Outcome outcome = bench.run(job);
      ledger.add(outcome);
      fmt::print("{}\n", outcome.report);
      std::fflush(stdout);
    }
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
  add_device_options(*command, options->device);
  command->callback([&chosen, options] { chosen = [options] { return replay(*options); }; });
}

}  // namespace exactk::props::cli
