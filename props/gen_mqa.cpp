#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "props/draws.h"
#include "props/pick.h"

namespace exactk::props {
namespace {

using namespace fixtures;

// Products of a launch for each of its logits: the judge computes all of them in double.
constexpr int64_t kProductsPerLogit = 16;

// Around the tiles and the blocks that rows end in.
LengthRule draw_lengths(const Case& c) {
  LengthRule rule;
  rule.kind = any_up_to(LengthKind::kEdges);
  const auto value = [&] {
    const int64_t edge = one_of({0, 1, 64, 128, c.block_size, 2 * c.block_size, c.width});
    return std::clamp<int64_t>(edge + *rc::gen::inRange<int64_t>(-1, 2), 0, c.width);
  };
  if (rule.kind == LengthKind::kConst) return {LengthKind::kConst, 1, {value()}};
  if (rule.kind != LengthKind::kList) return rule;
  rule.count = *rc::gen::inRange(1, 9);
  for (int32_t i = 0; i < rule.count; ++i) rule.values[static_cast<size_t>(i)] = value();
  return rule;
}

void draw_numbers(Case& c) {
  c.numbers.kind = *rc::gen::weightedElement<NumberKind>({{4, NumberKind::kIntegers},
                                                          {2, NumberKind::kUniform},
                                                          {1, NumberKind::kWide},
                                                          {1, NumberKind::kBytes},
                                                          {1, NumberKind::kTies}});
  if (c.numbers.kind == NumberKind::kIntegers) {
    c.numbers.count = 1;
    c.numbers.values[0] = one_of({1, 2, 4, kIntegersMax});
  }
  c.scales = any_up_to(ScaleKind::kHostile);
  c.fp8 = any_up_to(Fp8::kFnuz);
  if (chance(30)) c.specials = one_of({50, 300, 1000});
}

void draw_ragged(Case& c) {
  c.compressed = chance(30);
  c.starts.kind = any_up_to(StartKind::kEnd);
  if (c.starts.kind != StartKind::kConst) return;
  c.starts.count = 1;
  c.starts.values[0] = *rc::gen::inRange<int64_t>(0, c.width);
}

void draw_paged(Case& c) {
  c.next_n = chance(50) ? 1 : *rc::gen::inRange<int64_t>(2, 5);
  c.rows = std::max<int64_t>(1, c.rows / c.next_n) * c.next_n;
  c.lens_dim = *rc::gen::inRange(1, 3);
  draw_table(c);
}

}  // namespace

Case draw_mqa(Op op, const DrawLimits& limits) {
  Case c = default_case(op);
  c.rows = *rc::gen::inRange<int64_t>(1, 9);
  c.index_heads = one_of({1, 3, 4, 8, 8, 33, 64});
  c.index_dim = one_of({4, 16, 32, 32, 64, 128, 132, 260});
  if (op == Op::kMqaPaged) draw_paged(c);
  const int64_t products = kProductsPerLogit * limits.elements_max / (c.index_heads * c.index_dim);
  const int64_t widest = std::max<int64_t>(std::min(products, limits.elements_max) / c.rows, 1);
  const int64_t edge = one_of({1, 64, 128, 192, c.block_size, 300, 1000});
  c.width = std::clamp<int64_t>(edge + *rc::gen::inRange<int64_t>(-1, 2), 1, widest);
  c.outside = any_up_to(OutsideKind::kUntouched);
  c.lens = draw_lengths(c);
  if (op == Op::kMqaLogits) draw_ragged(c);
  draw_numbers(c);
  if (chance(30)) c.out_stride = c.width + one_of({1, 7, 64});
  if (chance(30)) c.misalign = *rc::gen::inRange<int64_t>(1, 4);
  c.seed = draw_seed();
  draw_launch(c, limits);
  c = normalize(c);
  if (anything_at_stake(c)) return c;
  c.lens = {LengthKind::kConst, 1, {c.width}};
  c.session = Session{};  // may change lengths before the first launch
  return normalize(c);
}

}  // namespace exactk::props
