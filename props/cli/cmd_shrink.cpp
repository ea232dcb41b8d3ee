#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "props/cli/aftermath.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/ledger.h"
#include "props/shrink.h"

namespace exactk::props::cli {
namespace {

struct ShrinkCommand {
  DeviceOptions device;
  std::string line;
  ShrinkLimits limits;
};

// Judges the case on every pair of wave width and kernel, up to the first that fails.
std::optional<Failure> first_failure(const std::vector<Job>& jobs, const Workbench& bench,
                                     Ledger& ledger) {
  for (const Job& job : jobs) {
    Outcome outcome = bench.run(job);
    ledger.add(outcome);
    if (oracle::is_failure(outcome.verdict)) return Failure{job, std::move(outcome), {}};
    if (outcome.verdict != oracle::Verdict::kPassed) fmt::print("{}\n", outcome.report);
  }
  return std::nullopt;
}

int shrink_line(const ShrinkCommand& command) {
  auto parsed = fixtures::parse_case(command.line);
  if (!parsed) return complain(kUsage, parsed.error());
  auto opened = open_workbench(command.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  const Workbench bench = std::get<Workbench>(std::move(opened));
  Ledger ledger;
  report_refused(bench.refused, ledger);
  auto failure = first_failure(jobs_of(bench, command.device, *parsed), bench, ledger);
  if (failure) {
    Job job = failure->job;
    const auto judge = [&](const fixtures::Case& smaller) {
      job.value = smaller;
      return bench.run(job);
    };
    print_shrunk(shrink(failure->outcome, judge, command.limits));
  } else if (ledger.judged() > 0) {
    fmt::print("there is nothing to shrink: the case does not fail\n");
  }
  fmt::print("{}\n", ledger.totals());
  std::fflush(stdout);
  if (ledger.any_failure()) return kKernelFailed;
  if (ledger.judged() == 0)
    return complain(kNothingJudged,
                    "nothing was judged: no kernel of the operation is selected, or each was "
                    "skipped for the reason above");
  return kAllPassed;
}

}  // namespace

void add_shrink(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "shrink", "the smallest case like a failing one, on the first kernel and wave that it fails");
  auto options = std::make_shared<ShrinkCommand>();
  command->add_option("case", options->line, "the case line, quoted")->required();
  command->add_option("--budget", options->limits.seconds, "seconds for the search")
      ->check(above_zero())
      ->capture_default_str();
  command->add_option("--executions", options->limits.executions, "runs of the kernel in all")
      ->check(above_zero())
      ->capture_default_str();
  add_device_options(*command, options->device);
  command->callback([&chosen, options] { chosen = [options] { return shrink_line(*options); }; });
}

}  // namespace exactk::props::cli
