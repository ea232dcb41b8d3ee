// The block table of the paged cache: from a local index or position to its slot.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

namespace exactk::kernels::index {

// One request's row; without columns if the request is none of the table's.
struct TableRow {
  const int32_t* blocks;
  int64_t columns;
  uint32_t block_size;
};

template <class Descriptor>
__device__ TableRow table_row(const Descriptor& d, int64_t request) {
  const auto block_size = static_cast<uint32_t>(d.block_size);
  if (request < 0 || request >= d.requests) {
    return {nullptr, 0, block_size};
  }
  return {d.block_table + request * d.table_stride_elems, d.table_blocks, block_size};
}

// -1: `local` is negative or past the table's columns. It is below 2^32, and 32-bit division is
// much faster.
template <class Traits>
__device__ int64_t slot_at(const TableRow& row, int64_t local) {
  if (local < 0) {
    return -1;
  }
  const auto place = static_cast<uint32_t>(local);
  const uint32_t block = place / row.block_size;
  if (block >= row.columns) {
    return -1;
  }
  return Traits::slot(row.blocks[block], row.block_size, place - block * row.block_size);
}

}  // namespace exactk::kernels::index
