// Where a selection reads its items from, and where it puts the selected ones. for_each visits
// every item once, spread over the threads of the block; it holds no barrier and no collective.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/topk/key.h"

namespace exactk::kernels::topk {

// Loads that a thread issues before it visits their items.
inline constexpr int kLoadsInFlight = 4;

// One 16-byte load.
struct alignas(16) Quad {
  uint32_t bits[4];
};

// `count` columns of a row of logits.
struct RowSource {
  const uint32_t* first;  // of the columns
  int64_t begin;          // its index
  int64_t count;
  int64_t column_stride;

  // Of item i, 0 <= i < count.
  __device__ uint32_t key(int64_t i) const { return order_key(first[i * column_stride]); }

  template <class Visit>
  __device__ void for_each(Visit&& visit) const {
    if (column_stride == 1) {
      for_each_adjacent(visit);
    } else {
      for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        visit(order_key(first[i * column_stride]), static_cast<int32_t>(begin + i));
      }
    }
  }

 private:
  // The base need not be aligned: up to three items on either side are read one by one, the body in
  // quads. Several quads are in flight per thread, as the time of one load is much longer than that
  // of the visits.
  template <class Visit>
  __device__ void for_each_adjacent(Visit& visit) const {
    const int64_t misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(first) / 4 % 4);
    const int64_t head = misaligned == 0 ? 0 : count < 4 - misaligned ? count : 4 - misaligned;
    const int64_t quads = (count - head) / 4;
    const Quad* body = reinterpret_cast<const Quad*>(first + head);
    const int64_t stride = blockDim.x;
    for (int64_t q = threadIdx.x; q < quads; q += kLoadsInFlight * stride) {
      Quad quad[kLoadsInFlight];
#pragma unroll
      for (int i = 0; i < kLoadsInFlight; ++i) {
        quad[i] = body[q + i * stride < quads ? q + i * stride : q];
      }
#pragma unroll
      for (int i = 0; i < kLoadsInFlight; ++i) {
        if (q + i * stride < quads) {
          visit_quad(quad[i], begin + head + 4 * (q + i * stride), visit);
        }
      }
    }
    const int64_t body_end = head + 4 * quads;
    const int64_t edges = head + count - body_end;
    for (int64_t e = threadIdx.x; e < edges; e += blockDim.x) {
      const int64_t i = e < head ? e : body_end + e - head;
      visit(order_key(first[i]), static_cast<int32_t>(begin + i));
    }
  }

  template <class Visit>
  __device__ static void visit_quad(const Quad& quad, int64_t column, Visit& visit) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      visit(order_key(quad.bits[j]), static_cast<int32_t>(column + j));
    }
  }
};

// The partial lists of a row. Traits say which entries take part.
template <class Traits>
struct PartialSource {
  const uint32_t* keys;
  const int32_t* indices;
  int64_t count;

  template <class Visit>
  __device__ void for_each(Visit&& visit) const {
    const int64_t stride = blockDim.x;
    for (int64_t i = threadIdx.x; i < count; i += kLoadsInFlight * stride) {
      uint32_t key[kLoadsInFlight];
      int32_t index[kLoadsInFlight];
#pragma unroll
      for (int j = 0; j < kLoadsInFlight; ++j) {
        const int64_t at = i + j * stride < count ? i + j * stride : i;
        key[j] = keys[at];
        index[j] = indices[at];
      }
#pragma unroll
      for (int j = 0; j < kLoadsInFlight; ++j) {
        if (i + j * stride < count && Traits::takes_part(index[j])) {
          visit(key[j], index[j]);
        }
      }
    }
  }
};

// The members of the threshold bin, in shared memory.
struct ListSource {
  const uint32_t* keys;
  const int32_t* indices;
  uint32_t count;

  template <class Visit>
  __device__ void for_each(Visit&& visit) const {
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      visit(keys[i], indices[i]);
    }
  }
};

// The slots of a final row (no keys) or of a partial list.
struct Sink {
  int32_t* indices;
  uint32_t* keys;  // or null

  __device__ void put(int64_t slot, uint32_t key, int32_t index) const {
    indices[slot] = index;
    if (keys != nullptr) {
      keys[slot] = key;
    }
  }
};

}  // namespace exactk::kernels::topk
