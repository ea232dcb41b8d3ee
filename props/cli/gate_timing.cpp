#include "props/cli/gate_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "props/kernel_timer.h"

namespace exactk::props::cli {
namespace {

constexpr double kErrorOfAll = 0.05;

kernels::Result<void> call_in_turns(KernelTimer& baseline, KernelTimer& candidate, int64_t repeats,
                                    TimedPair& pair) {
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    const bool candidate_first = repeat % 2 == 1;
    for (const bool of_candidate : {candidate_first, !candidate_first}) {
      const auto seconds = (of_candidate ? candidate : baseline).call_s();
      if (!seconds) return tl::unexpected(seconds.error());
      // A clock that stood still must not divide by zero.
      (of_candidate ? pair.candidate_s : pair.baseline_s).push_back(std::max(*seconds, 1e-9));
    }
  }
  return {};
}

// A kernel on a device of its own, in this process: a child's answers would be part of the time.
struct Contestant {
  std::unique_ptr<kernels::Device> device;
  Plugins plugins;
  KernelUnderTest kernel;
};

// The error is one sentence.
kernels::Result<std::unique_ptr<Contestant>> open_contestant(const NamedKernel& wanted) {
  auto device = kernels::open_device(wanted.device.device);
  if (!device) return tl::unexpected(device.error());
  auto opened = std::make_unique<Contestant>();
  opened->device = std::move(*device);
  opened->plugins = load_plugins(wanted.device.plugins, *opened->device);
  auto found =
      select_kernels(opened->device->info().kind, wanted.name, {opened->plugins.kernels(), true});
  if (!found) return tl::unexpected(found.error());
  opened->kernel = found->front();
  return opened;
}

// The error is one sentence.
kernels::Result<void> time_pair(Contestant& first, Contestant& second, TimedPair& pair,
                                int64_t repeats) {
  auto baseline = KernelTimer::open(*first.device, pair.value, first.kernel, pair.options);
  if (!baseline) return tl::unexpected(baseline.error());
  auto candidate = KernelTimer::open(*second.device, pair.value, second.kernel, pair.options);
  if (!candidate) return tl::unexpected(candidate.error());
  return call_in_turns(**baseline, **candidate, repeats, pair);
}

void add_to(std::vector<double>& sums, const std::vector<double>& seconds) {
  sums.resize(seconds.size(), 0);
  for (size_t i = 0; i < seconds.size(); ++i) sums[i] += seconds[i];
}

void find_intervals(TimingResult& result) {
  std::vector<double> baseline_s, candidate_s;
  for (const TimedPair& pair : result.pairs) {
    if (!pair.error.empty()) continue;
    ++result.timed;
    result.intervals.push_back(ratio_interval(pair.baseline_s, pair.candidate_s, result.error_max));
    add_to(baseline_s, pair.baseline_s);
    add_to(candidate_s, pair.candidate_s);
  }
  if (result.timed > 0) result.all = ratio_interval(baseline_s, candidate_s, result.error_max);
}

std::string interval_text(const RatioInterval& interval) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]  {}", interval.median, interval.lower, interval.upper,
                     name_of(interval));
}

}  // namespace

TimingResult time_pairs(const NamedKernel& baseline, const NamedKernel& candidate,
                        std::vector<TimedPair> pairs, int64_t repeats) {
  TimingResult result;
  result.pairs = std::move(pairs);
  // Of one interval for each pair and one for all, the whole lot is right with 95 %.
  result.error_max = kErrorOfAll / static_cast<double>(result.pairs.size() + 1);
  repeats = std::max(repeats, pairs_needed(result.error_max));
  auto first = open_contestant(baseline), second = open_contestant(candidate);
  for (TimedPair& pair : result.pairs) {
    if (!first || !second) {
      pair.error = !first ? first.error() : second.error();
    } else if (const auto timed = time_pair(**first, **second, pair, repeats); !timed) {
      pair.error = timed.error();
    }
  }
  find_intervals(result);
  return result;
}

std::string timing_text(const TimingResult& result, size_t shown_max) {
  std::string text;
  size_t not_shown = 0;
  std::vector<size_t> shown(2, 0);
  auto interval = result.intervals.begin();
  for (const TimedPair& pair : result.pairs) {
    const std::string what =
        fmt::format("wave={} {}", pair.options.wave_width, fixtures::print_case(pair.value));
    if (!pair.error.empty()) {
      text += fmt::format("  not timed: {}: {}\n", pair.error, what);
      continue;
    }
    const RatioInterval& of_pair = *interval++;
    const bool decided = of_pair.slower() || of_pair.faster();
    if (decided && shown[of_pair.slower() ? 1 : 0]++ < shown_max) {
      text += fmt::format("  {}  {}\n", interval_text(of_pair), what);
    } else if (!decided) {
      ++not_shown;
    }
  }
  if (result.timed == 0) return text + "time     nothing was timed\n";
  return fmt::format(
      "time     candidate / baseline, medians of {} pairs of calls, intervals that "
      "all hold with 95 %\n{}  {}  all together\n  slower {}, faster {}, no "
      "difference shown {}\n",
      result.all.pairs, text, interval_text(result.all), shown[1], shown[0], not_shown);
}

double largest_lower_bound(const TimingResult& result) {
  double largest = result.timed > 0 ? result.all.lower : 0;
  for (const RatioInterval& interval : result.intervals) {
    largest = std::max(largest, interval.lower);
  }
  return largest;
}

}  // namespace exactk::props::cli
