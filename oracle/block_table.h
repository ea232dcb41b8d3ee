// Local indices to slots of the paged cache, in all published forms. A slot is
// block_table[request][i / block_size] * block_size + i % block_size, in 64 bits. An index is
// invalid if it is negative, if its request is none of the table's, or if its block is past the
// table's logical width. Sources: compute_global_topk_indices_and_lens, its ragged and bounded
// forms, build_ragged_indices_from_dense and the C128A metadata of vLLM; docs/CONTRACTS.md has the
// contract of each variant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "oracle/expected.h"

namespace exactk::oracle {

struct BlockTable {
  std::span<const int32_t> blocks;  // [requests, columns] with `stride`; >= 0
  int64_t requests = 0;
  int64_t columns = 0;     // logical width
  int64_t stride = 0;      // elements, >= columns
  int64_t block_size = 1;  // >= 1
};

// nullopt: invalid.
std::optional<int64_t> slot_of(const BlockTable& table, int64_t request, int64_t local_index);

enum class TranslateVariant : int32_t { kPositional, kCompact, kRagged, kPack, kFlat, kCapped };
std::string_view name(TranslateVariant variant);

struct TranslateShape {
  TranslateVariant variant{};
  int64_t tokens = 0;
  int64_t k = 0;
  int64_t index_stride = 0;  // elements, >= k
  int64_t out_stride = 0;    // elements, >= k; matrices only
  int64_t ratio = 1;         // capped
  int64_t slots_bound = -1;  // pack; -1: none
};

struct TranslateInputs {
  std::span<const int32_t> indices;       // [tokens, k] with index_stride
  std::span<const int32_t> token_to_req;  // [tokens]
  std::span<const uint8_t> token_valid;   // [tokens]
  std::span<const int32_t> lengths;       // [tokens], pack
  std::span<const int32_t> cu_seqlens;    // [tokens + 1], flat
  std::span<const int32_t> positions;     // [tokens], capped
  int64_t cap = 0;                        // capped
};

// positional, compact, capped: {slots, lens}; ragged, pack: {slots, indptr}; flat: {slots}. Slots
// in a flat list have tokens * k elements; cu_seqlens ascend from 0 or above and stay within it.
std::vector<ExpectedTensor> expected_translate(const TranslateShape& shape,
                                               const TranslateInputs& in, const BlockTable& table);

}  // namespace exactk::oracle
