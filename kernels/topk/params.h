// What the top-k kernels get by value. A capture freezes it; lengths, bounds and logits are read at
// every replay.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/topk/policy.h"

namespace exactk::kernels::topk {

struct TopkParams {
  const uint32_t* logits;     // bits of [rows, width]
  const int32_t* seq_lens;    // decode, else null
  const int32_t* row_starts;  // prefill, [rows], else null
  const int32_t* row_ends;    // prefill, [rows], else null
  int32_t* indices;           // out, [rows, k]
  int32_t* active_blocks;     // out, [rows], or null
  int64_t first_row;          // of the launch: block b of the grid works on row first_row + b
  int64_t next_n;
  int64_t width;
  int64_t k;
  int64_t row_stride;
  int64_t column_stride;
  int64_t out_stride;
  int32_t length_per_row;    // 1: seq_lens holds one length per row; 0: one per request
  int32_t absolute;          // 1: indices are columns; 0: they count from the start of the window
  uint32_t list_capacity;    // members of the threshold bin up to which they are listed and ranked
  uint32_t insertion_items;  // members up to which the list is ranked by comparison
  ActivePolicy policy;
  uint32_t* partial_keys;  // workspace, [rows, max_blocks, k]
  int32_t*
      partial_indices;  // workspace, [rows, max_blocks, k]; -1: an empty entry, whatever its key
};

// The columns [start, start + length) that a row may select from.
struct RowWindow {
  int64_t start;
  int64_t length;
  int64_t first_index;  // of column `start`
};

__device__ inline int64_t clamp_to(int64_t value, int64_t limit) {
  return value < 0 ? 0 : value < limit ? value : limit;
}

// Clamped to what is allocated.
__device__ inline RowWindow row_window(const TopkParams& p, int64_t row) {
  if (p.row_starts != nullptr) {
    const int64_t start = clamp_to(p.row_starts[row], p.width);
    const int64_t end = clamp_to(p.row_ends[row], p.width);
    return {start, end > start ? end - start : 0, p.absolute ? start : 0};
  }
  const int64_t length = p.length_per_row
                             ? int64_t{p.seq_lens[row]}
                             : int64_t{p.seq_lens[row / p.next_n]} - p.next_n + row % p.next_n + 1;
  return {0, clamp_to(length, p.width), 0};
}

}  // namespace exactk::kernels::topk
