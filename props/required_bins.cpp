// The bins that the stored cases of a tier must visit. A row is operations | axis | bins, with the
// rest of long rows indented. What a tier visits by its defaults is not listed. Take a bin out only
// together with the reason why the tier can do without it.
#include <fmt/format.h>

#include <algorithm>

#include "props/coverage.h"
#include "props/internal_error.h"

namespace exactk::props {
namespace {

constexpr const char* kSmoke = R"(
topk.decode | action | capture, lens, replay, stream 1
topk.decode | active blocks | block_insertion 1 of 1, block_radix 1 of 1, k1024 2 of 3,
    k1024 3 of 3, k1024 4 of 4, k1024 8 of 8, k512 1 of 1, k512 1 of 10, k512 1 of 16, k512 1 of 2,
    k512 1 of 3, k512 10 of 16, k512 16 of 16, k512 2 of 10, k512 2 of 16, k512 2 of 2, k512 2 of 3,
    k512 3 of 10, k512 3 of 16, k512 8 of 16, k512 9 of 16, split 10 of 10, split 3 of 3
topk.decode | arch | generic, gfx90a, gfx942
topk.decode | dispatch | auto block_insertion x1, auto block_radix x1, auto k1024 x3, auto k1024 x4,
    auto k1024 x8, auto k512 x1, auto k512 x10, auto k512 x16, auto k512 x2, auto k512 x3,
    auto split x10, auto split x3, gated block_insertion x1, gated full_radix, gated k512 x1,
    gated k512 x16
topk.decode | finite and k | 0, above 16k, above 2k, above k, below k, k, k+1, k-1
topk.decode | gate | ratio 1 by length, ratio above 1 by length, ratio above 1 full graph
topk.decode | launch | direct again, direct once, graph again, session, stream again
topk.decode | least length | 0, below 0, below its rows
topk.decode | length and k | 0, 1, 2k, above 16k, above 2k, above k, below k, k, k+1, k-1
topk.decode | length edge | k512 10 to 16 +1, k512 10 to 16 -1, k512 10 to 16 0, k512 7 to 8 +1
topk.decode | mask | above 90 %, all, to 50 %, to 90 %, varies by row
topk.decode | misalign | 1, 2, 3
topk.decode | pattern | all_equal, ascending, boundary_ties, denormals, descending, few_finite,
    fp16_bin, low_bits, lowest_finite, masked_prefix, masked_share, masked_suffix, nan_inf, normal,
    peaks, sawtooth, signed_zeros, ulp_steps, uniform
topk.decode | replayed length | above k, grows, more blocks, shrinks, to k or below, to zero
topk.decode | rows | k1024 auto 32 +1, k1024 auto 64 +1, k512 auto 128 +1, k512 auto 128 0,
    k512 auto 160 +1, k512 auto 160 0, k512 auto 256 +1, k512 auto 256 0, k512 auto 32 +1,
    k512 auto 32 0, k512 auto 384 +1, k512 auto 384 0, k512 gated 384 0
topk.decode | rows of a request | one row lens_dim 1, several rows lens_dim 1,
    several rows lens_dim 2
topk.decode | schedule | drawn
topk.decode | special | +inf, +nan, -FLT_MAX, -inf, -nan, denormals, given +inf, given +nan,
    given -inf, given -nan, zeros of both signs
topk.decode | threshold bin | final +1, final -1, final 0, final 2x, final below, insertion +1,
    insertion 0, insertion above, k512 final +1, k512 final 0, k512 final 2x, k512 final above,
    k512 final below
topk.decode | ties | all equal, all lose, all win, none, of -FLT_MAX, of -inf, one loses, one wins,
    some lose
topk.decode | workspace | ones, zero
topk.decode topk.prefill | change | data at a launch, data at a replay, lens at a launch,
    lens at a replay, mask at a launch, mask at a replay, poison at a launch, poison at a replay,
    tail at a launch, tail at a replay
topk.decode topk.prefill | column stride | above 1
topk.decode topk.prefill | row stride | given mod 4 1
topk.decode topk.prefill | tail | go_on, inf, lose, nan
topk.decode index.combine index.translate | repeats | several
topk.decode topk.prefill index.combine index.translate index.swa | poison | plausible, stale
topk.prefill | finite and k | below k
topk.prefill | least length | 0, below 0
topk.prefill | length and k | 0, 2k, above 16k, above 2k, above k, below k, k, k+1, k-1
topk.prefill | mask | above 90 %, to 50 %
topk.prefill | pattern | all_equal, boundary_ties, few_finite, fp16_bin, masked_share, nan_inf,
    normal, signed_zeros
topk.prefill | replayed length | grows, shrinks, to k or below, to zero
topk.prefill | special | +inf, +nan, -inf, -nan, given +inf, given +nan, given -nan,
    zeros of both signs
topk.prefill | starts | const, end, mod 4 0, mod 4 1, mod 4 2, mod 4 3, ragged, zero
topk.prefill | threshold bin | final +1
topk.prefill | ties | all equal, of -inf, some lose
topk.prefill chain.prefill | dispatch | one launch, two launches
topk.prefill index.swa | misalign | 3
topk.prefill index.combine index.swa | launch | direct once, graph again, stream again
index.combine | change | data at a launch, data at a replay, lens at a launch, lens at a replay,
    mask at a launch, mask at a replay, poison at a launch, poison at a replay
index.combine | columns and k | 0, above k, below k, k -1, k 0, no position, no top-k part,
    one short of a column, whole column
index.combine | empty request | first, inner, two in a row
index.combine | gather | short, whole
index.combine | index width | above k
index.combine | misalign | 1
index.combine | position and window | beyond, inside, window +1, window -1, window 0
index.combine | ratio | 0, 1, above 1
index.combine | sequence | 0, above its query, below 0, below its query, its query, the context
index.combine | skip | all of extra, some of extra
index.combine | workspace | zero
index.combine index.translate | index stride | given
index.combine index.translate | indices | edges, hostile, interior, prefix, stale
index.combine chain.prefill | variant | checked, common, gathered, ragged, vision
index.combine chain.prefill | window size | other, power of two
index.combine index.swa chain.prefill | images | below the window
index.combine index.translate index.swa | replayed length | grows, shrinks
index.combine index.translate index.swa chain.prefill | extra | some
index.combine index.translate index.swa chain.prefill | query | 0, 1, to 63
index.translate | action | launch
index.translate | block edge | inside the first, one less, whole blocks
index.translate | block size | 1, other, power of two
index.translate | cap | 0, below k, by launch, k
index.translate | columns and k | 0, above k, below k, k +1, k 0, no position,
    one short of a column, whole column
index.translate | launch | direct again, direct once, graph again, session
index.translate | misalign | 2
index.translate | ratio | above 1
index.translate | sequence | above its query, below its query, its query
index.translate | variant | capped, compact, flat, pack, positional, ragged
index.translate index.swa | bad requests | some
index.translate index.swa | change | data at a launch, data at a replay, lens at a launch,
    lens at a replay, mask at a launch, mask at a replay, poison at a launch, poison at a replay,
    table at a launch, table at a replay
index.translate index.swa | table | far, ordered
index.translate index.swa | table stride | given
index.translate index.swa chain.prefill | empty request | first, inner, last
index.translate index.swa chain.decode | invalid | some
index.translate index.swa chain.decode | slots | int64
index.swa | block edge | inside the first, one more, whole blocks
index.swa | position and window | beyond, inside, window +1, window 0
index.swa | sequence | 0, above its query, below 0, below its query
index.swa | window size | 1, other, power of two
index.swa chain.decode | block size | other, power of two
chain.decode | active blocks | block_insertion 1 of 1
chain.decode | block edge | one less, one more, whole blocks
chain.decode | change | data at a replay, lens at a replay, mask at a replay, poison at a replay,
    table at a replay, tail at a replay
chain.decode | dispatch | auto block_insertion x1
chain.decode | length and k | above 16k, above 2k, above k, below k, k-1
chain.decode | mask | varies by row
chain.decode | pattern | boundary_ties, normal
chain.decode | replayed length | grows, shrinks, to k or below
chain.decode | rows of a request | one row lens_dim 2, several rows lens_dim 1
chain.decode | table | far
chain.decode | tail | go_on, inf, nan
chain.decode | variant | compact, positional, ragged
chain.decode chain.prefill | launch | direct once, graph again
chain.decode chain.prefill | ties | some lose
chain.prefill | change | data at a replay, lens at a replay, mask at a replay, poison at a replay,
    tail at a replay
chain.prefill | columns and k | 0, above k, below k, no position, one short of a column,
    whole column
chain.prefill | gather | short
chain.prefill | length and k | 0, 1, above 2k, above k, below k
chain.prefill | mask | to 50 %
chain.prefill | pattern | boundary_ties, masked_share, normal
chain.prefill | position and window | beyond, inside
chain.prefill | ratio | 1, above 1
chain.prefill | replayed length | above k, grows, shrinks, to k or below, to zero
chain.prefill | row stride | given mod 4 2
chain.prefill | sequence | 0, above its query, below its query, its query
chain.prefill | skip | all of extra
chain.prefill | special | -inf
chain.prefill | tail | go_on, lose, nan
logits.mqa | compressed | columns from the start
logits.mqa | misalign | 1
logits.mqa | starts | const, end, mod 4 0, mod 4 1, mod 4 2, mod 4 3, ragged, zero
logits.mqa | workspace | zero
logits.mqa logits.mqa_paged | change | data at a launch, data at a replay, lens at a launch,
    lens at a replay, poison at a launch, poison at a replay
logits.mqa logits.mqa_paged | dim | mod 4 0, several stages
logits.mqa logits.mqa_paged | fp8 | fn, fnuz
logits.mqa logits.mqa_paged | heads | 1, mod 8 0, mod 8 not 0, several stages
logits.mqa logits.mqa_paged | kind of numbers | bytes, integers, ties, uniform, wide
logits.mqa logits.mqa_paged | launch | direct once, graph again, stream again
logits.mqa logits.mqa_paged | least length | 0, below 0
logits.mqa logits.mqa_paged | out stride | given
logits.mqa logits.mqa_paged | outside | any, clean, untouched
logits.mqa logits.mqa_paged | poison | plausible, stale
logits.mqa logits.mqa_paged | repeats | several
logits.mqa logits.mqa_paged | replayed length | grows, shrinks
logits.mqa logits.mqa_paged | scales | hostile, ones, powers, uniform
logits.mqa logits.mqa_paged | specials | some
logits.mqa logits.mqa_paged | tile edge | empty, inside the first tile, one less, one more,
    the width, whole tiles
logits.mqa_paged | block edge | inside the first, one less, one more, whole blocks
logits.mqa_paged | block size | 1, other, power of two
logits.mqa_paged | change | table at a launch, table at a replay
logits.mqa_paged | misalign | 3
logits.mqa_paged | replayed length | to zero
logits.mqa_paged | rows of a request | several rows lens_dim 1, several rows lens_dim 2
logits.mqa_paged | schedule | drawn
logits.mqa_paged | table | ordered
logits.mqa_paged | table stride | given
router.grouped_topk | bias | large negative, large of both signs, large positive, none,
    small negative, small of both signs, small positive
router.grouped_topk | change | data at a launch, data at a replay, mask at a launch,
    mask at a replay, poison at a launch, poison at a replay
router.grouped_topk | chosen experts | 1, all candidates
router.grouped_topk | chosen groups | all, one
router.grouped_topk | experts | a partial wave, above a block, below a wave
router.grouped_topk | groups | 1, 32, one expert each
router.grouped_topk | launch | graph again, stream again
router.grouped_topk | logit stride | given
router.grouped_topk | logit type | bf16
router.grouped_topk | logits | apart, integers, ties: all equal, ties: all equal but one, ties: few,
    ties: near, wide
router.grouped_topk | misalign | 1, 3
router.grouped_topk | out stride | given
router.grouped_topk | poison | plausible, stale
router.grouped_topk | repeats | several
router.grouped_topk | schedule | drawn
router.grouped_topk | scoring | softmax
router.grouped_topk | special logits | some
router.grouped_topk | tokens | 1, mod 4 not 0
router.grouped_topk | weights | scaled scores, scaled shares, scores
router.grouped_topk | workspace | zero
step.decode | cache | bf16, v32, v4
step.decode | change | lens at a replay, poison at a replay, table at a replay
step.decode | fp8 | fn, fnuz
step.decode | kind of numbers | integers, ties
step.decode | launch | direct once, graph again, stream again
step.decode | least length | 0, below its rows
step.decode | length and k | 0, 1, above 2k, k, k+1, k-1
step.decode | poison | plausible, stale
step.decode | replayed length | from zero, grows, shrinks, to zero
step.decode | rows of a request | one row lens_dim 1, several rows lens_dim 1,
    several rows lens_dim 2
step.decode | tile edge | empty, one less, one more, whole tiles
step.decode | variant | compact, positional, ragged
step.decode | workspace | ones
attention.sparse_prefill | attention heads | 1
attention.sparse_prefill | change | data at a launch, data at a replay, lens at a launch,
    lens at a replay, mask at a launch, mask at a replay, poison at a launch, poison at a replay
attention.sparse_prefill | entries | 0, 2048, several tiles
attention.sparse_prefill | key | a partial wave, all are values
attention.sparse_prefill | launch | graph again, stream again
attention.sparse_prefill | length of a row | 0, below 0, k, whole tiles
attention.sparse_prefill | misalign | 1
attention.sparse_prefill | out stride | given
attention.sparse_prefill | queries and keys | apart, bytes, integers, ties, wide
attention.sparse_prefill | repeats | several
attention.sparse_prefill | replayed length | grows, shrinks
attention.sparse_prefill | schedule | drawn
attention.sparse_prefill | selected | hostile, interior, repeated, stale
attention.sparse_prefill | sink | finite, high, low, mixed
attention.sparse_prefill | slot stride | given
attention.sparse_prefill | slots of a list | from 2048, to a tile
attention.sparse_prefill | slots that count | full, ragged
attention.sparse_prefill | special numbers | some
attention.sparse_decode | attention heads | 1
attention.sparse_decode | cache | v32, v4
attention.sparse_decode | cache flavours | fn, fn and extra fn, fn and extra fnuz, fnuz,
    fnuz and extra fn
attention.sparse_decode | change | data at a replay, lens at a replay, mask at a replay,
    poison at a replay
attention.sparse_decode | drafts | several
attention.sparse_decode | entries | 0, 1, 2048, both lists, extra alone, several tiles
attention.sparse_decode | key | values for several per thread
attention.sparse_decode | key scales | hostile, ones, powers, uniform
attention.sparse_decode | keys of a block | other
attention.sparse_decode | launch | graph again
attention.sparse_decode | length of a row | 0, below 0, k
attention.sparse_decode | out stride | given
attention.sparse_decode | queries and keys | apart, bytes, integers
attention.sparse_decode | replayed length | grows, shrinks, to zero
attention.sparse_decode | scale groups | 1, rope, several
attention.sparse_decode | selected | hostile, interior
attention.sparse_decode | sink | finite, low, mixed
attention.sparse_decode | slots of a list | from 2048, to a tile
attention.sparse_decode | slots that count | full, ragged
attention.sparse_decode | workspace | ones
)";

constexpr const char* kCi = R"(
topk.decode | active blocks | block_insertion 1 of 1, block_radix 1 of 1, k1024 2 of 3,
    k1024 3 of 3, k1024 4 of 4, k1024 8 of 8, k512 1 of 1, k512 1 of 10, k512 1 of 16, k512 1 of 2,
    k512 1 of 3, k512 10 of 10, k512 10 of 16, k512 2 of 10, k512 2 of 16, k512 2 of 2,
    k512 3 of 10, k512 3 of 16, k512 3 of 3, k512 4 of 10, k512 4 of 16, k512 5 of 16, k512 6 of 16,
    k512 7 of 16, k512 8 of 16, split 10 of 10
topk.decode | arch | gfx942
topk.decode | dispatch | auto block_insertion x1, auto block_radix x1, auto k1024 x3, auto k1024 x4,
    auto k1024 x8, auto k512 x1, auto k512 x10, auto k512 x16, auto k512 x2, auto k512 x3,
    auto split x10, gated block_insertion x1, gated full_radix, gated k512 x1, gated k512 x16
topk.decode | finite and k | above 16k, below k
topk.decode | gate | ratio 1 by length, ratio 1 full graph, ratio above 1 by length,
    ratio above 1 full graph
topk.decode | launch | direct once, graph again, session, stream again
topk.decode | length and k | 0, 1, 2k, above 16k, above 2k, above k, below k, k, k+1, k-1
topk.decode | length edge | k1024 3 to 2 +1, k1024 3 to 2 0, k512 1 to 2 +1, k512 1 to 2 -1,
    k512 1 to 2 0, k512 1 to 3 +1, k512 1 to 3 -1, k512 1 to 3 0, k512 1 to 4 +1, k512 1 to 4 -1,
    k512 1 to 4 0, k512 1 to 8 +1, k512 1 to 8 -1, k512 1 to 8 0, k512 2 to 3 +1, k512 2 to 3 0,
    k512 3 to 4 +1, k512 3 to 4 0, k512 4 to 10 +1, k512 4 to 10 -1, k512 4 to 10 0, k512 4 to 5 +1,
    k512 4 to 5 0, k512 5 to 6 +1, k512 5 to 6 0, k512 6 to 7 +1, k512 6 to 7 0, k512 7 to 8 +1,
    k512 7 to 8 0, k512 8 to 10 +1
topk.decode | pattern | all_equal, boundary_ties, denormals, few_finite, fp16_bin, low_bits,
    lowest_finite, masked_prefix, masked_share, nan_inf, normal, peaks, signed_zeros, ulp_steps,
    uniform
topk.decode | replayed length | above k, grows, more blocks, shrinks, to k or below, to zero
topk.decode | row stride | given mod 4 0
topk.decode | rows | k1024 auto 256 +1, k1024 auto 256 0, k1024 auto 32 +1, k1024 auto 32 0,
    k1024 auto 64 +1, k1024 auto 64 0, k1024 gated 256 +1, k1024 gated 256 0, k512 auto 128 +1,
    k512 auto 128 0, k512 auto 160 +1, k512 auto 160 0, k512 auto 256 +1, k512 auto 256 0,
    k512 auto 32 +1, k512 auto 32 0, k512 auto 384 +1, k512 auto 384 0, k512 gated 384 +1,
    k512 gated 384 0
topk.decode | rows of a request | one row lens_dim 1, several rows lens_dim 1,
    several rows lens_dim 2
topk.decode | special | +inf, +nan, -FLT_MAX, -inf, -nan, denormals, zeros of both signs
topk.decode | threshold bin | final +1, final -1, final 0, final 2x, final below, insertion above,
    k512 final +1, k512 final -1, k512 final 0, k512 final 2x, k512 final above
topk.decode | ties | all equal, none, of -inf, one loses, one wins, some lose
topk.decode | width | to block_insertion x1 +1, to block_insertion x1 0, to block_radix x1 +1,
    to block_radix x1 0, to k512 x10 0, to k512 x2 +1, to k512 x3 +1, to split x10 +1
topk.prefill | finite and k | 0
topk.prefill | length and k | 0, 2k, above 16k, above 2k, above k, below k, k, k+1, k-1
topk.prefill | pattern | boundary_ties, fp16_bin, low_bits, masked_prefix, masked_share, normal,
    uniform
topk.prefill | replayed length | above k, grows, shrinks, to k or below
topk.prefill | row stride | given mod 4 1
topk.prefill | rows | second launch +1, second launch 0
topk.prefill | starts | const, end, mod 4 0, mod 4 1, mod 4 2, mod 4 3, ragged, zero
topk.prefill | threshold bin | final +1, final -1, final 0, final below
topk.prefill | ties | of -inf, one loses, some lose
topk.prefill chain.prefill | dispatch | one launch, two launches
topk.prefill chain.decode chain.prefill | special | -inf
topk.prefill index.swa chain.decode chain.prefill | launch | direct once, graph again
index.combine | columns and k | 0, above k, below k, k -1, k 0, no position, no top-k part,
    one short of a column, whole column
index.combine | gather | short
index.combine | index stride | given
index.combine | index width | above k
index.combine | indices | hostile, interior, prefix, stale
index.combine | launch | direct again, direct once, graph again
index.combine | ratio | 0, 1, above 1
index.combine | sequence | 0, above its query, below 0, below its query, its query
index.combine index.swa | images | below the window
index.combine index.swa | position and window | beyond, inside, window +1, window -1, window 0
index.combine chain.prefill | skip | all of extra
index.combine chain.prefill | variant | checked, common, gathered, ragged, vision
index.combine index.translate index.swa | empty request | first, inner, last, two in a row
index.combine index.swa chain.prefill | query | 0, 1, from 64, to 63
index.combine index.translate index.swa | replayed length | grows, shrinks
index.combine index.translate index.swa chain.prefill | extra | some
index.translate | cap | 0, below k, by launch, k
index.translate | columns and k | 0, above k, below k, no position, one short of a column,
    whole column
index.translate | indices | edges, hostile, interior, prefix, stale
index.translate | launch | direct again, direct once, graph again, session
index.translate | query | 0, 1, to 63
index.translate | sequence | 0, above its query, below its query, its query
index.translate | table stride | given
index.translate | variant | capped, compact, flat, pack, positional, ragged
index.translate index.swa | bad requests | some
index.translate index.swa | block size | 1, power of two
index.translate chain.prefill | ratio | 1, above 1
index.translate index.swa chain.decode | block edge | inside the first, one less, one more,
    whole blocks
index.translate index.swa chain.decode | invalid | some
index.translate index.swa chain.decode | slots | int64
index.translate index.swa chain.decode | table | far
index.swa | sequence | 0, above its query, below 0, below its query, its query, the context
chain.decode | active blocks | block_insertion 1 of 1, k512 1 of 1
chain.decode | block size | power of two
chain.decode | dispatch | auto block_insertion x1, auto k512 x1
chain.decode | length and k | 2k, above 16k, above 2k, above k, below k, k, k+1, k-1
chain.decode | pattern | boundary_ties, masked_share, normal
chain.decode | replayed length | grows, shrinks, to k or below
chain.decode | rows of a request | one row lens_dim 1, several rows lens_dim 1
chain.decode | ties | some lose
chain.decode | variant | compact, positional, ragged
chain.prefill | columns and k | 0, above k, below k, k +1, k -1, k 0, no position,
    one short of a column, whole column
chain.prefill | empty request | inner
chain.prefill | length and k | 0, 1, 2k, above 2k, above k, below k, k, k+1, k-1
chain.prefill | pattern | masked_share, normal
chain.prefill | position and window | beyond, inside
chain.prefill | replayed length | above k, from zero, grows, shrinks, to k or below
chain.prefill | sequence | 0, above its query, below its query
logits.mqa | compressed | columns are keys, columns from the start
logits.mqa | starts | const, end, ragged
logits.mqa logits.mqa_paged | fp8 | fn, fnuz
logits.mqa logits.mqa_paged | heads | mod 8 0, several stages
logits.mqa logits.mqa_paged | kind of numbers | bytes, integers, ties, uniform, wide
logits.mqa logits.mqa_paged | outside | any, clean, untouched
logits.mqa logits.mqa_paged | replayed length | grows, shrinks
logits.mqa logits.mqa_paged | scales | hostile, uniform
logits.mqa logits.mqa_paged | tile edge | empty, one less, one more, whole tiles
logits.mqa_paged | block edge | inside the first, one less, one more, whole blocks
logits.mqa_paged | block size | 1, power of two
logits.mqa_paged | rows of a request | several rows lens_dim 1, several rows lens_dim 2
router.grouped_topk | bias | large negative, large positive, none, small negative, small positive
router.grouped_topk | change | data at a replay, mask at a replay, poison at a replay
router.grouped_topk | chosen experts | all candidates
router.grouped_topk | chosen groups | all, one
router.grouped_topk | experts | a partial wave, above a block
router.grouped_topk | groups | 1, 32
router.grouped_topk | launch | graph again
router.grouped_topk | logit type | bf16
router.grouped_topk | logits | apart, ties: all equal, ties: all equal but one, ties: few,
    ties: near, wide
router.grouped_topk | scoring | softmax
router.grouped_topk | special logits | some
router.grouped_topk | tokens | 1, mod 4 not 0
router.grouped_topk | weights | scaled scores, scaled shares
step.decode | block size | 1, other
step.decode | sink | finite
attention.sparse_prefill | entries | 2048, several tiles
attention.sparse_prefill | key | a partial wave, values for several per thread
attention.sparse_prefill | length of a row | k, whole tiles
attention.sparse_prefill | queries and keys | apart
attention.sparse_prefill | selected | edges, hostile
attention.sparse_prefill | sink | finite
attention.sparse_prefill | slots of a list | from 2048, to a tile
attention.sparse_prefill | slots that count | full, ragged
attention.sparse_decode | cache | v32, v4
attention.sparse_decode | cache flavours | fn, fn and extra fn, fnuz, fnuz and extra fn
attention.sparse_decode | change | data at a replay, lens at a replay, mask at a replay,
    poison at a replay
attention.sparse_decode | drafts | several
attention.sparse_decode | entries | 0, 2048, both lists, extra alone, several tiles
attention.sparse_decode | key | all are values, values for several per thread
attention.sparse_decode | key scales | uniform
attention.sparse_decode | launch | graph again
attention.sparse_decode | length of a row | 0, below 0, k
attention.sparse_decode | queries and keys | apart
attention.sparse_decode | replayed length | grows, shrinks
attention.sparse_decode | scale groups | 1, rope, several
attention.sparse_decode | selected | interior
attention.sparse_decode | sink | mixed
attention.sparse_decode | slots of a list | from 2048
attention.sparse_decode | slots that count | full, ragged
)";

constexpr const char* kPublished = R"(
topk.decode | active blocks | block_insertion 1 of 1, block_radix 1 of 1, k1024 2 of 3,
    k1024 3 of 3, k1024 4 of 4, k1024 8 of 8, k512 1 of 1, k512 1 of 10, k512 1 of 16, k512 1 of 2,
    k512 1 of 3, k512 10 of 16, k512 16 of 16, k512 2 of 16, k512 2 of 2, k512 3 of 16, k512 3 of 3,
    k512 4 of 10, k512 4 of 16, k512 5 of 16, k512 6 of 16, k512 7 of 16, k512 8 of 16,
    split 10 of 10
topk.decode | arch | gfx942
topk.decode | dispatch | auto block_insertion x1, auto block_radix x1, auto k1024 x3, auto k1024 x4,
    auto k1024 x8, auto k512 x1, auto k512 x10, auto k512 x16, auto k512 x2, auto k512 x3,
    auto split x10, gated k512 x1
topk.decode | finite and k | above 16k, above k, below k
topk.decode | gate | ratio 1 by length, ratio above 1 by length
topk.decode | launch | direct once, graph again, session
topk.decode | length and k | 0, 1, 2k, above 16k, above 2k, above k, below k, k, k+1, k-1
topk.decode | length edge | k1024 3 to 2 +1, k1024 3 to 2 0, k512 1 to 2 +1, k512 1 to 2 -1,
    k512 1 to 2 0, k512 1 to 3 +1, k512 1 to 3 -1, k512 1 to 3 0, k512 1 to 4 +1, k512 1 to 4 -1,
    k512 1 to 4 0, k512 1 to 8 +1, k512 1 to 8 -1, k512 1 to 8 0, k512 10 to 16 +1,
    k512 10 to 16 -1, k512 10 to 16 0, k512 2 to 3 +1, k512 2 to 3 0, k512 3 to 4 +1, k512 3 to 4 0,
    k512 4 to 5 +1, k512 4 to 5 0, k512 5 to 6 +1, k512 5 to 6 0, k512 6 to 7 +1, k512 6 to 7 0,
    k512 7 to 8 +1, k512 7 to 8 0, k512 8 to 10 +1, k512 8 to 10 -1, k512 8 to 10 0
topk.decode | pattern | few_finite, fp16_bin, low_bits, lowest_finite, masked_prefix, masked_share,
    normal, uniform
topk.decode | replayed length | above k, fewer blocks, grows, more blocks, shrinks, to k or below,
    to zero
topk.decode | rows | k1024 auto 256 +1, k1024 auto 256 0, k1024 auto 32 +1, k1024 auto 32 0,
    k1024 auto 64 +1, k1024 auto 64 0, k512 auto 128 +1, k512 auto 128 0, k512 auto 160 +1,
    k512 auto 160 0, k512 auto 256 +1, k512 auto 256 0, k512 auto 32 +1, k512 auto 32 0,
    k512 auto 384 +1, k512 auto 384 0, k512 gated 384 0
topk.decode | rows of a request | one row lens_dim 1, several rows lens_dim 1,
    several rows lens_dim 2
topk.decode | special | -FLT_MAX, -inf
topk.decode | threshold bin | final +1, final 0, final below, insertion +1, insertion 0,
    insertion above, k512 final +1, k512 final -1, k512 final 0, k512 final 2x, k512 final above,
    k512 final below
topk.decode | ties | of -FLT_MAX, of -inf
topk.decode | width | to k512 x10 +1, to k512 x10 0, to k512 x2 +1, to k512 x3 +1, to k512 x3 0
)";

constexpr const char* kNightly = R"(
topk.decode | active blocks | k512 16 of 16
topk.decode | dispatch | gated block_radix x1, gated k1024 x3
topk.decode | finite and k | 0
topk.decode | length edge | k512 10 to 16 +1, k512 10 to 16 -1, k512 10 to 16 0, k512 8 to 10 -1,
    k512 8 to 10 0
topk.decode | pattern | ascending, descending, sawtooth
topk.decode | rows of a request | one row lens_dim 2
topk.decode | threshold bin | k512 final below
topk.decode | width | to k1024 x3 +1, to k1024 x4 +1, to k1024 x8 +1, to k512 x10 +1,
    to k512 x16 +1, to k512 x16 0, to split x10 0
topk.prefill | length and k | 1
index.translate | columns and k | k +1, k -1, k 0
index.translate | sequence | the context
chain.decode | active blocks | block_radix 1 of 1, k512 1 of 10
chain.decode | dispatch | auto block_radix x1, auto k512 x10
chain.decode | length edge | k512 1 to 4 -1
chain.decode | replayed length | above k
chain.decode | width | to k512 x10 +1
chain.prefill | length and k | above 16k
)";  // besides those of ci

struct Tier {
  std::string_view name;
  std::vector<std::string_view> tables;
};
const std::vector<Tier>& tiers() {
  static const std::vector<Tier> all = {{"smoke", {kSmoke}},
                                        {"ci", {kCi}},
                                        {"published", {kPublished}},
                                        {"nightly", {kCi, kNightly}}};
  return all;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The parts between separators, without blanks around them; empty ones are left out.
std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (const auto part = trimmed(text.substr(0, end)); !part.empty()) found.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

// Rows, with their continuation lines.
std::vector<std::string> rows(std::string_view table) {
  std::vector<std::string> found;
  while (!table.empty()) {
    const size_t end = std::min(table.find('\n'), table.size());
    const std::string_view line = table.substr(0, end);
    if (line.starts_with(' ')) {
      found.back() += line;
    } else if (!line.empty()) {
      found.emplace_back(line);
    }
    table.remove_prefix(std::min(end + 1, table.size()));
  }
  return found;
}

std::string_view axis_named(std::string_view name) {
  for (const AxisInfo& axis : axis_list()) {
    if (axis.name == name) return axis.name;
  }
  throw InternalError(fmt::format("the required bins name the unknown axis '{}'", name));
}

void add_row(std::string_view row, std::vector<Bin>& bins) {
  const std::vector<std::string_view> columns = parts(row, '|');
  if (columns.size() != 3)
    throw InternalError(fmt::format("a row of required bins has not three columns: {}", row));
  const std::string_view axis = axis_named(columns[1]);
  for (const std::string_view operation : parts(columns[0], ' ')) {
    const auto op = fixtures::op_named(operation);
    if (!op)
      throw InternalError(fmt::format("required bins name the unknown operation '{}'", operation));
    for (const std::string_view bin : parts(columns[2], ','))
      bins.push_back({*op, axis, std::string(bin)});
  }
}

}  // namespace

std::vector<std::string> tier_list() {
  std::vector<std::string> names;
  for (const Tier& tier : tiers()) names.emplace_back(tier.name);
  return names;
}

std::vector<Bin> required_bins(std::string_view name) {
  std::vector<Bin> bins;
  for (const Tier& tier : tiers()) {
    if (tier.name != name) continue;
    for (const std::string_view table : tier.tables) {
      for (const std::string& row : rows(table)) add_row(row, bins);
    }
  }
  return bins;
}

}  // namespace exactk::props
