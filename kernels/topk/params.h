// What the decode top-k kernels get by value. A capture freezes it; lengths and logits are read at
// every replay.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/topk/policy.h"

namespace exactk::kernels::topk {

struct TopkParams {
  const uint32_t* logits;  // bits of [rows, width]
  const int32_t* seq_lens;
  int32_t* indices;        // out, [rows, k]
  int32_t* active_blocks;  // out, [rows], or null
  int64_t next_n;
  int64_t width;
  int64_t k;
  int64_t row_stride;
  int64_t column_stride;
  int64_t out_stride;
  int32_t length_per_row;    // 1: seq_lens holds one length per row; 0: one per request
  uint32_t list_capacity;    // members of the threshold bin up to which they are listed and ranked
  uint32_t insertion_items;  // members up to which the list is ranked by comparison
  ActivePolicy policy;
  uint32_t* partial_keys;  // workspace, [rows, max_blocks, k]
  int32_t*
      partial_indices;  // workspace, [rows, max_blocks, k]; -1: an empty entry, whatever its key
};

// Columns that a row may select from, clamped to what is allocated.
__device__ inline int64_t row_length(const TopkParams& p, int64_t row) {
  const int64_t length = p.length_per_row
                             ? int64_t{p.seq_lens[row]}
                             : int64_t{p.seq_lens[row / p.next_n]} - p.next_n + row % p.next_n + 1;
  return length < 0 ? 0 : length < p.width ? length : p.width;
}

}  // namespace exactk::kernels::topk
