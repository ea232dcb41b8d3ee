#include <rapidcheck.h>

#include <algorithm>

#include "props/draws.h"
#include "props/pick.h"
#include "props/router_problem.h"

namespace exactk::props {
namespace {

using namespace fixtures;

// Groups of one expert, one group, sizes around waves; a few chosen experts or all candidates.
void draw_sizes(Case& c) {
  c.rows = one_of({1, 2, 3, 4, 5, 8, 17});
  c.groups = one_of({1, 1, 2, 4, 5, 8, 8, 16, 32});
  c.experts = c.groups * one_of({1, 2, 3, 8, 16, 20, 32, 33});
  c.topk_groups = chance(20) ? c.groups : *rc::gen::inRange<int64_t>(1, c.groups + 1);
  const int64_t candidates = c.topk_groups * (c.experts / c.groups);
  const int64_t most = std::min<int64_t>(candidates, 32);
  c.k = chance(20) ? most : chance(5) ? candidates : *rc::gen::inRange<int64_t>(1, most + 1);
}

void draw_numbers(Case& c) {
  c.numbers.kind = *rc::gen::element(NumberKind::kIntegers, NumberKind::kUniform, NumberKind::kWide,
                                     NumberKind::kApart, NumberKind::kTies, NumberKind::kTies);
  if (c.numbers.kind == NumberKind::kIntegers) {
    c.numbers.count = 1;
    c.numbers.values[0] = one_of({1, 4, 16});
  }
  c.specials = one_of({0, 0, 0, 0, 10, 200});
}

}  // namespace

Case draw_router(Op op, const DrawLimits& limits) {
  Case c = default_case(op);
  draw_sizes(c);
  draw_numbers(c);
  c.scoring = *rc::gen::element(Scoring::kSigmoid, Scoring::kSigmoid, Scoring::kSoftmax);
  c.bias = *rc::gen::element(BiasKind::kNone, BiasKind::kSmall, BiasKind::kSmall, BiasKind::kLarge);
  c.renormalize = chance(60);
  c.scaling = one_of({1000, 1000, 2500, 16, -500});
  c.dtype = *rc::gen::element(DataType::kF32, DataType::kBf16);
  if (chance(30)) c.row_stride = c.experts + *rc::gen::inRange<int64_t>(1, 9);
  if (chance(30)) c.out_stride = c.k + *rc::gen::inRange<int64_t>(1, 9);
  if (chance(30)) c.misalign = *rc::gen::inRange<int64_t>(1, 4);
  c.seed = draw_seed();
  draw_launch(c, limits);
  c = normalize(c);
  if (any_choice_at_stake(c)) return c;
  c.specials = 0;
  return normalize(c);
}

}  // namespace exactk::props
