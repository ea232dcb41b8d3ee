// Judges a whole top-k answer on plain pointers: one call for a test of somebody else's kernel,
// with no device, no case and no file. It decides nothing itself; every row goes through TopkJudge.
//
// What it does not check: slots between the rows of indices, memory around the tensors, whether the
// kernel would answer the same again (`repeatable`) and what a captured graph holds
// (`kernels_only`). docs/CONTRACTS.md has the contract.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "oracle/topk_contract.h"
#include "oracle/verdict.h"

namespace exactk::oracle {

// [rows, width]: logit (r, c) is data[r * row_stride + c * column_stride], in memory of the host.
struct LogitsView {
  const float* data = nullptr;  // float16 and bfloat16 keep their order when widened to float
  int64_t rows = 0;
  int64_t width = 0;          // columns allocated; no row reaches beyond
  int64_t row_stride = 0;     // elements; 0: every row is the same memory
  int64_t column_stride = 1;  // elements, >= 1
};

// [rows, k]: slot (r, s) is data[r * row_stride + s], in memory of the host.
struct IndicesView {
  const int32_t* data = nullptr;
  int64_t k = 0;           // may exceed the width
  int64_t row_stride = 0;  // elements, >= k
  // The same slots before the launch, or null: with it a slot that was left alone is "never
  // written" instead of what it happens to hold.
  const int32_t* before = nullptr;
};

// Lengths of the rows of a decode step, as in oracle/row_length.h; negative ones count as 0.
struct DecodeRows {
  std::span<const int32_t> seq_lens;  // 1-D: [ceil(rows / next_n)], 2-D: [rows]
  int64_t next_n = 1;                 // query rows per request
  int seq_lens_dim = 1;               // 1: row length seq_len - next_n + draft + 1; 2: as given
};

// Visible columns of the rows of a prefill: [starts[r], ends[r]); an end below the start is an
// empty row.
struct PrefillRows {
  std::span<const int32_t> starts;  // [rows]
  std::span<const int32_t> ends;    // [rows]
  bool absolute = false;  // indices are columns of the logits, not relative to the row's start
};

struct AnswerJudgement {
  // kPassed; kFailed; kWeak: the contract held, but every row is empty, or there is no row or no
  // slot, so that no index was at stake; kInvalid: the arguments can't be judged.
  Verdict verdict = Verdict::kInvalid;
  int64_t rows = 0;  // judged
  int64_t failing_rows = 0;
  FaultSet faults;           // of all failing rows
  ContractModes broken = 0;  // promised modes that some row does not meet
  std::string text;          // one paragraph: the first failing rows with their bad slots and
                             // missing columns, or what can't be judged; empty if passed
  bool ok() const { return verdict == Verdict::kPassed; }  // false where nothing was at stake
};

// `promised`: kSet, kPrefix, kOrdered, kStable or several of them; others make it kInvalid, as does
// a negative size, a null pointer to elements that must be read, a vector of another size than the
// rows ask for, and a row that reaches beyond the width. k = 0 and empty rows are judged like any
// other: an empty row must hold k times -1. Logits are compared by their bits, NaN and signed zeros
// included (oracle/logit_order.h). Never throws but for want of memory; needs that of one row.
AnswerJudgement judge_topk_decode(const LogitsView& logits, const DecodeRows& rows,
                                  const IndicesView& indices, ContractModes promised = kSet);
AnswerJudgement judge_topk_prefill(const LogitsView& logits, const PrefillRows& rows,
                                   const IndicesView& indices, ContractModes promised = kSet);

}  // namespace exactk::oracle
