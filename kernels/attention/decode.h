// The decode step: a block per token, head and split; with more than one split, each leaves its
// softmax in the workspace, and a second kernel joins them.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/attention/keys.h"
#include "kernels/attention/slots.h"
#include "kernels/attention/softmax.h"

namespace exactk::kernels::attention {

// Every split takes the same number of slots of each list; the last ones may find none.
struct Splits {
  int64_t count;
  int64_t main_slots;
  int64_t extra_slots;
};

// The workspace: per token, head and split the largest score, the sum and the values.
struct Partials {
  float* data;
  int64_t splits;
  int64_t dim_v;

  __host__ __device__ static int64_t elems(int64_t dim_v) { return 2 + dim_v; }
  // Of split 0 of a query row, the row counted over tokens and heads.
  __device__ float* row(int64_t row) const { return data + row * splits * elems(dim_v); }
};

template <class Traits, class Keys>
__device__ void attend_split(const Query& query, const Keys& keys, const Slots& slots,
                             int64_t split, int64_t split_slots, Tile& tile, Softmax& softmax) {
  const int64_t counted = Traits::counted(keys, slots);
  const int64_t begin = split * split_slots;
  const int64_t end = begin + split_slots < counted ? begin + split_slots : counted;
  attend<Traits>(query, {slots.data, begin, end}, keys, tile, softmax);
}

__device__ inline IndexList index_list(const exactk_kv_list& list) {
  return {list.indices, list.lens, list.indptr, list.k, list.index_stride_elems};
}

// Both lists of a query row and head, as far as they are of the split.
template <class Traits>
__device__ void attend_lists(const exactk_sparse_decode& d, const PagedKeys& main,
                             const PagedKeys& extra, const Query& query, int64_t token,
                             int64_t split, const Splits& splits, Tile& tile, Softmax& softmax) {
  const int64_t requests = (d.tokens + d.next_n - 1) / d.next_n;
  const int64_t request = Traits::request(token, d.next_n, requests);
  const Slots main_slots = slots_of<Traits>(index_list(d.main), d.variant, token, request);
  attend_split<Traits>(query, main, main_slots, split, splits.main_slots, tile, softmax);
  if (d.extra.k > 0) {
    const Slots extra_slots = slots_of<Traits>(index_list(d.extra), d.variant, token, request);
    attend_split<Traits>(query, extra, extra_slots, split, splits.extra_slots, tile, softmax);
  }
}

__device__ inline Query query_of(const exactk_sparse_decode& d, int64_t row) {
  return {d.query + row * d.dim, d.dim, d.dim_v, static_cast<float>(d.scale)};
}

template <class Traits>
__device__ Answers answers_of(const exactk_sparse_decode& d, int64_t token, int64_t head) {
  const int64_t first = Traits::stat_first(token / d.next_n, token % d.next_n, d.heads, d.next_n);
  return {d.out + token * d.out_stride_elems + head * d.dim_v,
          d.lse != nullptr ? d.lse + first : nullptr,
          d.max_score != nullptr ? d.max_score + first : nullptr,
          Traits::stat_stride(d.heads, d.next_n),
          head,
          d.heads};
}

// Grid: tokens, heads. One split.
template <class Traits>
__global__ __launch_bounds__(kThreads) void decode_rows(exactk_sparse_decode d, PagedKeys main,
                                                        PagedKeys extra, Splits splits) {
  __shared__ Tile tile;
  const int64_t token = blockIdx.x;
  const int64_t head = blockIdx.y;
  const Query query = query_of(d, token * d.heads + head);
  Softmax softmax;
  attend_lists<Traits>(d, main, extra, query, token, 0, splits, tile, softmax);
  answer<Traits>(answers_of<Traits>(d, token, head), d.sink, query, softmax);
}

// Grid: tokens, heads * splits.
template <class Traits>
__global__ __launch_bounds__(kThreads) void decode_split(exactk_sparse_decode d, PagedKeys main,
                                                         PagedKeys extra, Splits splits,
                                                         Partials partials) {
  __shared__ Tile tile;
  const int64_t token = blockIdx.x;
  const int64_t head = blockIdx.y / splits.count;
  const int64_t split = blockIdx.y % splits.count;
  const int64_t row = token * d.heads + head;
  const Query query = query_of(d, row);
  Softmax softmax;
  attend_lists<Traits>(d, main, extra, query, token, split, splits, tile, softmax);
  if (softmax.sum == 0 && !Traits::stores_empty_split()) {
    return;
  }
  float* partial = partials.row(row) + split * Partials::elems(d.dim_v);
  if (threadIdx.x == 0) {
    partial[0] = softmax.largest;
    partial[1] = softmax.sum;
  }
  for (int i = 0; i < kColumns; ++i) {
    const int64_t column = threadIdx.x + int64_t{i} * kThreads;
    if (column < d.dim_v) {
      partial[2 + column] = softmax.values[i];
    }
  }
}

// Grid: tokens, heads; after decode_split on the same stream. Each thread reads what all splits
// have for its columns; a split without entries has weight 0.
template <class Traits>
__global__ __launch_bounds__(kThreads) void join_splits(exactk_sparse_decode d, Partials partials) {
  const int64_t token = blockIdx.x;
  const int64_t head = blockIdx.y;
  const int64_t row = token * d.heads + head;
  const float* first = partials.row(row);
  Softmax softmax;
  for (int64_t split = 0; split < partials.splits; ++split) {
    softmax.largest = larger(softmax.largest, first[split * Partials::elems(d.dim_v)]);
  }
  for (int64_t split = 0; split < partials.splits; ++split) {
    const float* partial = first + split * Partials::elems(d.dim_v);
    const float factor = Traits::split_weight(partial[0], shift_of(softmax.largest));
    softmax.sum += partial[1] * factor;
    for (int i = 0; i < kColumns; ++i) {
      const int64_t column = threadIdx.x + int64_t{i} * kThreads;
      if (column < d.dim_v) {
        softmax.values[i] += partial[2 + column] * factor;
      }
    }
  }
  answer<Traits>(answers_of<Traits>(d, token, head), d.sink, query_of(d, row), softmax);
}

}  // namespace exactk::kernels::attention
