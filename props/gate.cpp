#include "props/gate.h"

#include <fmt/format.h>

#include <numeric>

#include "props/internal_error.h"
#include "props/report.h"

namespace exactk::props {
namespace {

using oracle::Verdict;

bool is_right(const Outcome& o) {
  return o.verdict == Verdict::kPassed || o.verdict == Verdict::kWeak;
}
bool takes(const Outcome& o) {
  return is_right(o) || o.verdict == Verdict::kFailed;
}

GateChange change_of(const Outcome& baseline, const Outcome& candidate) {
  if (baseline.verdict == Verdict::kInvalid || candidate.verdict == Verdict::kInvalid)
    return GateChange::kInvalid;
  if (is_right(candidate)) {
    if (!takes(baseline)) return GateChange::kNewlySupported;
    return is_right(baseline) ? GateChange::kBothRight : GateChange::kNewlyFixed;
  }
  if (takes(candidate)) {
    if (!takes(baseline)) return GateChange::kBrokenWhereNew;
    return is_right(baseline) ? GateChange::kNewlyBroken : GateChange::kStillBroken;
  }
  if (takes(baseline)) return GateChange::kStopsSupporting;
  return candidate.verdict == Verdict::kUnsupported ? GateChange::kStillUnsupported
                                                    : GateChange::kNeitherTakes;
}

GateDifference difference_of(GateChange change, const Outcome& baseline, const Outcome& candidate) {
  const bool of_baseline =
      change == GateChange::kNewlyFixed || change == GateChange::kNewlySupported;
  const Outcome& shown = of_baseline ? baseline : candidate;
  return {change,
          fixtures::print_case(candidate.value),
          candidate.device.wave_width,
          baseline.verdict,
          candidate.verdict,
          shown.reason,
          replay_line(shown)};
}

std::string_view meaning(GateChange change) {
  switch (change) {
    case GateChange::kNewlyFixed:
      return "the baseline is wrong, the candidate right";
    case GateChange::kNewlySupported:
      return "the baseline does not take them, the candidate is right";
    case GateChange::kNewlyBroken:
      return "the baseline is right, the candidate wrong";
    case GateChange::kStillBroken:
      return "both are wrong";
    case GateChange::kBrokenWhereNew:
      return "the baseline does not take them, the candidate is wrong";
    case GateChange::kStopsSupporting:
      return "the baseline takes them, the candidate does not";
    case GateChange::kStillUnsupported:
      return "neither takes them, and the candidate ought to";
    case GateChange::kInvalid:
      return "malformed cases";
    case GateChange::kBothRight:
    case GateChange::kNeitherTakes:
      break;
  }
  return "";
}

}  // namespace

std::string_view name(GateChange change) {
  switch (change) {
    case GateChange::kBothRight:
      return "both right";
    case GateChange::kNewlyFixed:
      return "newly fixed";
    case GateChange::kNewlySupported:
      return "newly supported";
    case GateChange::kNeitherTakes:
      return "neither takes";
    case GateChange::kNewlyBroken:
      return "newly broken";
    case GateChange::kStillBroken:
      return "still broken";
    case GateChange::kBrokenWhereNew:
      return "broken where new";
    case GateChange::kStopsSupporting:
      return "stops supporting";
    case GateChange::kStillUnsupported:
      return "still unsupported";
    case GateChange::kInvalid:
      return "invalid";
  }
  return "unknown";
}

bool fails_gate(GateChange change) {
  return change >= GateChange::kNewlyBroken;
}

GateChange GateReport::add(const Outcome& baseline, const Outcome& candidate) {
  if (fixtures::print_case(baseline.value) != fixtures::print_case(candidate.value) ||
      baseline.device.wave_width != candidate.device.wave_width) {
    throw InternalError(fmt::format("a gate was to compare two different runs: {} and {}",
                                    replay_line(baseline), replay_line(candidate)));
  }
  const GateChange change = change_of(baseline, candidate);
  ++counts_[static_cast<size_t>(change)];
  if (takes(baseline) && takes(candidate)) coverage_.add(candidate);
  if (change != GateChange::kBothRight && change != GateChange::kNeitherTakes)
    differences_.push_back(difference_of(change, baseline, candidate));
  return change;
}

int64_t GateReport::pairs() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

bool GateReport::fails() const {
  for (int change = 0; change < kGateChanges; ++change) {
    if (fails_gate(static_cast<GateChange>(change)) && counts_[static_cast<size_t>(change)] > 0)
      return true;
  }
  return false;
}

std::string GateReport::text(size_t shown_max) const {
  std::string text;
  for (int at = 0; at < kGateChanges; ++at) {
    const auto change = static_cast<GateChange>(at);
    if (meaning(change).empty() || count(change) == 0) continue;
    text += fmt::format("{} {}: {}\n", name(change), count(change), meaning(change));
    size_t shown = 0;
    for (const GateDifference& d : differences_) {
      if (d.change != change || shown++ >= shown_max) continue;
      text += fmt::format("  {}\n    {}\n", d.replay, d.reason);
    }
    if (shown > shown_max) text += fmt::format("  ... {} in all\n", shown);
  }
  return text + "coverage of what both were judged on, by the candidate's runs\n" +
         coverage_.summary();
}

std::string GateReport::totals() const {
  std::string text;
  for (int at = 0; at < kGateChanges; ++at) {
    const auto change = static_cast<GateChange>(at);
    const bool asked = change == GateChange::kBothRight || change == GateChange::kNewlyFixed ||
                       change == GateChange::kNewlyBroken;
    if (count(change) == 0 && !asked) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(change), count(change));
  }
  return text;
}

}  // namespace exactk::props
