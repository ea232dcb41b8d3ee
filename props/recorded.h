// Judges recorded tensors of a top-k selection: what a kernel was given and what it answered, as
// files, with no kernel and no device.
//
// What it does not check: slots that were never written (they hold something, which is judged), the
// memory around the output, and whether the kernel would answer the same again. Files may be larger
// than memory: a thread holds a few MiB and one row of them. Indices of 64 bits are the exception:
// 4 bytes of each slot are kept.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fixtures/case.h"
#include "oracle/topk_contract.h"
#include "props/operation.h"

namespace exactk::props {

struct RecordedFiles {
  fixtures::Op op = fixtures::Op::kTopkDecode;  // or kTopkPrefill
  std::filesystem::path logits;                 // [rows, width] float32, float16, uint16
  bool bfloat16 = false;                        // what uint16 logits are; refused for other types
  // Decode, int32: [rows / next_n], one per request; or one per row, [rows / next_n, next_n] or
  // [rows].
  std::filesystem::path seq_lens;
  int64_t next_n = 1;                          // decode: query rows per request, >= 1
  std::filesystem::path row_starts, row_ends;  // prefill, int32, [rows]
  bool absolute = false;          // prefill: indices are columns, not relative to the row's start
  std::filesystem::path indices;  // [rows, k] int32, int64
};

struct RecordedFindings {
  Findings found;
  int64_t failing_rows = 0;
  std::string what;  // "24 rows of 262145 float16 logits, k 512"
};

// Float16 and bfloat16 logits are judged as the float32 of the same value, NaN keeping sign and
// payload, so that their order is that of oracle/logit_order.h. The error is one sentence: a file
// that cannot be read, tensors that do not fit each other, a row that reaches beyond the logits.
// Throws InternalError as judge_launch() does.
fixtures::Result<RecordedFindings> judge_recorded(const RecordedFiles& files,
                                                  oracle::ContractModes promised);

// Bits of the float32 of the same value; of a NaN, sign and payload, which fills the upper bits.
uint32_t float32_of_float16(uint16_t bits);
constexpr uint32_t float32_of_bfloat16(uint16_t bits) {
  return uint32_t{bits} << 16;
}

}  // namespace exactk::props
