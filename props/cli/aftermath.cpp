#include "props/cli/aftermath.h"

#include <fmt/format.h>

#include <cstdio>

#include "props/recurrence.h"
#include "props/report.h"

namespace exactk::props::cli {
namespace {

// Runs jobs in a process of their own.
RunFresh run_fresh(const Workbench& bench) {
  return [&bench](std::span<const Job> jobs) {
    bench.restart();
    Outcome last;
    for (const Job& job : jobs) last = bench.run(job);
    return last;
  };
}

void shrink_failure(const Failure& failure, const Workbench& bench, const ShrinkLimits& limits,
                    FailureLog& log) {
  Job job = failure.job;
  const auto judge = [&](const fixtures::Case& smaller) {
    job.value = smaller;
    return bench.run(job);
  };
  const ShrinkResult result = shrink(failure.outcome, judge, limits);
  print_shrunk(result);
  if (const std::string error = log.add("shrunk", result.outcome); !error.empty())
    fmt::print("{}\n", error);
}

std::string how_small(const ShrinkResult& result) {
  if (result.minimal) return "minimal";
  return fmt::format("not minimal: the budget ended after {} executions", result.executions);
}

Recurrence recurrence_of(const Reruns& again) {
  Recurrence found;
  if (again.runs > 0)
    found.kind =
        again.failed == again.runs ? Recurrence::Kind::kDeterministic : Recurrence::Kind::kFlaky;
  found.failed = again.failed;
  found.runs = again.runs;
  return found;
}

// The replay line of the job after others.
std::string replay_after_line(const Outcome& outcome, const std::vector<Job>& after) {
  std::string line = replay_line(outcome);
  for (const Job& job : after) line += fmt::format(" --after '{}'", job_text(job));
  return line;
}

}  // namespace

void print_shrunk(const ShrinkResult& result) {
  fmt::print("{}\n", result.outcome.report);
  if (result.first_again.runs > 0 && result.first_again.failed == 0) {
    fmt::print("not shrunk: {}; above is what was seen then\n",
               recurrence_text(recurrence_of(result.first_again)));
    return;
  }
  fmt::print("original  {}\nsmallest  {}\nshrunk    {} executions, {}; {}\n",
             fixtures::print_case(result.first.value), fixtures::print_case(result.outcome.value),
             result.executions, how_small(result),
             recurrence_text(recurrence_of(result.smallest_again)));
}

void examine_failures(const std::vector<Failure>& failures, const Workbench& bench,
                      const ShrinkLimits& limits, FailureLog& log) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds_left = [&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return limits.seconds - spent.count();
  };
  for (size_t i = 0; i < failures.size(); ++i) {
    if (seconds_left() <= 0) {
      fmt::print("the budget for shrinking ended; `exactk shrink` takes the other {} cases\n",
                 failures.size() - i);
      break;
    }
    const Failure& failure = failures[i];
    if (2 * failure.outcome.seconds > seconds_left()) {
      fmt::print("again     {}, {}: not run again, as a run takes {:.0f} s\n",
                 failure.outcome.kernel, fixtures::print_case(failure.outcome.value),
                 failure.outcome.seconds);
      continue;
    }
    RecurrenceLimits again;
    again.seconds = seconds_left() / 2;  // the other half is for shrinking
    const Recurrence found =
        recurrence(failure.outcome, failure.job, failure.before, run_fresh(bench), again);
    const std::string text = recurrence_text(found);
    fmt::print("again     {}, {}: {}\n", failure.outcome.kernel,
               fixtures::print_case(failure.outcome.value), text);
    if (found.kind == Recurrence::Kind::kAfterOthers)
      fmt::print("replay    {}\n", replay_after_line(failure.outcome, found.after));
    if (const std::string error = log.add("again", failure.outcome, found.after, text);
        !error.empty())
      fmt::print("{}\n", error);
    std::fflush(stdout);
    if (found.failed == 0) continue;
    ShrinkLimits left = limits;
    left.seconds = seconds_left();
    shrink_failure(failure, bench, left, log);
    std::fflush(stdout);
  }
}

}  // namespace exactk::props::cli
