// The logits of one row in a tile of columns, a block of threads each. Queries and keys come into
// shared memory by pieces of heads and dims; each column has a few threads, which have heads of
// their own and add up what they have in the end. No block needs another one, and the order of
// every sum is fixed.
//
// Precision: a product is exact in float32. Through dim - 1 sums it is a dot, the weight is one
// rounding more, the sum over heads, as a tree, at most heads - 1, the scale the last: dim + heads
// in all, which is below the n of the contract's bound.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/logits/rows.h"
#include "kernels/logits/tile_sizes.h"

namespace exactk::kernels::logits {

inline constexpr int kWords = kDimsStaged / 4;
inline constexpr int kKeyWords = kWords + 1;  // odd: a wave reads keys from different banks

// Shared memory of a block. From the second barrier of a piece to the first one of the next, all
// threads read `query` and `keys`.
struct Stage {
  float query[kHeadsStaged * kDimsStaged];  // [head, dim], decoded
  uint32_t keys[kTile * kKeyWords];         // [column, dim / 4], as they are
};

// Dims [dim, dim + kDimsStaged) of heads [head, head + kHeadsStaged); zeros past the last dim.
template <class Traits, class Descriptor>
__device__ void stage_query(const Descriptor& d, int64_t row, int64_t head, int64_t dim,
                            Stage& stage) {
  const int64_t heads = smaller(d.heads - head, kHeadsStaged);
  const int64_t words = smaller((d.dim - dim + 3) / 4, kWords);
  const uint8_t* query = d.queries + row * d.query_stride_bytes + head * d.head_stride_bytes + dim;
  for (int64_t i = threadIdx.x; i < heads * words; i += blockDim.x) {
    const int64_t own = i / words;
    const int64_t first = i % words * 4;
    const uint32_t word = word_at(query + own * d.head_stride_bytes + first, d.dim - dim - first);
    for (int j = 0; j < 4; ++j) {
      stage.query[own * kDimsStaged + first + j] =
          Traits::query_value(word >> (8 * j) & 0xff, d.fp8);
    }
  }
}

// The same dims of the tile's keys; zeros where a column has none.
__device__ inline void stage_keys(const uint8_t* const* keys, int64_t dims, int64_t dim,
                                  Stage& stage) {
  const int64_t words = smaller((dims - dim + 3) / 4, kWords);
  for (int64_t i = threadIdx.x; i < kTile * words; i += blockDim.x) {
    const int64_t column = i / words;
    const int64_t word = i % words;
    const uint8_t* key = keys[column];
    stage.keys[column * kKeyWords + word] =
        key == nullptr ? 0 : word_at(key + dim + word * 4, dims - dim - word * 4);
  }
}

// Adds the staged dims of the thread's key to its dots with `count` heads.
template <class Traits>
__device__ void add_products(const Stage& stage, int32_t flavour, int64_t dims, int64_t count,
                             float (&dots)[kHeadsEach]) {
  const int column = static_cast<int>(threadIdx.x) % kTile;
  const int part = static_cast<int>(threadIdx.x) / kTile;
  const float* query = stage.query + part * kHeadsEach * kDimsStaged;
  const int words = static_cast<int>(smaller((dims + 3) / 4, kWords));
  for (int word = 0; word < words; ++word) {
    const uint32_t bytes = stage.keys[column * kKeyWords + word];
    float key[4];
    for (int j = 0; j < 4; ++j) {
      key[j] = Traits::key_value(bytes >> (8 * j) & 0xff, flavour);
    }
#pragma unroll
    for (int i = 0; i < kHeadsEach; ++i) {
      if (i < count) {
        for (int j = 0; j < 4; ++j) {
          dots[i] += query[i * kDimsStaged + word * 4 + j] * key[j];
        }
      }
    }
  }
}

// The thread's share of the sum over heads, of its column. All threads of the block call it.
template <class Traits, class Descriptor>
__device__ float sum_heads(const Descriptor& d, int64_t row, const uint8_t* const* keys,
                           float scale, Stage& stage) {
  const float* weights = d.weights + row * d.weight_stride_elems;
  const int64_t heads = Traits::heads(d.heads);
  const int64_t part = threadIdx.x / kTile;
  float sum = 0;
  for (int64_t staged = 0; staged < d.heads; staged += kHeadsStaged) {
    const int64_t first = staged + part * kHeadsEach;
    float dots[kHeadsEach] = {};
    for (int64_t dim = 0; dim < d.dim; dim += kDimsStaged) {
      Traits::await_readers();
      stage_query<Traits>(d, row, staged, dim, stage);
      stage_keys(keys, d.dim, dim, stage);
      __syncthreads();  // all is staged before anybody reads it
      add_products<Traits>(stage, d.fp8, d.dim - dim, heads - first, dots);
    }
#pragma unroll
    for (int i = 0; i < kHeadsEach; ++i) {
      if (first + i < heads) {
        sum += Traits::weight(weights, first + i, d.heads) * Traits::activated(dots[i], scale);
      }
    }
  }
  return sum;
}

__device__ inline float minus_infinity() {
  return __uint_as_float(0xff800000u);
}

// -infinity in the columns of a tile that has none of the row.
__device__ inline void clean_tile(float* row, int64_t first, int64_t end) {
  const int64_t column = first + threadIdx.x;
  if (threadIdx.x < kTile && column < end) {
    row[column] = minus_infinity();
  }
}

// Grid: rows * tiles, the tiles of a row side by side. `Rows` is RaggedRows or PagedRows.
template <class Traits, class Rows>
__global__ __launch_bounds__(kThreads) void logits_tile(typename Rows::Descriptor d) {
  __shared__ Stage stage;
  __shared__ const uint8_t* keys[kTile];  // these two: written here, then read only
  __shared__ float scales[kTile];
  __shared__ float sums[kThreads];
  const int64_t tiles = (d.width + kTile - 1) / kTile;
  const int64_t row = blockIdx.x / tiles;
  const int64_t first = blockIdx.x % tiles * kTile;
  const RowRange range = Rows::range(d, row);
  const int64_t store_end = Traits::store_end(d, row);
  float* out = d.logits + row * d.out_stride_elems;
  if (range.end <= range.begin || first >= range.end || first + kTile <= range.begin) {
    if (d.outside == EXACTK_OUTSIDE_CLEAN && Traits::cleans_all_tiles()) {
      clean_tile(out, first, store_end);
    }
    return;
  }
  const int place = static_cast<int>(threadIdx.x) % kTile;
  const int64_t column = first + place;
  const bool near = d.outside == EXACTK_OUTSIDE_ANY && column < range.near_end;
  if (threadIdx.x < kTile) {
    const bool computed = range.inside(column) || near;
    const KeyPlace key = computed ? Rows::key(d, row, range, column, first) : KeyPlace{nullptr, 0};
    keys[place] = key.bytes;
    scales[place] = key.scale;
  }
  __syncthreads();  // all know where the keys are
  sums[threadIdx.x] = sum_heads<Traits>(d, row, keys, scales[place], stage);
  __syncthreads();  // the shares of all heads are there
  if (threadIdx.x >= kTile || column >= store_end) {
    return;
  }
  float sum = sums[place];
  for (int part = 1; part < kParts; ++part) {
    sum += sums[part * kTile + place];
  }
  if (keys[place] != nullptr) {
    out[column] = Traits::scaled(sum, scales[place]);
  } else if (d.outside == EXACTK_OUTSIDE_CLEAN) {
    out[column] = minus_infinity();
  }
}

}  // namespace exactk::kernels::logits
