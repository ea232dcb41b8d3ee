// The softmax of one query row over the keys of an index list, by a block: a tile of entries at a
// time, with a running maximum. Each wave computes the score of an entry, a thread per entry its
// weight, and each thread sums a few columns of the values.
//
// How it rounds, for AttentionRounding in launch.h. A product of a score passes the sums of its
// lane, ceil(dim / lanes), and one per halving of the wave. A weight passes the sum over its tile,
// at most kTile of the values' sum, and one sum per later tile; with each tile everything before
// is rescaled once.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/attention/numbers.h"
#include "kernels/attention/traits.h"

namespace exactk::kernels::attention {

inline constexpr int kThreads = 128;
inline constexpr int kTile = 64;    // entries
inline constexpr int kColumns = 8;  // of the output, of one thread
inline constexpr int64_t kDimVMax = int64_t{kThreads} * kColumns;

struct Query {
  const uint16_t* data;  // [dim]
  int64_t dim;
  int64_t dim_v;
  float scale;
};

// The entries [begin, end) of a row's slots.
struct Entries {
  const int32_t* slots;
  int64_t begin;
  int64_t end;
};

// Shared by the block from one tile_done() to the next. `index` is -1 where there is no entry.
struct Tile {
  int32_t index[kTile];
  float score[kTile];
  float weight[kTile];
};

// Of the entries so far; largest and sum are the same in all threads, values are of the thread's
// columns threadIdx.x + i * kThreads. Weights are exp(score - largest).
struct Softmax {
  float largest = -kInfinity;
  float sum = 0;
  float values[kColumns] = {};
};

// A NaN is larger than nothing.
__device__ inline float larger(float a, float b) {
  return a < b ? b : a;
}

// Scores of -infinity alone leave no number to subtract.
__device__ inline float shift_of(float largest) {
  return largest == -kInfinity ? 0 : largest;
}

// All lanes of a wave get the result.
template <class Traits>
__device__ float wave_sum(float value) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  for (int offset = Traits::lanes() / 2; offset > 0; offset /= 2) {
    value += __shfl(value, lane ^ offset);
  }
  return value;
}
__device__ inline float wave_max(float value) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  for (int offset = warpSize / 2; offset > 0; offset /= 2) {
    value = larger(value, __shfl(value, lane ^ offset));
  }
  return value;
}

template <class Traits, class Keys>
__device__ void load_indices(const Entries& entries, int64_t first, const Keys& keys, Tile& tile) {
  for (int64_t at = threadIdx.x; at < kTile; at += kThreads) {
    const int64_t slot = first + at;
    const int32_t index = slot < entries.end ? entries.slots[Traits::slot(slot)] : -1;
    tile.index[at] = keys.template holds<Traits>(index) ? index : -1;
  }
}

// One entry per wave and turn.
template <class Traits, class Keys>
__device__ void score(const Query& query, const Keys& keys, Tile& tile) {
  const int wave = static_cast<int>(threadIdx.x) / warpSize;
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  for (int at = wave; at < kTile; at += kThreads / warpSize) {
    const int32_t index = tile.index[at];
    float dot = 0;
    if (index >= 0) {
      const typename Keys::Key key = keys.at(index);
      for (int64_t column = lane; column < query.dim; column += warpSize) {
        dot += bf16_value(query.data[column]) * keys.template value<Traits>(key, column);
      }
      dot = wave_sum<Traits>(dot);
    }
    if (lane == 0) {
      tile.score[at] = index >= 0 ? dot * Traits::scale(query.scale) : -kInfinity;
    }
  }
}

// The largest score of all tiles so far. Each wave looks at the whole tile.
__device__ inline float largest_score(const Tile& tile, float before) {
  float largest = before;
  for (int at = static_cast<int>(threadIdx.x) % warpSize; at < kTile; at += warpSize) {
    largest = larger(largest, tile.score[at]);
  }
  return wave_max(largest);
}

template <class Traits>
__device__ void weigh(float largest, Tile& tile) {
  for (int at = static_cast<int>(threadIdx.x); at < kTile; at += kThreads) {
    const bool counts = tile.index[at] >= 0 && Traits::counts(tile.index, at);
    tile.weight[at] = counts ? expf(tile.score[at] - shift_of(largest)) : 0;
  }
}

template <class Traits, class Keys>
__device__ float sum_weights(const Tile& tile) {
  float sum = 0;
  for (int at = static_cast<int>(threadIdx.x) % warpSize; at < kTile; at += warpSize) {
    const float weight = tile.weight[at];
    sum += Traits::summed(weight, Keys::kRoundsWeights ? rounded_to_bf16(weight) : weight);
  }
  return wave_sum<Shipped>(sum);
}

// values = values * factor + what the tile adds.
template <class Traits, class Keys>
__device__ void add_values(const Query& query, const Keys& keys, const Tile& tile, float factor,
                           Softmax& softmax) {
  float added[kColumns] = {};
  for (int at = 0; at < kTile; ++at) {
    const int32_t index = tile.index[at];
    if (index < 0) {
      continue;
    }
    const typename Keys::Key key = keys.at(index);
    const float weight = Keys::kRoundsWeights ? rounded_to_bf16(tile.weight[at]) : tile.weight[at];
    for (int i = 0; i < kColumns; ++i) {
      const int64_t column = threadIdx.x + int64_t{i} * kThreads;
      if (column < query.dim_v) {
        added[i] += weight * keys.template value<Traits>(
                                 key, Traits::value_column(column, query.dim, query.dim_v));
      }
    }
  }
  for (int i = 0; i < kColumns; ++i) {
    softmax.values[i] = softmax.values[i] * factor + added[i];
  }
}

// All threads of the block call it.
template <class Traits, class Keys>
__device__ void attend(const Query& query, const Entries& entries, const Keys& keys, Tile& tile,
                       Softmax& softmax) {
  for (int64_t first = entries.begin; first < entries.end; first += kTile) {
    load_indices<Traits>(entries, first, keys, tile);
    __syncthreads();  // all indices are there before a wave takes one
    score<Traits>(query, keys, tile);
    __syncthreads();  // all scores are there before a wave looks at them
    const float largest = largest_score(tile, softmax.largest);
    const float factor = Traits::rescaled(softmax.largest, shift_of(largest));
    weigh<Traits>(largest, tile);
    __syncthreads();  // all weights are there before anybody sums them
    softmax.sum = softmax.sum * factor + sum_weights<Traits, Keys>(tile);
    softmax.largest = largest;
    add_values<Traits>(query, keys, tile, factor, softmax);
    Traits::tile_done();  // nobody reads the tile any more
  }
}

// Where a query row and head has its answers; lse and largest scores are of the query row, for all
// heads, and null where they are not wanted.
struct Answers {
  uint16_t* out;  // [dim_v]
  float* lse;
  float* max_score;
  int64_t stat_stride;  // between heads
  int64_t head;
  int64_t heads;
};

// `sink`: of all heads, or null. All threads of the block call it.
template <class Traits>
__device__ void answer(const Answers& at, const float* sinks, const Query& query,
                       const Softmax& softmax) {
  const bool empty = Traits::empty(softmax.sum);
  const float sink =
      sinks != nullptr ? Traits::sink(sinks[Traits::sink_head(at.head)], query.scale) : -kInfinity;
  const float shift = larger(softmax.largest, sink);
  const float factor = expf(softmax.largest - shift);
  // An infinite sink is as large as itself.
  const float all = softmax.sum * factor + (sink == shift ? 1 : expf(sink - shift));
  for (int i = 0; i < kColumns; ++i) {
    const int64_t column = threadIdx.x + int64_t{i} * kThreads;
    if (column < query.dim_v) {
      at.out[column] = bf16_of(empty ? 0 : Traits::quotient(softmax.values[i] * factor, all));
    }
  }
  if (threadIdx.x != 0) {
    return;
  }
  if (at.lse != nullptr) {
    at.lse[at.head * at.stat_stride] =
        softmax.sum == 0 ? Traits::empty_lse() : Traits::lse(softmax.largest, softmax.sum, sink);
  }
  if (at.max_score != nullptr) {
    Traits::store_max(at.max_score, at.head, at.stat_stride, at.heads, softmax.largest);
  }
}

}  // namespace exactk::kernels::attention
