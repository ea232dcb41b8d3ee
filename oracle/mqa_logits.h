// Indexer logits of multi-query attention in fp8, and their judge. With query row m, key n:
//
//   logit[m][n] = scale[n] * sum over heads h of weight[m][h] * relu(dot of q[m][h] and k[n])
//
// Sources: DeepGEMM fp8_mqa_logits and fp8_paged_mqa_logits and their forms in vLLM and AITER. The
// weights already hold the scales of the queries. The definition is computed in double; the dots
// are exact in it up to dim 2^16.
//
// The judge has two ways to compare a number:
//
// Bitwise. Let g be the product of the largest powers of two that divide all elements of the row's
// queries, of the key, of the row's weights and the scale, and M = |scale| * sum_h |weight[h]| *
// sum_d |q[h][d] k[d]|. Every product and every partial sum of the formula, in any order and with
// the scale in any place, divided by its share of g is a whole number of at most M / g. So if
// M <= 2^24 g no float32 operation rounds, and only one float32 is right. A zero may have either
// sign: it depends on what a sum starts with. Integer-valued inputs are meant for this.
//
// Bound. With u = unit_roundoff, each published order of operations passes every product
// q[h][d] k[d], which fp8 makes exact in float32, through at most n = dim + heads + 1 roundings:
// dim - 1 sums, 2 where the key is dequantised before the dot (else 1: the scale), 1 for the
// weight, heads - 1 sums. A fused multiply-add has one rounding less. relu moves no two numbers
// apart, so an error of a dot passes it without growing. With gamma(n) = n u / (1 - n u) (Higham,
// Accuracy and Stability of Numerical Algorithms, lemmas 3.1 and 3.3) then
//
//   |got - logit| <= gamma(n + 1) * M + tiny
//
// where the + 1 covers the oracle's own roundings, and tiny is what flushing results below 2^-126
// can lose: 2^-126 (1 + 2 heads max(1, |scale|) max(1, |weights|)); none where M = 0, which must
// give zero.
//
// A number that cannot be judged (bitwise: M > 2^24 g, or a step below 2^-126; both: a partial
// result that may overflow float32) counts as `unjudged`, and the judgement is not ok. A NaN wanted
// is met by any NaN, an infinity by the same one; both come from NaN bytes and from weights and
// scales that are no finite numbers, with the scale applied last.
//
// What it does not check: bytes around the tensor; repeatability; AITER's relu after a negative
// scale, its shuffled key layout, and the gfx942 rewriting of byte 0x80 to 0x81, which differ from
// the definition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/block_table.h"
#include "oracle/float_formats.h"
#include "oracle/row_length.h"
#include "oracle/verdict.h"

namespace exactk::oracle {

struct MqaQueries {
  std::span<const uint8_t> bytes;  // [rows, heads, dim] in `format`, dim contiguous
  std::span<const float> weights;  // [rows, heads], heads contiguous
  int64_t rows = 0;
  int64_t heads = 0;
  int64_t dim = 0;
  int64_t row_stride = 0;     // bytes
  int64_t head_stride = 0;    // bytes, >= dim
  int64_t weight_stride = 0;  // elements, >= heads
  FloatFormat format = kFp8E4m3Fn;
};

// Keys in one matrix. Row m sees keys [starts[m], ends[m]), both read as unsigned and cut at
// `keys`.
struct RaggedMqa {
  MqaQueries queries;
  std::span<const uint8_t> key_bytes;  // [keys, dim], dim contiguous
  std::span<const float> scales;       // [keys]
  int64_t keys = 0;
  int64_t key_stride = 0;  // bytes, >= dim
  FloatFormat key_format = kFp8E4m3Fn;
  std::span<const int32_t> starts;  // [rows]
  std::span<const int32_t> ends;    // [rows]
  bool compressed = false;          // key n of row m is column n - starts[m], not n
};

// Keys in pages: a block holds block_size * dim bytes of keys, then block_size float32 scales. Row
// m is of request m / next_n and sees its first row_length() keys, through the block table. A
// position whose block is past the table's width, or is none of `blocks`, is outside the row.
struct PagedMqa {
  MqaQueries queries;
  std::span<const uint8_t> cache;  // [blocks] with block_stride
  int64_t blocks = 0;
  int64_t block_stride = 0;  // bytes, >= block_size * (dim + 4)
  FloatFormat key_format = kFp8E4m3Fn;
  BlockTable table;
  RowLengthSpec lengths;  // rows as the queries
  std::span<const int32_t> seq_lens;
};

// What a column outside its row must hold.
enum class Outside : int32_t {
  kAny,            // unclean: whatever
  kMinusInfinity,  // clean
  kUntouched,      // only columns of the row are stored
};

enum class ReluOfNaN : int32_t {
  kNaN,   // stays, as in torch
  kZero,  // fmax(x, 0)
};

struct MqaContract {
  Outside outside = Outside::kAny;
  ReluOfNaN relu_of_nan = ReluOfNaN::kNaN;
  bool empty_rows_untouched = true;  // with kAny: a row of length 0 is not written at all
  bool gaps_untouched = true;        // elements between the width and the next row
  double unit_roundoff = 0x1p-24;    // float32 to nearest; 2^-23 where the unit truncates
};

enum class WantLogit : int32_t { kNumber, kMinusInfinity, kUntouched, kAny };

struct ExpectedLogit {
  WantLogit want = WantLogit::kAny;
  // Of a number:
  double value = 0;
  double bound = 0;    // infinity: cannot be judged by the bound
  bool exact = false;  // can be judged bitwise
};

// Columns [0, width) of a row. Row lengths beyond the width are cut.
std::vector<ExpectedLogit> expected_logits(const RaggedMqa& in, const MqaContract& contract,
                                           int64_t row, int64_t width);
std::vector<ExpectedLogit> expected_logits(const PagedMqa& in, const MqaContract& contract,
                                           int64_t row, int64_t width);

struct LogitsOutput {
  std::span<const float> got;     // [rows, width] with row_stride, as the launch left it
  std::span<const float> before;  // the same elements before the launch
  int64_t width = 0;
  int64_t row_stride = 0;  // elements, >= width
};

enum class CompareLogits : int32_t { kBitwise, kBound };

struct BadLogit {
  int64_t row = 0;
  int64_t column = 0;  // >= width: in the gap behind the row
  FaultKind kind{};
  double want = 0;  // -infinity where a clean column must hold it; kGuardBroken: what was before
  double got = 0;
  double bound = 0;  // of |got - want|; 0 if exactly `want` was due
};

struct LogitsJudgement {
  FaultSet faults;
  // Ascending; of more than kBadElementsMax the first and the last halves are kept.
  std::vector<BadLogit> bad;
  int64_t bad_elements = 0;           // all of them
  std::vector<int64_t> failing_rows;  // ascending, at most kFailingRowsKept
  int64_t failing_row_count = 0;      // all of them
  int64_t numbers = 0;                // columns inside their row; 0: nothing was at stake
  int64_t unjudged = 0;               // numbers that this way of comparing cannot judge
  bool ok() const { return faults.empty() && unjudged == 0; }
};

// Kinds, where the sentinel is -infinity: never written (the bits of before, and that is wrong),
// sentinel inside (-infinity where another number is wanted), sentinel missing (another where
// -infinity is wanted), wrong value, guard broken (an element that must stay untouched was
// written).
LogitsJudgement judge_logits(const RaggedMqa& in, const MqaContract& contract,
                             const LogitsOutput& out, CompareLogits compare);
LogitsJudgement judge_logits(const PagedMqa& in, const MqaContract& contract,
                             const LogitsOutput& out, CompareLogits compare);

}  // namespace exactk::oracle
