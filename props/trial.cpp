#include "props/trial.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "fixtures/session.h"
#include "oracle/topk.h"
#include "oracle/topk_contract.h"

namespace exactk::props {
namespace {

using fixtures::Action;
using fixtures::ActionKind;
using fixtures::Case;

constexpr float kTolerance = 1e-5f;  // absolute and relative
constexpr double kOverlapMin = 0.95;

// Keys that say how a case is launched, and on which paths; all others are its inputs.
constexpr std::array<std::string_view, 15> kNoInputs = {
    "v",       "variant", "k",       "seed",     "poison", "workspace", "launch",     "replays",
    "session", "change",  "repeats", "schedule", "arch",   "tune",      "replay_lens"};

Case plain_inputs(Case c) {
  for (const std::string_view key : fixtures::given_keys(c)) {
    const bool kept = std::find(kNoInputs.begin(), kNoInputs.end(), key) != kNoInputs.end();
    if (!kept) c = fixtures::with_default(c, key);
  }
  // Full rows of ordinary numbers.
  if (fixtures::reads(c.op, "pattern")) c.pattern.kind = fixtures::PatternKind::kNormal;
  const int64_t longest = fixtures::reads(c.op, "context") ? c.context : c.width;
  c.lens = {fixtures::LengthKind::kConst, 1, {longest}};
  c.tail = fixtures::Tail::kLose;
  return c;
}

bool launches(ActionKind kind) {
  return kind == ActionKind::kLaunch || kind == ActionKind::kCapture || kind == ActionKind::kReplay;
}

void keep_actions(fixtures::Session& session, const std::vector<Action>& kept) {
  session = {};
  for (const Action& action : kept) session.actions[static_cast<size_t>(session.count++)] = action;
}

// Up to the first launch.
void first_launch_alone(Case& c) {
  c.replays = 0;
  c.replay_lens = {};
  if (c.session.count == 0) return;
  std::vector<Action> kept;
  for (const Action& action : fixtures::actions(c)) {
    kept.push_back(action);
    if (launches(action.kind)) break;
  }
  keep_actions(c.session, kept);
}

void direct_launches(Case& c) {
  c.launch = fixtures::LaunchMode::kDirect;
  if (c.session.count == 0) return;
  std::vector<Action> kept;
  for (Action action : fixtures::actions(c)) {
    if (action.kind == ActionKind::kStream) continue;
    if (launches(action.kind)) action.kind = ActionKind::kLaunch;
    kept.push_back(action);
  }
  keep_actions(c.session, kept);
}

// What logits[index] gives in Python: from the end where the index is negative. NaN outside.
float at_python_index(std::span<const uint32_t> logits, int32_t index) {
  const auto length = static_cast<int64_t>(logits.size());
  const int64_t place = index < 0 ? index + length : index;
  if (place < 0 || place >= length) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(logits[static_cast<size_t>(place)]);
}

std::vector<float> sorted_values(std::span<const uint32_t> logits,
                                 std::span<const int32_t> indices) {
  std::vector<float> values;
  for (const int32_t index : indices) values.push_back(at_python_index(logits, index));
  // NaN first, so that the order is one.
  std::sort(values.begin(), values.end(), [](float a, float b) {
    return std::isnan(a) != std::isnan(b) ? std::isnan(a) : a < b;
  });
  return values;
}

bool close(float a, float b) {
  return a == b || std::fabs(a - b) <= kTolerance + kTolerance * std::fabs(b);
}

bool close_values(std::span<const uint32_t> logits, std::span<const int32_t> got,
                  std::span<const int32_t> want) {
  const std::vector<float> a = sorted_values(logits, got), b = sorted_values(logits, want);
  return std::equal(a.begin(), a.end(), b.begin(), close);
}

std::vector<int32_t> sorted(std::span<const int32_t> indices) {
  std::vector<int32_t> copy(indices.begin(), indices.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

bool row_is_right(Judge judge, std::span<const uint32_t> logits, std::span<const int32_t> got,
                  std::span<const int32_t> want) {
  const std::vector<int32_t> a = sorted(got), b = sorted(want);
  if (judge == Judge::kSortedValues) return close_values(logits, got, want);
  if (judge == Judge::kSetThenValues) return a == b || close_values(logits, got, want);
  std::vector<int32_t> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return static_cast<double>(common.size()) >= kOverlapMin * static_cast<double>(want.size());
}

}  // namespace

std::string_view name(Ingredient ingredient) {
  constexpr std::array<std::string_view, kIngredients> kNames = {
      "inputs", "exact judge", "poison differential", "guards", "replay",
      "repeat", "schedule",    "launch modes"};
  return kNames[static_cast<size_t>(std::countr_zero(static_cast<uint32_t>(ingredient)))];
}

std::string_view name(Judge judge) {
  constexpr std::array<std::string_view, kJudges> kNames = {"exact", "set, then values",
                                                            "overlap of 0.95", "sorted values"};
  return kNames[static_cast<size_t>(judge)];
}

Case trial_case(Case c, uint32_t without) {
  if ((without & kInputs) != 0) c = plain_inputs(c);
  if ((without & kReplay) != 0) first_launch_alone(c);
  if ((without & kRepeat) != 0) c.repeats = 1;
  if ((without & kSchedule) != 0) c.schedule = 0;
  if ((without & kLaunchModes) != 0) direct_launches(c);
  return fixtures::normalize(c);
}

bool loosely_right(Judge judge, const TopkProblem& problem, const TopkInputs& inputs,
                   std::span<const int32_t> output) {
  std::vector<uint32_t> scratch;
  for (int64_t row = 0; row < problem.rows; ++row) {
    const auto logits = visible_row(problem, inputs, row, scratch);
    const auto valid =
        static_cast<size_t>(std::min<int64_t>(problem.k, static_cast<int64_t>(logits.size())));
    const int64_t start =
        problem.absolute ? inputs.windows[static_cast<size_t>(row)].start : int64_t{0};
    const auto slots = output.subspan(static_cast<size_t>(row * problem.out_stride), valid);
    const std::vector<int32_t> got = oracle::relative_to_row(slots, start);
    const std::vector<int32_t> want = oracle::topk_reference(logits, static_cast<int64_t>(valid));
    if (!row_is_right(judge, logits, got, want)) return false;
  }
  return true;
}

bool loosely_seen(oracle::FaultSet faults) {
  using oracle::FaultKind;
  for (int kind = 0; kind < oracle::kFaultKinds; ++kind) {
    const auto fault = static_cast<FaultKind>(kind);
    const bool unseen = fault == FaultKind::kSentinelMissing || fault == FaultKind::kNeverWritten ||
                        fault == FaultKind::kGuardBroken || fault == FaultKind::kOrder ||
                        fault == FaultKind::kUnstable;
    if (!unseen && faults.has(fault)) return true;
  }
  return false;
}

}  // namespace exactk::props
