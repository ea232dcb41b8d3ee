#include <fmt/format.h>

#include <cstdio>
#include <optional>

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

std::string how_small(const ShrinkResult& result) {
  if (result.minimal) return "minimal";
  return fmt::format("not minimal: the budget ended after {} executions", result.executions);
}

std::string how_reliable(const Reruns& again) {
  if (again.runs == 0) return "not run again";
  if (again.failed == again.runs) return fmt::format("deterministic: fails {0} of {0}", again.runs);
  return fmt::format("flaky: fails {} of {}", again.failed, again.runs);
}

void print(const ShrinkResult& result) {
  fmt::print("{}\n", result.outcome.report);
  const Reruns& again = result.first_again;
  if (again.runs > 0 && again.failed == 0) {
    fmt::print(
        "not shrunk: flaky, the case failed once and then none of {} times; above is what was "
        "seen then\n",
        again.runs);
    return;
  }
  const std::string original = fixtures::print_case(result.first.value);
  const std::string smallest = fixtures::print_case(result.outcome.value);
  fmt::print("original  {}\nsmallest  {}\nshrunk    {} executions, {}; {}\n", original, smallest,
             result.executions, how_small(result), how_reliable(result.smallest_again));
}

// Judges the case on every pair of wave width and kernel, up to the first that fails.
std::optional<std::pair<Job, Outcome>> first_failure(const fixtures::Case& c,
                                                     const Workbench& bench, Ledger& ledger) {
  for (const int wave : bench.waves) {
    for (const KernelUnderTest& kernel : bench.kernels) {
      if (!is_of(kernel, c)) continue;
      Job job{c, kernel, {}};
      job.options.wave_width = wave;
      job.options.logits_from = logits_from(bench.device);
      Outcome outcome = bench.run(job);
      ledger.add(outcome);
      if (ledger.any_failure()) return std::pair(job, std::move(outcome));
      if (outcome.verdict != oracle::Verdict::kPassed) fmt::print("{}\n", outcome.report);
    }
  }
  return std::nullopt;
}

int shrink_line(const ShrinkCommand& command) {
  auto parsed = fixtures::parse_case(command.line);
  if (!parsed) return complain(kUsage, parsed.error());
  auto opened = open_workbench(command.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  const Workbench bench = std::get<Workbench>(std::move(opened));
  fixtures::Case c = *parsed;
  if (command.device.schedule_seed) c.schedule = *command.device.schedule_seed;
  Ledger ledger;
  report_refused(bench.refused, ledger);
  auto failure = first_failure(c, bench, ledger);
  if (failure) {
    Job job = failure->first;
    const auto judge = [&](const fixtures::Case& smaller) {
      job.value = smaller;
      return bench.run(job);
    };
    print(shrink(failure->second, judge, command.limits));
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
