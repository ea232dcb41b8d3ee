// The times of a candidate against those of a baseline, in turns.
#pragma once

#include <string>
#include <vector>

#include "fixtures/case.h"
#include "props/cli/common.h"
#include "props/paired_ratio.h"
#include "props/runner.h"

namespace exactk::props::cli {

// One case at one wave width that both kernels were judged right on.
struct TimedPair {
  fixtures::Case value;
  RunnerOptions options;
  std::vector<double> baseline_s, candidate_s;  // seconds of a call, by repeat
  std::string error;                            // why it was not timed; empty if it was
};

struct TimingResult {
  std::vector<TimedPair> pairs;
  std::vector<RatioInterval> intervals;  // of each timed pair, in the order of the timed ones
  RatioInterval all;                     // of the sums over all timed pairs
  int64_t timed = 0;
  double error_max = 0;  // of each interval, so that all of them hold with 95 %
};

// A kernel by its name among those of the device options.
struct NamedKernel {
  DeviceOptions device;
  std::string name;
};

// Calls both kernels `repeats` times in turns, in an order that alternates, on a device of each in
// this process, which loads the plugins for it. `repeats` is raised to what so many intervals need
// to be bounded.
TimingResult time_pairs(const NamedKernel& baseline, const NamedKernel& candidate,
                        std::vector<TimedPair> pairs, int64_t repeats);

// The table of it: what is slower or faster, at most `shown_max` lines of each.
std::string timing_text(const TimingResult& result, size_t shown_max);

// The largest lower bound of a ratio; 0 if nothing was timed.
double largest_lower_bound(const TimingResult& result);

}  // namespace exactk::props::cli
