// The index combine of a prefill chunk: per token one row of numbers into the gathered workspace,
// first the compressed (top-k) part, then the sliding window. Sources: the public variants of
// combine_topk_swa_indices in vLLM; docs/CONTRACTS.md has the formulas and where this contract is
// stricter.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "oracle/expected.h"

namespace exactk::oracle {

enum class CombineVariant : int32_t { kCommon, kGathered, kChecked, kVision, kRagged };
std::string_view name(CombineVariant variant);

inline constexpr int64_t kCombineAlignment = 128;  // slots per row are a multiple of it

struct CombineShape {
  CombineVariant variant{};
  int64_t tokens = 0;       // rows of the tensors; those that no request covers stay untouched
  int64_t requests = 0;     // >= 1
  int64_t k = 0;            // 0: a layer with a window only
  int64_t topk_width = 0;   // >= k
  int64_t topk_stride = 0;  // elements
  int64_t window = 1;
  int64_t ratio = 1;  // 0: no compressed part
  int64_t workspace_rows = 0;
  int64_t compressed_rows = 0;
  int64_t columns = 0;     // see combine_columns
  int64_t out_stride = 0;  // elements
  int64_t max_image_tokens = 0;
};

struct CombineInputs {
  std::span<const int32_t> topk_indices;     // [tokens, topk_width] with topk_stride
  std::span<const int32_t> query_start_loc;  // [requests + 1]; element 0 is subtracted
  std::span<const int32_t> seq_lens;         // [requests]
  std::span<const int32_t> gather_lens;      // [requests]
  std::span<const int32_t> left_visible;     // [tokens], vision only
  std::span<const int32_t> right_visible;
};

// Slots per row: k + window (+ image tokens) rounded up to the alignment.
int64_t combine_columns(int64_t k, int64_t window, int64_t max_image_tokens);

// Dense variants give {indices, lens}; ragged gives {indices, indptr}, the indices in a flat list
// of tokens * (k + window) elements. An index beyond int32, which only an unchecked one can give,
// counts as the low 32 bits that the tensor holds of it.
std::vector<ExpectedTensor> expected_combine(const CombineShape& shape, const CombineInputs& in);

// How a caller cuts prefill requests into chunks and sizes the gathered workspace.
struct ChunkPlan {
  int64_t first = 0;  // requests [first, last)
  int64_t last = 0;
  int64_t compressed_rows = 0;  // N: the longest compressed sequence of the chunk's requests
  int64_t workspace_rows = 0;   // M: N plus the longest gather length
};
// `chunk_requests` per chunk, >= 1; ratio 0 or a window-only layer (k 0): N = 0.
std::vector<ChunkPlan> plan_chunks(std::span<const int64_t> seq_lens,
                                   std::span<const int64_t> gather_lens, int64_t ratio, int64_t k,
                                   int64_t chunk_requests);

}  // namespace exactk::oracle
