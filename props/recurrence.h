// Whether a failure comes again: every time, now and then, or only after what ran before it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "props/isolated_runner.h"
#include "props/outcome.h"

namespace exactk::props {

struct RecurrenceLimits {
  int64_t runs_min = 5;   // of the case alone; enough where every one fails
  int64_t runs_max = 20;  // where one did not
  int64_t sequences = 3;  // that must all fail, before an earlier case is blamed
  double seconds = 20;    // after which nothing more is begun
};

struct Recurrence {
  enum class Kind {
    kDeterministic,  // failed in every run
    kFlaky,          // failed in some, or in none, not even after what ran before
    kAfterOthers,    // failed in no run alone, and in every one after `after`
    kUnknown,        // the time ended before anything was known
  };
  Kind kind = Kind::kUnknown;
  int64_t failed = 0;  // of `runs` alone
  int64_t runs = 0;
  std::vector<Job> after;  // in the order of running, as few as were found to be needed
};

// Runs the jobs one after the other in a process of their own, and gives the last one's outcome.
using RunFresh = std::function<Outcome(std::span<const Job>)>;

// `failed` is the outcome of `job`, and `before` what the process had run before it, the last one
// last. A run fails where it fails_alike() to `failed`.
Recurrence recurrence(const Outcome& failed, const Job& job, std::span<const Job> before,
                      const RunFresh& run, const RecurrenceLimits& limits = {});

// "deterministic: fails 5 of 5", "flaky: fails 1 of 20", "only after these cases, which ran
// before it", ...
std::string recurrence_text(const Recurrence& recurrence);

}  // namespace exactk::props
