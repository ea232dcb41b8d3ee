// Axes that every operation has: how it is launched, and what its buffers hold.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "fixtures/session.h"
#include "props/coverage_axes.h"

namespace exactk::props {
namespace {

using namespace fixtures;

void visit_variant(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.variant)));
}

void visit_launch(const Space& s, const Visit& visit) {
  if (s.c.session.count > 0) return visit("session");
  visit(fmt::format("{} {}", name(s.c.launch), s.c.replays > 0 ? "again" : "once"));
}

void visit_actions(const Space& s, const Visit& visit) {
  for (int32_t i = 0; i < s.c.session.count; ++i) {
    const Action& action = s.c.session.actions[static_cast<size_t>(i)];
    if (action.kind == ActionKind::kStream) {
      visit(fmt::format("stream {}", action.value));
    } else if (action.kind == ActionKind::kRun) {
      visit(action.value == static_cast<int32_t>(s.c.op) ? "run the same" : "run another");
    } else {
      visit(std::string(name(action.kind)));
    }
  }
}

struct ChangeName {
  Change flag;
  std::string_view name;
  std::string_view key;  // only for operations that read it
};
constexpr ChangeName kChanges[] = {
    {kChangeLens, "lens", "lens"}, {kChangeMask, "mask", "seed"},
    {kChangeData, "data", "seed"}, {kChangePoison, "poison", "poison"},
    {kChangeTail, "tail", "tail"}, {kChangeTable, "table", "table"}};

// What is new at a launch against the one before; of a replay apart.
void visit_changes(const Space& s, const Visit& visit) {
  for (size_t i = 1; i < s.launches.size(); ++i) {
    const SpaceLaunch& launch = s.launches[i];
    for (const ChangeName& change : kChanges) {
      if (!reads(s.c.op, change.key)) continue;
      if (version(s.c, launch.step, change.flag) != version(s.c, launch.step - 1, change.flag))
        visit(fmt::format("{} at a {}", change.name, launch.replayed ? "replay" : "launch"));
    }
  }
}

// A length at a replay against the one at the capture. `turn`: what a selection is cut at.
void compare_lengths(const Space& s, int64_t before, int64_t now, const Visit& visit) {
  if (now > before) visit("grows");
  if (now < before) visit("shrinks");
  if (now == before) visit("stays");
  if (now <= 0 && before > 0) visit("to zero");
  if (now > 0 && before <= 0) visit("from zero");
  if (!reads(s.c.op, "pattern")) return;
  if (before <= s.c.k && now > s.c.k) visit("above k");
  if (before > s.c.k && now <= s.c.k) visit("to k or below");
  const int32_t blocks_before = oracle::active_blocks(s.dispatch, s.shape, before);
  const int32_t blocks_now = oracle::active_blocks(s.dispatch, s.shape, now);
  if (blocks_now > blocks_before) visit("more blocks");
  if (blocks_now < blocks_before) visit("fewer blocks");
}

void visit_replayed_lengths(const Space& s, const Visit& visit) {
  std::set<std::pair<int64_t, int64_t>> pairs;
  for (const SpaceLaunch& launch : s.launches) {
    if (!launch.replayed) continue;
    const std::vector<int64_t>& before = s.launches[static_cast<size_t>(launch.known)].lengths;
    for (size_t row = 0; row < launch.lengths.size(); ++row)
      pairs.insert({before[row], launch.lengths[row]});
  }
  for (const auto& [before, now] : pairs) compare_lengths(s, before, now, visit);
}

void visit_poison(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.poison)));
}
void visit_workspace(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.workspace)));
}
void visit_schedule(const Space& s, const Visit& visit) {
  visit(s.c.schedule == 0 ? "in order" : "drawn");
}
void visit_repeats(const Space& s, const Visit& visit) {
  visit(s.c.repeats > 1 ? "several" : "one");
}
void visit_misalign(const Space& s, const Visit& visit) {
  visit(fmt::format("{}", s.c.misalign));
}
void visit_out_stride(const Space& s, const Visit& visit) {
  visit(s.c.out_stride != 0 ? "given" : "tight");
}

constexpr uint32_t kOfVariants = op_bit(Op::kCombine) | op_bit(Op::kTranslate) |
                                 op_bit(Op::kChainDecode) | op_bit(Op::kChainPrefill) |
                                 op_bit(Op::kDecodeStep);

constexpr Axis kAxes[] = {
    {"variant", "the published form", kOfVariants, visit_variant},
    {"launch", "launch mode, once or again; sessions", kOfAll, visit_launch},
    {"action", "what a session does", kOfAll, visit_actions},
    {"change", "what is new at a later launch or replay", kOfAll, visit_changes},
    {"replayed length", "a length at a replay against the one at the capture", kOfAll,
     visit_replayed_lengths},
    {"poison", "what the output holds before", kOfAll, visit_poison},
    {"workspace", "what the workspace holds before", kOfAll, visit_workspace},
    {"schedule", "order of blocks, waves and lanes", kOfAll, visit_schedule},
    {"repeats", "identical launches", kOfAll, visit_repeats},
    {"misalign", "elements off a 16-byte boundary", kOfAll, visit_misalign},
    {"out stride", "gaps between output rows", kOfAll, visit_out_stride},
};

}  // namespace

std::span<const Axis> launch_axes() {
  return kAxes;
}

}  // namespace exactk::props
