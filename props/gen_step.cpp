#include <rapidcheck.h>

#include <algorithm>

#include "props/draws.h"
#include "props/pick.h"

namespace exactk::props {
namespace {

using namespace fixtures;

// Products of a launch's logits: the judge computes all of them in double.
constexpr int64_t kProductsMax = int64_t{1} << 21;

void draw_indexer(Case& c) {
  c.index_heads = one_of({1, 3, 8});
  c.index_dim = one_of({4, 16, 64});
  c.fp8 = any_up_to(Fp8::kFnuz);
  c.scales = any_up_to(ScaleKind::kHostile);
  if (chance(30)) {
    c.numbers = {NumberKind::kTies, 0, {}};
  } else {
    c.numbers.values[0] = one_of({1, 4, 16});
  }
}

void draw_attention_part(Case& c) {
  c.heads = one_of({1, 2, 5});
  c.cache = any_up_to(CacheFormat::kV4);
  c.dim = one_of({64, 130, 192, 320});
  c.dim_v = *rc::gen::inRange<int64_t>(1, c.dim + 1);
  c.rope = one_of({0, 2, 64});
  c.sink = any_up_to(SinkKind::kMixed);
  c.variant = *rc::gen::element(Variant::kPositional, Variant::kCompact, Variant::kRagged);
}

}  // namespace

Case draw_step(Op op, const DrawLimits& limits) {
  Case c = default_case(op);
  c.next_n = one_of({1, 1, 2, 3});
  c.rows = c.next_n * *rc::gen::inRange<int64_t>(1, 5);
  c.lens_dim = *rc::gen::inRange(1, 3);
  draw_indexer(c);
  draw_attention_part(c);
  const int64_t products = kProductsMax / (c.rows * c.index_heads * c.index_dim);
  c.width = std::clamp<int64_t>(one_of({1, 64, 100, 300, 513, 1000}), 1,
                                std::min(products, limits.elements_max / c.rows));
  c.k = one_of({1, 7, 64, 65, 200, c.width, c.width + 1});
  c.lens.kind = any_up_to(LengthKind::kEdges);
  if (c.lens.kind == LengthKind::kConst || c.lens.kind == LengthKind::kList)
    c.lens = {LengthKind::kConst, 1, {std::min<int64_t>(one_of({0, 1, 40, 64, 300}), c.width)}};
  c.block_size = one_of({1, 7, 16, 64});
  c.table = *rc::gen::element(TableKind::kShuffled, TableKind::kOrdered);
  c.arch = any_up_to(Arch::kGeneric);
  if (chance(20)) c.misalign = *rc::gen::inRange<int64_t>(1, 4);
  if (chance(20)) c.out_stride = c.heads * c.dim_v + one_of({1, 8});
  c.seed = draw_seed();
  draw_launch(c, limits);
  c = normalize(c);
  if (anything_at_stake(c)) return c;
  c.lens = {LengthKind::kConst, 1, {c.width}};
  c.session = Session{};  // may change lengths before the first launch
  return normalize(c);
}

}  // namespace exactk::props
