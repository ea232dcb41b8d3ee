#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "fixtures/lengths.h"
#include "oracle/dispatch_policy.h"
#include "props/draws.h"
#include "props/topk_problem.h"

namespace exactk::props {
namespace {

using namespace fixtures;

// Row numbers on both sides of every row gate of the published policy.
const std::vector<int64_t> kRowGates = {1,   8,   24,  32,  33,  64,  65, 128,
                                        129, 160, 161, 256, 257, 384, 385};
const std::vector<int64_t> kPublishedK = {512, 1024, 2048};
// Populations of the threshold bin: around the compiled capacities and around the insertion limit.
const std::vector<int64_t> kCapacities = {128, 1024, 2048};

int64_t near(int64_t edge) {
  return edge + *rc::gen::inRange<int64_t>(-1, 2);
}

int64_t draw_k() {
  return *rc::gen::weightedOneOf<int64_t>({{6, rc::gen::just<int64_t>(512)},
                                           {2, rc::gen::elementOf(kPublishedK)},
                                           {2, rc::gen::inRange<int64_t>(1, 20)},
                                           {1, rc::gen::inRange<int64_t>(1, 3001)}});
}

// Numbers that bring the wide paths into reach of a small input.
void draw_tuning(Case& c) {
  if (*rc::gen::weightedElement<bool>({{1, false}, {3, true}})) {
    c.tune.policy_shift = *rc::gen::inRange<int64_t>(2, 13);
    c.tune.split_width = *rc::gen::elementOf(std::vector<int64_t>{256, 1024, 4096});
    c.tune.radix_width = *rc::gen::elementOf(std::vector<int64_t>{128, 512, 2048});
  }
  if (*rc::gen::weightedElement<bool>({{3, false}, {1, true}}))
    c.tune.split_blocks = *rc::gen::inRange<int64_t>(2, 17);
  if (*rc::gen::weightedElement<bool>({{2, false}, {1, true}})) {
    c.tune.min_chunk = *rc::gen::elementOf(std::vector<int64_t>{1, 16, 64, 512});
  }
  if (*rc::gen::weightedElement<bool>({{2, false}, {1, true}})) {
    c.tune.final_items = *rc::gen::elementOf(std::vector<int64_t>{16, 64, 128, 512});
  }
  if (*rc::gen::weightedElement<bool>({{3, false}, {1, true}})) {
    c.tune.insertion_items = *rc::gen::elementOf(std::vector<int64_t>{1, 8, 64});
  }
  if (*rc::gen::weightedElement<bool>({{1, false}, {2, true}})) {
    c.tune.block_threads = *rc::gen::elementOf(std::vector<int64_t>{64, 128, 192, 256});
  }
  if (c.op != Op::kTopkDecode && *rc::gen::arbitrary<bool>())
    c.tune.radix_rows = *rc::gen::inRange<int64_t>(1, 18);
}

// Both sides of the path gate: the ratio, the longest row, the mode of the graph.
void draw_gate(Case& c) {
  c.ratio = *rc::gen::weightedElement<int64_t>({{2, 1}, {1, 2}, {3, 4}, {1, 128}});
  c.full_graph = *rc::gen::arbitrary<bool>();
}

void draw_starts(Case& c) {
  c.starts.kind =
      static_cast<StartKind>(*rc::gen::inRange(0, static_cast<int>(StartKind::kEnd) + 1));
  if (c.starts.kind != StartKind::kConst) return;
  c.starts.count = 1;
  c.starts.values[0] = *rc::gen::inRange<int64_t>(0, c.width);
}

void draw_shape(Case& c, const DrawLimits& limits) {
  c.rows = *rc::gen::weightedOneOf<int64_t>(
      {{5, rc::gen::inRange<int64_t>(1, 17)}, {2, rc::gen::elementOf(kRowGates)}});
  // One row per request leaves the row gates exact; otherwise rows are whole requests.
  if (reads(c.op, "next_n")) {
    c.next_n = *rc::gen::weightedOneOf<int64_t>(
        {{1, rc::gen::just<int64_t>(1)}, {1, rc::gen::inRange<int64_t>(2, 9)}});
    c.rows = std::max<int64_t>(1, c.rows / c.next_n) * c.next_n;
    c.lens_dim = *rc::gen::inRange(1, 3);
  }
  const int64_t widest = std::max<int64_t>(1, limits.elements_max / c.rows);
  // Most of the mass on the width edges of the policy, as far as the limit allows.
  const std::vector<int64_t> edges = [&] {
    std::vector<int64_t> inside = {1, c.k, 2 * c.k};
    Case wide = c;
    wide.width = kWidthMax;
    for (const int64_t edge : oracle::length_edges(topk_shape(topk_problem(wide))))
      inside.push_back(edge);
    for (const int64_t edge : {c.tune.split_width, c.tune.radix_width}) {
      if (edge > 0) inside.push_back(edge);
    }
    inside.erase(
        std::remove_if(inside.begin(), inside.end(), [&](int64_t e) { return e > widest; }),
        inside.end());
    if (inside.empty()) inside.push_back(widest);
    return inside;
  }();
  const int64_t width = *rc::gen::weightedElement<bool>({{1, false}, {1, true}})
                            ? near(*rc::gen::elementOf(edges))
                            : *rc::gen::inRange<int64_t>(1, widest + 1);
  c.width = std::clamp<int64_t>(width, 1, widest);
}

LengthRule draw_lengths(const Case& c) {
  LengthRule rule;
  rule.kind =
      static_cast<LengthKind>(*rc::gen::inRange(0, static_cast<int>(LengthKind::kEdges) + 1));
  const auto value = [&]() -> int64_t {
    const std::vector<int64_t> around = {0,       1,       c.k - 1,     c.k,
                                         c.k + 1, 2 * c.k, c.width - 1, c.width};
    return std::clamp<int64_t>(*rc::gen::elementOf(around), 0, c.width);
  };
  if (rule.kind == LengthKind::kConst) {
    rule.count = 1;
    rule.values[0] = value();
  } else if (rule.kind == LengthKind::kList) {
    rule.count = *rc::gen::inRange(1, 9);
    for (int32_t i = 0; i < rule.count; ++i) rule.values[static_cast<size_t>(i)] = value();
  }
  return rule;
}

Pattern draw_pattern(const Case& c) {
  Pattern pattern;
  pattern.kind =
      static_cast<PatternKind>(*rc::gen::inRange(0, static_cast<int>(PatternKind::kPeaks) + 1));
  const auto one = [&](int64_t value) {
    pattern.count = 1;
    pattern.values[0] = value;
  };
  switch (pattern.kind) {
    case PatternKind::kBoundaryTies:
      one(*rc::gen::inRange<int64_t>(2, std::max<int64_t>(3, c.width)));
      break;
    case PatternKind::kFp16Bin: {
      const int64_t capacity =
          c.tune.final_items > 0 ? c.tune.final_items : *rc::gen::elementOf(kCapacities);
      one(std::max<int64_t>(1, *rc::gen::element(near(capacity), 2 * capacity)));
      break;
    }
    case PatternKind::kMaskedPrefix:
    case PatternKind::kMaskedSuffix:
      one(*rc::gen::inRange<int64_t>(0, c.width + 1));
      break;
    case PatternKind::kMaskedShare:
      one(*rc::gen::elementOf(std::vector<int64_t>{1, 100, 500, 900, 990, 999}));
      break;
    case PatternKind::kFewFinite:
    case PatternKind::kLowestFinite:
      one(*rc::gen::inRange<int64_t>(0, c.k + 2));
      break;
    case PatternKind::kLowBits:
      one(*rc::gen::inRange<int64_t>(1, 21));
      break;
    case PatternKind::kSawtooth:
      one(*rc::gen::inRange<int64_t>(1, c.width + 1));
      break;
    case PatternKind::kPeaks:
      one(*rc::gen::inRange<int64_t>(1, c.width + 1));
      break;
    default:
      break;
  }
  return pattern;
}

void draw_layout(Case& c) {
  const bool plain = *rc::gen::weightedElement<bool>({{2, true}, {1, false}});
  if (plain) return;
  c.column_stride = *rc::gen::weightedElement<int64_t>({{6, 1}, {1, 2}, {1, 3}});
  c.misalign = *rc::gen::inRange<int64_t>(0, 4);
  const int64_t span = (c.width - 1) * c.column_stride + 1;
  c.row_stride = *rc::gen::element<int64_t>(0, span, span + 1, span + 37);
  c.out_stride = *rc::gen::element<int64_t>(0, c.k + 1, c.k + 17);
}

// What a chain maps its indices through.
void draw_mapping(Case& c) {
  c.variant = *rc::gen::element(Variant::kPositional, Variant::kCompact, Variant::kRagged);
  draw_table(c);
}

}  // namespace

Case draw_topk(Op op, const DrawLimits& limits) {
  Case c = default_case(op);
  c.arch = *rc::gen::weightedElement<Arch>(
      {{6, Arch::kGfx950}, {1, Arch::kGfx942}, {1, Arch::kGfx90a}, {1, Arch::kGeneric}});
  c.k = draw_k();
  draw_tuning(c);
  draw_shape(c, limits);
  c.lens = draw_lengths(c);
  if (op == Op::kTopkDecode) draw_gate(c);
  if (op == Op::kTopkPrefill) draw_starts(c);
  if (op == Op::kChainDecode) draw_mapping(c);
  c.pattern = draw_pattern(c);
  c.seed = draw_seed();
  draw_layout(c);
  draw_tail(c);
  draw_launch(c, limits);
  c = normalize(c);
  if (!anything_at_stake(c)) {
    c.lens = {LengthKind::kConst, 1, {c.width}};
    c.session = Session{};  // may change lengths before the first launch
    c = normalize(c);
  }
  return c;
}

void draw_logits(Case& c) {
  c.pattern = draw_pattern(c);
  c.column_stride = *rc::gen::weightedElement<int64_t>({{6, 1}, {1, 2}});
  draw_tail(c);
}

}  // namespace exactk::props
