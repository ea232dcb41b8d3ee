// What a planted fault may change. The kernels are templates over it, so that the shipped
// instantiation holds no code of any fault; mutants derive from Shipped and replace one hook.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/logits/fp8.h"

namespace exactk::kernels::logits {

// Columns of a row, and what lies behind its end.
struct RowRange {
  int64_t begin;
  int64_t end;        // at or below `begin`: an empty row
  int64_t near_end;   // columns below it have a key, which may be computed where all is allowed
  int64_t first_key;  // ragged: the key of column 0

  __device__ bool inside(int64_t column) const { return begin <= column && column < end; }
};

struct Shipped {
  // The descriptor as the kernels get it, by value.
  template <class Descriptor>
  static const Descriptor& adapted(const Descriptor& d) {
    return d;
  }

  // Ragged: a bound of a row, read as unsigned and cut at the number of keys.
  __device__ static int64_t bound(int32_t bound, int64_t key_count) {
    const int64_t value = static_cast<uint32_t>(bound);
    return value < key_count ? value : key_count;
  }
  // Ragged: where the row's columns begin to count.
  __device__ static int64_t first_key(const exactk_mqa_logits& d, int64_t begin) {
    return d.compressed != 0 ? begin : 0;
  }

  // Paged: the length of a row as the host gave it.
  __device__ static int64_t length(const exactk_mqa_logits_paged& d, int64_t row) {
    if (d.seq_lens_dim == 2) {
      return d.seq_lens[row];
    }
    return d.seq_lens[row / d.next_n] - d.next_n + row % d.next_n + 1;
  }
  // Paged: the entry of the block table for a column of the tile that begins at `tile`.
  __device__ static int64_t table_entry(int64_t column, int64_t, int64_t block_size) {
    return static_cast<uint32_t>(column) / static_cast<uint32_t>(block_size);
  }
  // Paged: the scale of a key in the block that begins at `block`. `table` has the block's entry.
  __device__ static float scale(const exactk_mqa_logits_paged& d, const uint8_t* block,
                                int64_t offset, const int32_t*, int64_t) {
    return reinterpret_cast<const float*>(block + d.block_size * d.dim)[offset];
  }

  // One past the last column of a row that is computed, given where the row ends.
  __device__ static int64_t computed_end(const exactk_mqa_logits&, int64_t end) { return end; }
  __device__ static int64_t computed_end(const exactk_mqa_logits_paged&, int64_t end) {
    return end;
  }
  // One past the last column that a row may store.
  template <class Descriptor>
  __device__ static int64_t store_end(const Descriptor& d, int64_t) {
    return d.width;
  }
  // Clean: whether a tile without columns of the row is cleaned.
  __device__ static bool cleans_all_tiles() { return true; }

  __device__ static float query_value(uint32_t byte, int32_t flavour) {
    return fp8_value(byte, flavour);
  }
  __device__ static float key_value(uint32_t byte, int32_t flavour) {
    return fp8_value(byte, flavour);
  }
  // The dot product of a head behind relu, which keeps NaN; and the sum over heads with the scale.
  __device__ static float activated(float dot, float) { return dot < 0 ? 0 : dot; }
  __device__ static float scaled(float sum, float scale) { return sum * scale; }
  // The weight of a head.
  __device__ static float weight(const float* weights, int64_t head, int64_t) {
    return weights[head];
  }
  // Heads whose weights are summed.
  __device__ static int64_t heads(int64_t heads) { return heads; }
  // Separates what was read of the staged numbers from the next ones.
  __device__ static void await_readers() { __syncthreads(); }
};

}  // namespace exactk::kernels::logits
