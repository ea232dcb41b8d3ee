#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "props/draws.h"
#include "props/pick.h"

namespace exactk::props {
namespace {

using namespace fixtures;

LengthRule list_of(int64_t count_max, const std::vector<int64_t>& values) {
  LengthRule rule;
  rule.kind = LengthKind::kList;
  rule.count = *rc::gen::inRange<int32_t>(1, static_cast<int32_t>(count_max) + 1);
  for (int32_t i = 0; i < rule.count; ++i) rule.values[static_cast<size_t>(i)] = one_of(values);
  return rule;
}

// Few tokens each, none for some requests.
LengthRule draw_query_lens() {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return {LengthKind::kConst, 1, {*rc::gen::inRange<int64_t>(1, 9)}};
    case 1:
      return {LengthKind::kRagged, 2, {0, *rc::gen::inRange<int64_t>(1, 40)}};
    default:
      return list_of(6, {0, 0, 1, 2, 3, 7, 31, 33});
  }
}

// Around what the operation's windows and selections end at; some sequences are shorter than their
// query, or empty.
LengthRule draw_seq_lens(const Case& c) {
  LengthRule rule;
  rule.kind =
      static_cast<LengthKind>(*rc::gen::inRange(0, static_cast<int>(LengthKind::kEdges) + 1));
  const int64_t cut = c.k * std::max<int64_t>(c.ratio, 1);
  std::vector<int64_t> around = {0,       1,   3,       c.window - 1, c.window, c.window + 1,
                                 cut - 1, cut, cut + 1, c.context};
  for (int64_t& value : around) value = std::clamp<int64_t>(value, 0, c.context);
  if (rule.kind == LengthKind::kConst) return {LengthKind::kConst, 1, {one_of(around)}};
  return rule.kind == LengthKind::kList ? list_of(8, around) : rule;
}

IndexPattern draw_indices() {
  IndexPattern pattern;
  pattern.kind =
      static_cast<IndexKind>(*rc::gen::inRange(0, static_cast<int>(IndexKind::kEdges) + 1));
  if (pattern.kind == IndexKind::kInterior || pattern.kind == IndexKind::kHostile) {
    pattern.count = 1;
    pattern.values[0] = one_of({1, 50, 300, 1000});
  }
  return pattern;
}

Variant draw_combine_variant() {
  return *rc::gen::element(Variant::kCommon, Variant::kGathered, Variant::kChecked,
                           Variant::kVision, Variant::kRagged);
}

void draw_combine(Case& c) {
  c.variant = draw_combine_variant();
  c.window = one_of({1, 2, 31, 64, 96, 128, 192});
  const bool chain = c.op == Op::kChainPrefill;
  c.ratio = chain ? one_of({1, 2, 4}) : one_of({0, 1, 2, 4, 128});
  c.gather = *rc::gen::element(GatherKind::kNeeded, GatherKind::kWhole, GatherKind::kShort);
  if (c.variant == Variant::kVision) c.images = one_of({0, 1, 5, 40});
  c.extra = *rc::gen::inRange<int64_t>(0, 6);
  c.skip = *rc::gen::inRange<int64_t>(0, c.extra + 1);
}

void draw_translate(Case& c) {
  c.variant = *rc::gen::element(Variant::kPositional, Variant::kCompact, Variant::kRagged,
                                Variant::kPack, Variant::kFlat, Variant::kCapped);
  draw_table(c);
  c.ratio = one_of({1, 2, 4});
  if (chance(50)) c.cap = list_of(4, {0, 1, c.k / 2, c.k});
}

void draw_swa(Case& c) {
  c.window = one_of({1, 2, 31, 64, 96, 128});
  if (chance(40)) c.images = one_of({1, 5, 40});
  draw_table(c);
}

void draw_local_layout(Case& c) {
  if (chance(30)) c.index_stride = c.k + *rc::gen::inRange<int64_t>(1, 9);
  if (c.op != Op::kCombine || !chance(40)) return;
  c.index_width = c.k + *rc::gen::inRange<int64_t>(0, 17);
  c.index_stride = 0;
}

void draw_out_stride(Case& c) {
  if (!chance(30)) return;
  const int64_t columns = c.k + c.window + c.images;  // whatever it is, normalize() repairs it
  c.out_stride = (columns + 127) / 128 * 128 + *rc::gen::inRange<int64_t>(1, 9);
}

}  // namespace

void draw_table(Case& c) {
  c.block_size = one_of({1, 2, 3, 16, 64, 100, 256});
  c.slots = chance(40) ? SlotType::kInt64 : SlotType::kInt32;
  const bool far = c.slots == SlotType::kInt64 && chance(50);
  c.table = far ? TableKind::kFar : *rc::gen::element(TableKind::kShuffled, TableKind::kOrdered);
  // Wider than any table of the drawn sizes, where it is not the table's width.
  if (chance(30)) c.table_stride = 8192 + *rc::gen::inRange<int64_t>(0, 5);
  c.invalid = one_of({0, 0, 200, 1000});
  if (reads(c.op, "bad_requests")) c.bad_requests = one_of({0, 0, 100});
}

Case draw_requests(Op op, const DrawLimits& limits) {
  Case c = default_case(op);
  c.requests = *rc::gen::inRange<int64_t>(1, 9);
  c.query_lens = draw_query_lens();
  c.context = one_of({16, 100, 256, 1000, 2048});
  if (reads(op, "k")) c.k = one_of({1, 2, 7, 16, 64, 130, 512});
  if (op == Op::kCombine && chance(10)) c.k = 0;
  if (op == Op::kCombine || op == Op::kChainPrefill) draw_combine(c);
  if (op == Op::kTranslate) draw_translate(c);
  if (op == Op::kSwa) draw_swa(c);
  if (op != Op::kCombine && reads(op, "extra")) c.extra = *rc::gen::inRange<int64_t>(0, 6);
  c.lens = draw_seq_lens(c);
  if (reads(op, "indices")) {
    c.indices = draw_indices();
    draw_local_layout(c);
  }
  if (op == Op::kChainPrefill) draw_logits(c);
  draw_out_stride(c);
  if (chance(30)) c.misalign = *rc::gen::inRange<int64_t>(1, 4);
  c.seed = draw_seed();
  draw_launch(c, limits);
  c = normalize(c);
  if (anything_at_stake(c)) return c;
  // Long enough sequences of some tokens, all valid: something to get right in every variant.
  const Case plain = default_case(op);
  c.query_lens = plain.query_lens;
  c.lens = {LengthKind::kConst, 1, {c.context}};
  c.invalid = plain.invalid;
  c.bad_requests = plain.bad_requests;
  c.indices = plain.indices;
  c.cap = plain.cap;
  c.gather = plain.gather;
  c.session = plain.session;  // may change lengths before the first launch
  c = normalize(c);
  // Rows of `pack` and `flat` have drawn lengths of their own, which may all be 0 under one seed.
  constexpr int kSeedsMax = 1000;
  for (int i = 0; i < kSeedsMax && !anything_at_stake(c); ++i) ++c.seed;
  return c;
}

}  // namespace exactk::props
