// What a planted fault may change. The kernels are templates over it, so that the shipped
// instantiation holds no code of any fault; mutants derive from Shipped and replace one hook.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/index/rows.h"

namespace exactk::kernels::index {

struct Shipped {
  // The descriptor as the kernels get it, by value.
  template <class Descriptor>
  static const Descriptor& adapted(const Descriptor& d) {
    return d;
  }

  // Combine: how many of the lanes of a wave have their bit set.
  __device__ static int64_t lanes_in(uint64_t ballot) { return __popcll(ballot); }
  // Combine: what is subtracted from every query start.
  __device__ static int64_t first_query(const int32_t* query_start_loc) {
    return query_start_loc[0];
  }
  // Combine: entries of the compressed part that lie at or before `position` >= 0. Both operands
  // fit 32 bits where the quotient is not 0, and that division is much faster.
  __device__ static int64_t compressed_entries(int64_t position, int64_t ratio) {
    if (ratio == 0 || ratio > position + 1) {
      return 0;
    }
    return static_cast<uint32_t>(position + 1) / static_cast<uint32_t>(ratio);
  }
  // Combine: the first position that the window may begin at, of the forms that look at it.
  __device__ static int64_t window_floor(int64_t gathered_begin) { return gathered_begin; }
  __device__ static int64_t window_length(int64_t entries) { return entries < 0 ? 0 : entries; }
  // Combine: the first workspace row of the window part's request.
  __device__ static int64_t window_base(int64_t request_base) { return request_base; }
  // Combine: one past the last slot that is written in a row with `filled` entries.
  __device__ static int64_t row_end(int64_t columns, int64_t) { return columns; }

  // Flat lists: where the first row begins, given what the workspace's last word held; and what
  // indptr holds behind a row.
  __device__ static uint32_t first_entry(const uint32_t*) { return 0; }
  __device__ static uint32_t indptr_entry(uint32_t sum, uint32_t) { return sum; }

  // Combine and window: positions by which a token that sees `visible` ones to its left sees more
  // than its window.
  __device__ static int64_t widened(int64_t visible, int64_t window) {
    return visible > window - 1 ? visible - (window - 1) : 0;
  }

  // Translate: sums over the threads of a block.
  __device__ static BlockSum sum(uint32_t* waves, uint32_t value) {
    return block_sum(waves, value);
  }
  // Translate: whether the entries of a token count.
  __device__ static bool counts(const exactk_translate& d, int64_t token) {
    return d.token_valid[token] != 0;
  }
  // Translate: the request of a token; it may be none of the table's.
  __device__ static int64_t request_of(const exactk_translate& d, int64_t token) {
    return d.token_to_req[token];
  }
  // Translate and window: the slot of place `offset` in a block.
  __device__ static int64_t slot(int32_t block, uint32_t block_size, uint32_t offset) {
    return int64_t{block} * block_size + offset;
  }
  // Positional translation: what an invalid index leaves in its slot.
  template <class Slot>
  __device__ static Slot invalid_slot(const Slot*) {
    return -1;
  }
  // Capped translation: the cap, and how many entries a token at `position` has without it.
  __device__ static int64_t cap(const exactk_translate& d) { return *d.cap; }
  __device__ static int64_t reached(int64_t position, int64_t ratio) {
    return position < 0 ? 0 : (position + 1) / ratio;
  }
  // Packing: entries of a row of `length`, which may be negative.
  __device__ static int64_t packed(int64_t length, int64_t k) {
    return length < 0 ? 0 : length < k ? length : k;
  }

  // Window: the first position of `window` ones up to `position`, moved back by `widened`.
  __device__ static int64_t window_begin(int64_t position, int64_t window, int64_t widened) {
    const int64_t begin = position - (window - 1) - widened;
    return begin < 0 ? 0 : begin;
  }
};

}  // namespace exactk::kernels::index
