// Where the columns of a row are, and where the key of a column lies: in one matrix, or in pages.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/logits/traits.h"

namespace exactk::kernels::logits {

struct KeyPlace {
  const uint8_t* bytes;  // null: the column has no key
  float scale;
};

__device__ inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

template <class Traits>
struct RaggedRows {
  using Descriptor = exactk_mqa_logits;

  __device__ static RowRange range(const Descriptor& d, int64_t row) {
    const int64_t begin = Traits::bound(d.starts[row], d.key_count);
    const int64_t end = Traits::bound(d.ends[row], d.key_count);
    const int64_t first = Traits::first_key(d, begin);
    return {begin - first, smaller(Traits::computed_end(d, end) - first, d.width),
            smaller(d.key_count - first, d.width), first};
  }

  __device__ static KeyPlace key(const Descriptor& d, int64_t, const RowRange& range,
                                 int64_t column, int64_t) {
    const int64_t key = range.first_key + column;
    if (key >= d.key_count) {
      return {nullptr, 0};
    }
    return {d.keys + key * d.key_stride_bytes, d.scales[key]};
  }
};

template <class Traits>
struct PagedRows {
  using Descriptor = exactk_mqa_logits_paged;

  __device__ static RowRange range(const Descriptor& d, int64_t row) {
    const int64_t drafts_end = (row / d.next_n + 1) * d.next_n;
    const int64_t last_draft = smaller(drafts_end, d.rows) - 1;
    const int64_t end = Traits::computed_end(d, smaller(Traits::length(d, row), d.width));
    return {0, end, smaller(Traits::length(d, last_draft), d.width), 0};
  }

  __device__ static KeyPlace key(const Descriptor& d, int64_t row, const RowRange&, int64_t column,
                                 int64_t tile) {
    const int64_t entry = Traits::table_entry(column, tile, d.block_size);
    if (entry >= d.table_blocks) {
      return {nullptr, 0};
    }
    const int32_t* table = d.block_table + row / d.next_n * d.table_stride_elems;
    const int64_t block = table[entry];
    if (block < 0 || block >= d.blocks) {
      return {nullptr, 0};
    }
    const int64_t offset = static_cast<uint32_t>(column) % static_cast<uint32_t>(d.block_size);
    const uint8_t* bytes = d.cache + block * d.block_stride_bytes;
    return {bytes + offset * d.dim, Traits::scale(d, bytes, offset, table, entry)};
  }
};

}  // namespace exactk::kernels::logits
