#include "props/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace exactk::props {
namespace {

using fixtures::Case;
using oracle::Verdict;

constexpr uint32_t kAllButInputsAndReplay =
    kExactJudge | kPoisonDifferential | kGuards | kRepeat | kSchedule | kLaunchModes;

std::vector<PowerColumn> make_columns() {
  std::vector<PowerColumn> columns = {{"whole", {}}};
  for (int bit = 0; bit < kIngredients; ++bit) {
    const auto ingredient = static_cast<Ingredient>(1u << bit);
    const Judge judge = ingredient == kExactJudge ? Judge::kSetThenValues : Judge::kExact;
    columns.push_back({fmt::format("no {}", name(ingredient)), {ingredient, judge}});
  }
  for (int judge = 1; judge < kJudges; ++judge) {
    const auto loose = static_cast<Judge>(judge);
    columns.push_back({fmt::format("only {}", name(loose)), {kAllButInputsAndReplay, loose}});
  }
  return columns;
}

bool is_killed(const Outcome& outcome) {
  return outcome.verdict == Verdict::kFailed || outcome.verdict == Verdict::kUnsupported;
}

Job job_of(const Case& c, const KernelUnderTest& kernel, int wave, const Trial& trial) {
  Job job{trial_case(c, trial.without), kernel, {}};
  job.options.wave_width = wave;
  job.options.trial = trial;
  return job;
}

// Case and wave width of one run.
struct Place {
  const Case* value;
  int wave;
};

std::vector<Place> places_of(const PowerTier& tier, std::string_view op,
                             const std::vector<int>& waves) {
  std::vector<Place> places;
  for (const Case& c : tier.cases) {
    if (fixtures::name(c.op) != op) continue;
    for (const int wave : waves) places.push_back({&c, wave});
  }
  return places;
}

class Measurement {
 public:
  Measurement(const PlantedFault& fault, const RunJob& run, const std::function<void()>& step,
              int timeouts_max)
      : fault_(fault), run_(run), step_(step), timeouts_left_(timeouts_max) {}

  bool reachable(const std::vector<int>& waves) {
    return std::any_of(waves.begin(), waves.end(), [&](int wave) {
      return is_killed(run({&fault_.reaching, wave}, kWhole));
    });
  }

  FaultPower::InTier measure(const std::vector<Place>& places) {
    FaultPower::InTier found;
    found.columns.resize(power_columns().size());
    std::vector<Place> killing;
    Kill& whole = found.columns[kWhole];
    for (const Place& place : places) {
      if (timeouts_left_ <= 0) break;
      const Outcome outcome = run(place, kWhole);
      if (outcome.verdict == Verdict::kSkipped) continue;
      ++found.runs;
      found.vector += is_killed(outcome) ? '1' : '0';
      if (!whole.killed) count(whole, place, outcome);
      if (is_killed(outcome)) killing.push_back(place);
    }
    found.kills = static_cast<int64_t>(killing.size());
    for (size_t column = 1; column < found.columns.size(); ++column)
      found.columns[column] = first_kill(killing, column);
    return found;
  }

 private:
  // Nothing else than what the whole suite killed can kill with less.
  Kill first_kill(const std::vector<Place>& killing, size_t column) {
    Kill kill;
    for (const Place& place : killing) {
      if (kill.killed) break;
      count(kill, place, run(place, column));
    }
    return kill;
  }

  void count(Kill& kill, const Place& place, const Outcome& outcome) {
    ++kill.runs;
    kill.seconds += outcome.seconds;
    if (!is_killed(outcome)) return;
    kill.killed = true;
    kill.by = fmt::format("wave={} {}", place.wave, fixtures::print_case(*place.value));
    kill.why = outcome.reason;
  }

  Outcome run(const Place& place, size_t column) {
    Outcome outcome =
        run_(job_of(*place.value, fault_.kernel, place.wave, power_columns()[column].trial));
    if (outcome.reason.rfind("no answer for", 0) == 0) --timeouts_left_;
    step_();
    return outcome;
  }

  const PlantedFault& fault_;
  const RunJob& run_;
  const std::function<void()>& step_;
  int timeouts_left_;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Names of faults of one base with the same vector of kills, joined.
std::vector<std::string> same_vectors(const std::vector<FaultPower>& faults, size_t tier) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const FaultPower& f : faults) {
    const FaultPower::InTier& in = f.tiers[tier];
    if (in.kills > 0) groups[f.fault.base + ' ' + in.vector].push_back(f.fault.name);
  }
  std::vector<std::string> same;
  for (const auto& [vector, names] : groups) {
    if (names.size() > 1) same.push_back(fmt::format("{}", fmt::join(names, ", ")));
  }
  return same;
}

}  // namespace

const std::vector<PowerColumn>& power_columns() {
  static const std::vector<PowerColumn> columns = make_columns();
  return columns;
}

FaultPower measure_fault(const PlantedFault& fault, const std::vector<PowerTier>& tiers,
                         const std::vector<int>& waves, const RunJob& run,
                         const std::function<void()>& step, int timeouts_max) {
  FaultPower power{fault, false, {}};
  power.reachable = Measurement(fault, run, step, timeouts_max).reachable(waves);
  for (const PowerTier& tier : tiers) {
    Measurement measurement(fault, run, step, timeouts_max);
    power.tiers.push_back(measurement.measure(places_of(tier, fault.kernel.kernel->op, waves)));
  }
  return power;
}

Outcome first_baseline_failure(const std::vector<KernelUnderTest>& kernels,
                               const std::vector<PowerTier>& tiers, const std::vector<int>& waves,
                               const RunJob& run,
                               const std::function<void(size_t, const Outcome&)>& seen) {
  Outcome last;
  last.verdict = Verdict::kPassed;
  for (size_t tier = 0; tier < tiers.size(); ++tier) {
    for (const KernelUnderTest& kernel : kernels) {
      for (const Place& place : places_of(tiers[tier], kernel.kernel->op, waves)) {
        Outcome outcome = run(job_of(*place.value, kernel, place.wave, {}));
        seen(tier, outcome);
        if (oracle::is_failure(outcome.verdict)) return outcome;
      }
    }
  }
  return last;
}

TierPower tier_power(const std::vector<FaultPower>& faults, const std::vector<PowerTier>& tiers,
                     size_t tier) {
  const size_t columns = power_columns().size();
  TierPower power;
  power.name = tiers[tier].name;
  power.killed.resize(columns);
  power.alive_without.resize(columns);
  std::vector<double> seconds, runs;
  for (const FaultPower& f : faults) {
    const FaultPower::InTier& in = f.tiers[tier];
    const Kill& whole = in.columns[kWhole];
    ++(f.reachable ? power.reachable : power.unreachable);
    if (!f.reachable) continue;
    if (!whole.killed) power.survivors.push_back(f.fault.name);
    if (!whole.killed) continue;
    seconds.push_back(whole.seconds);
    runs.push_back(static_cast<double>(whole.runs));
    for (size_t column = 0; column < columns; ++column) {
      if (in.columns[column].killed)
        ++power.killed[column];
      else
        power.alive_without[column].push_back(f.fault.name);
    }
  }
  power.median_seconds = median(std::move(seconds));
  power.median_runs = median(std::move(runs));
  power.same_vectors = same_vectors(faults, tier);
  return power;
}

}  // namespace exactk::props
