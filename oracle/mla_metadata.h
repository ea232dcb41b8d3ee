// The metadata of sparse MLA attention, rebuilt from nothing for one step, and the judge of the
// persistent buffers that a builder keeps over steps.
//
// Source: vLLM's ROCm sparse MLA backend (DeepSeek V3.2). Every token is a sequence of its own,
// with a query of length 1 and pages of size 1. With T tokens, request r of token t, and `off` the
// place of the token in its query:
//   - len_t: min(seq_len_r - query_len_r + off + 1, k), at least 0; 0 if seq_len_r is 0
//   - req_id_per_token [tokens_max]: r of token t; 0 from T on
//   - qo_indptr [tokens_max + 1]: 0, 1, 2, ...
//   - paged_kv_last_page_len [tokens_max]: 1
//   - paged_kv_indices [tokens_max * k]: the slots of token t in [indptr[t], indptr[t + 1]), which
//     each layer writes; left open up to T * k; 0 from there on
//   - paged_kv_indptr [tokens_max + 1]: 0, then the running sum of len_t; the last sum from T on
//
// Published code clamps only at k: a request shorter than its query, but not empty, has negative
// lengths there.
//
// What it does not check: that the addresses of the buffers stay the same. Whoever captured them
// reads through the captured ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracle/block_table.h"
#include "oracle/expected.h"

namespace exactk::oracle {

struct MlaLimits {
  int64_t tokens_max = 0;  // of a step, >= 1
  int64_t k = 0;           // slots per token, >= 1
};

// One step. A padded row is a request without a sequence: seq_len 0.
struct MlaBatch {
  std::span<const int32_t> query_lens;  // [requests], >= 0
  std::span<const int32_t> seq_lens;    // [requests], >= 0
};

// What a layer writes into paged_kv_indices: the slots of these entries; an entry below 0 or behind
// the table gives slot 0.
struct MlaSlots {
  std::span<const int32_t> topk_indices;  // [T, k]
  BlockTable table;
};

// One sentence if the batch does not fit the limits, else empty. The functions below need it empty.
std::string problem_of(const MlaLimits& limits, const MlaBatch& batch);

int64_t mla_tokens(const MlaBatch& batch);                             // T
std::vector<int32_t> mla_requests(const MlaBatch& batch);              // r of each token, [T]
std::vector<int32_t> mla_lengths(const MlaBatch& batch, int64_t k);    // len_t, [T]
std::vector<int32_t> mla_kv_indptr(const MlaBatch& batch, int64_t k);  // [T + 1]

// The buffers in the order and with the names of the table above. Without `slots`, as the builder
// leaves them: the slots of all T tokens are open.
std::vector<ExpectedTensor> expected_mla_metadata(const MlaLimits& limits, const MlaBatch& batch,
                                                  const MlaSlots* slots = nullptr);

struct MlaBuffers {
  std::span<const int32_t> req_id_per_token;
  std::span<const int32_t> qo_indptr;
  std::span<const int32_t> last_page_len;
  std::span<const int32_t> kv_indices;
  std::span<const int32_t> kv_indptr;
};

struct MlaFinding {
  std::string tensor;
  TensorJudgement judgement;
  std::string why;  // one sentence
};

// Compares every element of every buffer; none: all are right. `before` is what the buffers held
// before the step, so that a stale element is told from a wrong one.
std::vector<MlaFinding> judge_mla_metadata(std::span<const ExpectedTensor> want,
                                           const MlaBuffers& got, const MlaBuffers& before);

}  // namespace exactk::oracle
