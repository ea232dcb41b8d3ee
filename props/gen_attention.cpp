#include <rapidcheck.h>

#include <algorithm>

#include "props/attention_problem.h"
#include "props/draws.h"
#include "props/pick.h"

namespace exactk::props {
namespace {

using namespace fixtures;

// Lists around tiles of entries; few keys, of which every one is used, and many.
void draw_lists(Case& c) {
  c.k = one_of({1, 7, 16, 63, 64, 65, 128, 200});
  c.context = one_of({1, 16, 64, 100, 500});
  c.indices.kind =
      static_cast<IndexKind>(*rc::gen::inRange(0, static_cast<int>(IndexKind::kRepeated) + 1));
  if (c.indices.kind == IndexKind::kInterior || c.indices.kind == IndexKind::kHostile) {
    c.indices.count = 1;
    c.indices.values[0] = one_of({1, 50, 300, 1000});
  }
  c.variant = *rc::gen::element(Variant::kDense, Variant::kDense, Variant::kFull, Variant::kRagged);
  c.lens.kind = *rc::gen::element(LengthKind::kConst, LengthKind::kRagged, LengthKind::kRamp,
                                  LengthKind::kAroundK, LengthKind::kZeroMixed, LengthKind::kEdges);
  if (c.lens.kind == LengthKind::kConst)
    c.lens = {LengthKind::kConst, 1, {one_of({0, 1, c.k / 2, c.k - 1, c.k})}};
  if (chance(30)) c.index_stride = c.k + *rc::gen::inRange<int64_t>(1, 9);
}

void draw_key(Case& c) {
  c.heads = one_of({1, 2, 3, 5});
  c.dim = one_of({1, 16, 33, 64, 130, 192, 320});
  c.dim_v = chance(30) ? c.dim : *rc::gen::inRange<int64_t>(1, c.dim + 1);
  c.numbers.kind =
      static_cast<NumberKind>(*rc::gen::inRange(0, static_cast<int>(NumberKind::kTies) + 1));
  if (c.numbers.kind == NumberKind::kIntegers) {
    c.numbers.count = 1;
    c.numbers.values[0] = one_of({1, 4, 16});
  }
  c.specials = one_of({0, 0, 0, 0, 20, 200});
  c.sink = *rc::gen::element(SinkKind::kNone, SinkKind::kFinite, SinkKind::kLow, SinkKind::kHigh,
                             SinkKind::kMixed);
}

void draw_caches(Case& c) {
  c.next_n = one_of({1, 1, 2, 3});
  c.rows *= c.next_n;
  c.block_size = one_of({1, 3, 16, 64});
  c.cache = *rc::gen::element(CacheFormat::kBf16, CacheFormat::kV32, CacheFormat::kV4);
  c.rope = one_of({0, 2, 16, 64});
  c.scales = *rc::gen::element(ScaleKind::kOnes, ScaleKind::kPowers, ScaleKind::kUniform,
                               ScaleKind::kHostile);
  c.fp8 = *rc::gen::element(Fp8::kFn, Fp8::kFnuz);
  c.extra_fp8 = *rc::gen::element(Fp8::kFn, Fp8::kFnuz);
  if (!chance(50)) return;
  c.extra_k = one_of({1, 16, 64, 70});
  c.extra_context = one_of({1, 40, 200});
}

}  // namespace

Case draw_attention(Op op, const DrawLimits& limits) {
  Case c = default_case(op);
  c.rows = one_of({1, 2, 3, 5});
  draw_lists(c);
  draw_key(c);
  if (op == Op::kSparseDecode) draw_caches(c);
  if (chance(30)) c.out_stride = c.heads * c.dim_v + *rc::gen::inRange<int64_t>(1, 9);
  if (chance(30)) c.misalign = *rc::gen::inRange<int64_t>(1, 4);
  c.seed = draw_seed();
  draw_launch(c, limits);
  c = normalize(c);
  if (attention_at_stake(c)) return c;
  c.indices = IndexPattern{};
  c.lens = {LengthKind::kConst, 1, {1}};
  c.replay_lens = LengthRule{};
  return normalize(c);
}

}  // namespace exactk::props
