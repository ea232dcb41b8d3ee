// How many planted faults a tier of cases kills, how fast, and by which part of the suite.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "props/isolated_runner.h"
#include "props/trial.h"

namespace exactk::props {

struct PowerTier {
  std::string name;
  std::vector<fixtures::Case> cases;  // of any operation
};

// A way to run the cases: whole; without one ingredient; or as a public test would, without all but
// inputs and replay, and with its comparator.
struct PowerColumn {
  std::string name;
  Trial trial;
};
const std::vector<PowerColumn>& power_columns();  // the whole suite first
inline constexpr size_t kWhole = 0;

// A fault to be killed.
struct PlantedFault {
  std::string name, base, kind;
  fixtures::Case reaching;
  KernelUnderTest kernel;
};

// What one tier makes of one fault under one column. Runs count cases on wave widths; the seconds
// are those of the runs.
struct Kill {
  bool killed = false;
  int64_t runs = 0;     // up to the kill, or of all that could be tried
  double seconds = 0;   // of those runs
  std::string by = {};  // the case line, and why it failed
  std::string why = {};
};

struct FaultPower {
  PlantedFault fault;
  bool reachable = false;  // its own case fails
  struct InTier {
    std::vector<Kill> columns;  // [power_columns()]
    int64_t kills = 0;          // runs of the whole suite that failed
    int64_t runs = 0;           // runs of the whole suite that were judged
    std::string vector = {};    // of the whole suite, '1' where a run failed; cut short where a
                                // run took its time limit
  };
  std::vector<InTier> tiers;
};

using RunJob = std::function<Outcome(const Job&)>;

// Measures one fault: its own case on `waves`; every case of its operation with the whole suite;
// and with each other column the cases that killed it, in order, up to the first that does. A fault
// that only time limits end is looked at, with the whole suite, no further than `timeouts_max` of
// them.
FaultPower measure_fault(const PlantedFault& fault, const std::vector<PowerTier>& tiers,
                         const std::vector<int>& waves, const RunJob& run,
                         const std::function<void()>& step, int timeouts_max = 2);

// The first failure of an unmodified kernel on the cases; an outcome that passed if there is none.
// Faults mean nothing before this is silent. `seen` gets each run and the number of its tier.
Outcome first_baseline_failure(const std::vector<KernelUnderTest>& kernels,
                               const std::vector<PowerTier>& tiers, const std::vector<int>& waves,
                               const RunJob& run,
                               const std::function<void(size_t, const Outcome&)>& seen);

// What a list of faults comes to, under one tier.
struct TierPower {
  std::string name;
  int64_t reachable = 0;
  int64_t unreachable = 0;
  std::vector<int64_t> killed;  // [power_columns()], of the reachable ones
  double median_seconds = 0;    // to the kill by the whole suite
  double median_runs = 0;
  std::vector<std::string> survivors;                   // reachable and alive under the whole suite
  std::vector<std::vector<std::string>> alive_without;  // [power_columns()], killed by the whole
  // Faults of one base that the same runs kill: one of the two may not be what its label says.
  std::vector<std::string> same_vectors;
};
TierPower tier_power(const std::vector<FaultPower>& faults, const std::vector<PowerTier>& tiers,
                     size_t tier);

}  // namespace exactk::props
