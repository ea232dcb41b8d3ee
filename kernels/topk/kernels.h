// The kernels of top-k: a whole row per block, the same with every radix pass and slots in index
// order, a chunk of a row per block, and the merge of the chunks' partial lists. Every branch
// around a barrier is decided by values that are equal in all threads of a block.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/topk/params.h"
#include "kernels/topk/select.h"
#include "kernels/topk/stable.h"
#include "kernels/topk/traits.h"

namespace exactk::kernels::topk {

inline constexpr int kThreadsMax = 1024;

__device__ inline SelectLimits limits_of(const TopkParams& p) {
  return {p.list_capacity, p.insertion_items};
}

__device__ inline Sink final_row(const TopkParams& p, int64_t row) {
  return {p.indices + row * p.out_stride, nullptr};
}

// The columns [begin, end) of a window, counted from its start.
template <class Traits>
__device__ RowSource columns_of(const TopkParams& p, int64_t row, const RowWindow& window,
                                int64_t begin, int64_t end) {
  return Traits::columns(
      {p.logits + Traits::row_offset(row, p.row_stride) + (window.start + begin) * p.column_stride,
       window.first_index + begin, end - begin, p.column_stride});
}

__device__ inline void report_active(const TopkParams& p, int64_t row, int64_t active) {
  if (threadIdx.x == 0 && p.active_blocks != nullptr) {
    p.active_blocks[row] = static_cast<int32_t>(active);
  }
}

// A row that is not longer than k: every column in its order, then -1. The logits are not read.
template <class Traits>
__device__ void write_identity(const TopkParams& p, int64_t row, const RowWindow& window) {
  const Sink out = final_row(p, row);
  for (int64_t slot = threadIdx.x; slot < window.length; slot += blockDim.x) {
    out.put(slot, 0, static_cast<int32_t>(window.first_index + slot));
  }
  const int64_t end = Traits::tail_end(p.k, window.length);
  for (int64_t slot = window.length + threadIdx.x; slot < end; slot += blockDim.x) {
    out.put(slot, 0, -1);
  }
}

template <class Traits, int kCapacity>
__device__ void write_whole_row(SelectShared<kCapacity>& s, const TopkParams& p, int64_t row,
                                const RowWindow& window) {
  if (window.length <= p.k) {
    write_identity<Traits>(p, row, window);
    return;
  }
  Traits::template select<Traits>(s, columns_of<Traits>(p, row, window, 0, window.length),
                                  static_cast<uint32_t>(p.k), limits_of(p), final_row(p, row));
}

// Grid: rows of the launch.
template <class Traits, int kCapacity>
__global__ __launch_bounds__(kThreadsMax) void topk_rows(TopkParams p) {
  __shared__ SelectShared<kCapacity> s;
  const int64_t row = Traits::row(p.first_row, blockIdx.x);
  Traits::enter(p.seq_lens);
  report_active(p, row, 1);
  write_whole_row<Traits>(s, p, row, Traits::window(p, row));
}

// Grid: rows.
template <class Traits>
__global__ __launch_bounds__(kThreadsMax) void topk_stable(TopkParams p) {
  __shared__ StableShared s;
  const int64_t row = blockIdx.x;
  report_active(p, row, 1);
  const RowWindow window = Traits::window(p, row);
  if (window.length <= p.k) {
    write_identity<Traits>(p, row, window);
    return;
  }
  Traits::select_stable(s, columns_of<Traits>(p, row, window, 0, window.length),
                        static_cast<uint32_t>(p.k), final_row(p, row));
}

// Grid: rows x max_blocks. Fills the partial list of the chunk: its best k columns, or all of them
// and empty entries. A row with one active block gets its final indices here.
template <class Traits, int kCapacity>
__global__ __launch_bounds__(kThreadsMax) void topk_chunks(TopkParams p,
                                                           typename Traits::FromHost from_host) {
  __shared__ SelectShared<kCapacity> s;
  const int64_t row = blockIdx.x;
  const int64_t block = blockIdx.y;
  const RowWindow window = Traits::window(p, row);
  const SplitPlan plan = Traits::split(p.policy, from_host, window.length);
  if (block == 0) {
    report_active(p, row, plan.active);
  }
  if (block >= plan.active) {
    return;
  }
  if (plan.active == 1) {
    write_whole_row<Traits>(s, p, row, {window.start, plan.length, window.first_index});
    return;
  }
  if (plan.length <= p.k) {
    return;  // the merge writes such rows by itself
  }
  const int64_t begin = block * plan.chunk;
  RowSource chunk = columns_of<Traits>(p, row, window, begin, Traits::chunk_end(plan, block));
  chunk.begin = Traits::chunk_base(chunk.begin);
  const int64_t list = (row * p.policy.max_blocks + block) * p.k;
  const Sink partial{p.partial_indices + list, p.partial_keys + list};
  if (chunk.count > p.k) {
    Traits::template select<Traits>(s, chunk, static_cast<uint32_t>(p.k), limits_of(p), partial);
    return;
  }
  chunk.for_each(
      [&](uint32_t key, int32_t index) { partial.put(index - chunk.begin, key, index); });
  const int64_t end = Traits::list_end(p.k, chunk.count);
  for (int64_t slot = chunk.count + threadIdx.x; slot < end; slot += blockDim.x) {
    partial.put(slot, Traits::kEmptyKey, -1);
  }
}

// Grid: rows, after topk_chunks on the same stream.
template <class Traits, int kCapacity>
__global__ __launch_bounds__(kThreadsMax) void topk_merge(TopkParams p,
                                                          typename Traits::FromHost from_host) {
  __shared__ SelectShared<kCapacity> s;
  const int64_t row = blockIdx.x;
  const RowWindow window = Traits::window(p, row);
  const SplitPlan plan = Traits::split(p.policy, from_host, window.length);
  if (plan.active == 1) {
    return;  // the chunk kernel wrote the final indices
  }
  if (plan.length <= p.k) {
    write_identity<Traits>(p, row, {window.start, plan.length, window.first_index});
    return;
  }
  const int64_t lists = row * Traits::lists_per_row(p.policy, plan) * p.k;
  const PartialSource<Traits> partials{p.partial_keys + lists, p.partial_indices + lists,
                                       Traits::lists_of_row(p.policy, plan) * p.k};
  Traits::template select<Traits>(s, partials, static_cast<uint32_t>(p.k), limits_of(p),
                                  final_row(p, row));
}

}  // namespace exactk::kernels::topk
