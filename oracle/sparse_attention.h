// Sparse MLA attention over selected keys, in double, and the judge of a kernel's output,
// log-sum-exp and largest score, element by element.
//
// Source: FlashMLA flash_mla_sparse_fwd and flash_mla_with_kvcache with indices, vLLM's ragged ROCm
// kernels. For one query row (token, head) with the valid entries j of its index lists:
//   P_j = scale * <q, k_j> over d_qk columns, V_j = the first d_v columns of k_j,
//   max = max P_j, lse = log(sum exp P_j), out = sum exp(P_j) V_j / (sum exp P_j + exp sink).
// The sink changes neither lse nor max: -inf is none, +inf makes the output 0. An entry that occurs
// twice counts twice. The order of the entries and the split into two lists do not matter. No valid
// entry: out 0, max -inf, lse `empty_lse`. Keys that no valid entry names are never read.
//
// A NaN or +inf score, or a NaN sink, of a row with entries: no output of it may be a number, and
// lse neither unless only the sink is NaN; max is left open. A score of -inf has weight 0 and
// leaves those columns open whose value is not finite; a row of nothing else is left open, as are
// rows whose scores may overflow float.
//
// Bounds, from the magnitudes of the row; u = unit of the sums, gamma(n) = n u / (1 - n u), n the
// valid entries, A = the largest of |P_j| (and |sink| for the output), R rescalings, S roundings of
// a term of a sum over entries:
//   dot      a term passes D roundings: |P_j - true| <= d_j = gamma(D) |scale| sum |q_i k_ji|, or
//            d_j = 0 if every order is exact (sums_exactly)
//   max      d_j + 4 u |P_j|: scaling, also by a rounded log2(e) and back
//   exp      the argument P_j - max is 3 roundings of numbers up to 2 A: 6 u A, and as much for
//            each rescaling; the function itself errs by f relative, once and per rescaling
//   weight   so it is exact times exp(+-e_j), e_j = d_j + (1 + R)(6 u A + f') + gamma(S + R) with
//            f' = f / (1 - f); a row with A = 0 and exact dots has weights of exactly 1
//   lse      [log sum w_j exp(-e_j), log sum w_j exp(e_j)] +- (f max(1, |log|) + 4 u (|max| +
//   |log|)) out      numerator: sum w_j |v_jc| (exp(e_j + p') - 1), where p' is the rounding of a
//   weight
//            before it meets the values; denominator: sum w_j exp(+-e_j), and the sink likewise;
//            the quotient 3 u; underflow 2^-126 sum |v_jc|; then the ends are rounded to the type
//            of the output
// Exact rows fall out of this: one valid key, or equal scores whose mean is representable, leave
// one value per element. Error of the double arithmetic: all widths grow by 2^-20 of themselves.
//
// The output cannot see one wrong index among thousands; lse can where the weight of an entry is
// large against the bound. `blind_entries` counts the entries whose loss it may not see.
//
// What it does not check: slots between rows, guard bytes, repeatability.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracle/band.h"
#include "oracle/verdict.h"

namespace exactk::oracle {

// [tokens, heads, d_qk]: element (t, h, d) is data[t * token_stride + h * head_stride + d].
struct QueryView {
  std::span<const float> data{};
  int64_t tokens = 0;
  int64_t heads = 0;
  int64_t d_qk = 0;
  int64_t token_stride = 0;
  int64_t head_stride = 0;
};

// [keys, d_qk], as the kernel's arithmetic sees them: half formats and dequantised bytes widened.
struct KeyView {
  std::span<const float> data{};
  int64_t keys = 0;
  int64_t stride = 0;
};

// The selected keys of each token. Dense: token t has slots data[t * stride + (0 .. width)), of
// which only the first lengths[t / tokens_per_request] count; no lengths: all. Ragged, with an
// indptr of [tokens + 1]: slots data[indptr[t] .. indptr[t + 1]).
struct IndexListView {
  std::span<const int32_t> data{};
  int64_t width = 0;
  int64_t stride = 0;
  std::span<const int32_t> lengths{};  // negative ones count as 0, those beyond the width as width
  std::span<const int32_t> indptr{};
};

struct KeyList {
  KeyView keys;
  IndexListView indices;
};

enum class IndexRule : uint8_t {
  kInRange,          // an index outside [0, keys) is no entry (prefill, ROCm)
  kNegativeOneOnly,  // only -1 is none; others outside leave the row open (FlashMLA decode)
};
enum class LseBase : uint8_t { kNatural, kTwo };

// Prefill: tokens_per_request 1. Decode: the query rows s_q of a request.
struct AttentionInput {
  QueryView query;
  KeyList main;
  KeyList extra;  // no indices: none
  int64_t d_v = 0;
  int64_t tokens_per_request = 1;
  double scale = 1;
  std::span<const float> sink{};  // [heads], natural logarithm; empty: none
  IndexRule rule = IndexRule::kInRange;
  LseBase lse_base = LseBase::kNatural;
  double empty_lse = std::numeric_limits<double>::infinity();
};

// What is known of the arithmetic; the more, the sharper the judge. 0 of a count: nothing is known,
// any order counts as legal; a count beyond that of the worst order counts as it.
struct AttentionPrecision {
  double unit = 0x1p-24;            // u; 2^-23 where a matrix unit truncates
  double function_error = 0x1p-21;  // f of exp and log (log: absolute below 1)
  double probability_unit = 0;      // 2^-8: weights are rounded to bf16 before they meet values
  FloatFormat output = kBfloat16;
  int64_t dot_roundings = 0;  // D; 0: d_qk
  int64_t sum_roundings = 0;  // S; 0: the valid entries
  int64_t rescalings = 0;     // R, changes of the running maximum; 0: the valid entries
};

// One query row: the bands of everything that a kernel answers for it.
struct AttentionRow {
  std::vector<Band> out;  // [d_v]
  Band lse;
  Band max_score;
  int64_t entries = 0;        // valid ones, counted with repetition
  int64_t blind_entries = 0;  // whose loss would stay inside the band of lse
  bool open = false;          // the contract says nothing of the row
};

// One sentence if the views do not fit together, else empty. The functions below need it empty.
std::string problem_of(const AttentionInput& input);

AttentionRow attend(const AttentionInput& input, const AttentionPrecision& precision, int64_t token,
                    int64_t head);

// Of a kernel: out [tokens, heads, d_v] with contiguous rows; lse and max at
// data[request * request_stride + (token in request) * token_stride + head * head_stride], float.
// Empty data: not answered, not judged.
struct AttentionOutView {
  std::span<const float> data{};
  int64_t token_stride = 0;
  int64_t head_stride = 0;
};
struct AttentionStatView {
  std::span<const float> data{};
  int64_t request_stride = 0;
  int64_t token_stride = 0;
  int64_t head_stride = 0;
};
struct AttentionAnswer {
  AttentionOutView out;
  AttentionStatView lse;
  AttentionStatView max_score;
};

enum class AttentionPart : uint8_t { kOut, kLse, kMaxScore };

struct BadAttention {
  AttentionPart part{};
  int64_t token = 0;
  int64_t head = 0;
  int64_t column = 0;  // of the output; 0 for the others
  FaultKind kind{};    // kWrongValue
  Band want;
  double got = 0;
};

struct AttentionJudgement {
  std::string invalid;  // not empty: the arguments cannot be judged, and nothing was
  FaultSet faults;
  std::vector<BadAttention> bad;  // in order of rows; the first kBadAttentionMax
  int64_t bad_elements = 0;       // all of them
  int64_t failing_rows = 0;       // (token, head)
  int64_t rows = 0;
  int64_t open_rows = 0;
  int64_t exact_elements = 0;  // of the output, where one value alone was right
  int64_t entries = 0;         // over all rows
  int64_t blind_entries = 0;   // all entries if no lse was answered
  bool ok() const { return invalid.empty() && faults.empty(); }
};
inline constexpr int kBadAttentionMax = 64;

AttentionJudgement judge_attention(const AttentionInput& input, const AttentionPrecision& precision,
                                   const AttentionAnswer& answer);

}  // namespace exactk::oracle
