// The index translation, a block per token in every form. `Slot` is int32_t or int64_t; slots are
// computed in 64 bits.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/index/rows.h"
#include "kernels/index/scan.h"
#include "kernels/index/table.h"
#include "kernels/index/traits.h"

namespace exactk::kernels::index {

// What a row reads: the local indices of a token and the table of its request.
struct LocalRow {
  const int32_t* indices;
  TableRow table;
  template <class Traits>
  __device__ int64_t slot(int64_t j) const {
    return slot_at<Traits>(table, indices[j]);
  }
};

template <class Traits>
__device__ LocalRow local_row(const exactk_translate& d, int64_t token) {
  return {d.indices + token * d.index_stride_elems, table_row(d, Traits::request_of(d, token))};
}

template <class Slot>
__device__ Slot* matrix_row(const exactk_translate& d, int64_t token) {
  return static_cast<Slot*>(d.slots) + token * d.out_stride_elems;
}

// `count` for a valid token, else 0.
template <class Traits>
__device__ uint32_t if_valid(const exactk_translate& d, int64_t token, uint32_t count) {
  return Traits::counts(d, token) ? count : 0;
}

// Grid: tokens.
template <class Traits, class Slot>
__global__ __launch_bounds__(kThreadsMax) void translate_positional(exactk_translate d) {
  __shared__ uint32_t waves[kWavesMax];
  const int64_t token = blockIdx.x;
  const LocalRow local = local_row<Traits>(d, token);
  Slot* row = matrix_row<Slot>(d, token);
  uint32_t found = 0;
  write_slots(row, d.k, [&](int64_t j) {
    const int64_t slot = local.slot<Traits>(j);
    found += slot != -1 ? 1 : 0;
    return slot != -1 ? static_cast<Slot>(slot) : Traits::invalid_slot(row + j);
  });
  const BlockSum sum = Traits::sum(waves, found);
  if (threadIdx.x == 0) {
    d.lens[token] = static_cast<int32_t>(if_valid<Traits>(d, token, sum.all));
  }
}

// Grid: tokens. A thread takes adjacent indices, so that the order of the threads is the order of
// the row.
template <class Traits, class Slot>
__global__ __launch_bounds__(kThreadsMax) void translate_compact(exactk_translate d) {
  constexpr int kEach = 4;
  __shared__ uint32_t waves[kWavesMax];
  const int64_t token = blockIdx.x;
  const LocalRow local = local_row<Traits>(d, token);
  Slot* row = matrix_row<Slot>(d, token);
  uint32_t taken = 0;
  for (int64_t begin = 0; begin < d.k; begin += int64_t{blockDim.x} * kEach) {
    const int64_t first = begin + int64_t{threadIdx.x} * kEach;
    int64_t slots[kEach];
    uint32_t found = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      slots[i] = first + i < d.k ? local.slot<Traits>(first + i) : -1;
      found += slots[i] != -1 ? 1 : 0;
    }
    const BlockSum sum = Traits::sum(waves, found);
    Slot* next = row + taken + sum.before;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (slots[i] != -1) {
        *next++ = static_cast<Slot>(slots[i]);
      }
    }
    taken += sum.all;
  }
  write_slots(row + taken, d.k - taken, [](int64_t) { return Slot{-1}; });
  if (threadIdx.x == 0) {
    d.lens[token] = static_cast<int32_t>(if_valid<Traits>(d, token, taken));
  }
}

// Grid: tokens. Only the first cap slots of a row belong to the step.
template <class Traits, class Slot>
__global__ __launch_bounds__(kThreadsMax) void translate_capped(exactk_translate d) {
  const int64_t token = blockIdx.x;
  const TableRow table = table_row(d, Traits::request_of(d, token));
  const int64_t position = d.positions[token];
  const int64_t cap = Traits::cap(d);
  const int64_t reached = Traits::reached(position, d.ratio);
  const int64_t count = reached < cap ? reached : cap;
  write_slots(matrix_row<Slot>(d, token), cap, [&](int64_t j) {
    return static_cast<Slot>(j < count ? slot_at<Traits>(table, j) : -1);
  });
  if (threadIdx.x == 0) {
    d.lens[token] = static_cast<int32_t>(if_valid<Traits>(d, token, static_cast<uint32_t>(count)));
  }
}

// Grid: tokens. An invalid index becomes slot 0, which is a real slot: so it was published.
template <class Traits, class Slot>
__global__ __launch_bounds__(kThreadsMax) void translate_flat(exactk_translate d) {
  const int64_t token = blockIdx.x;
  const LocalRow local = local_row<Traits>(d, token);
  const int64_t begin = d.cu_seqlens[token];
  const int64_t wanted = d.cu_seqlens[token + 1] - begin;
  write_slots(static_cast<Slot*>(d.slots) + begin, wanted < d.k ? wanted : d.k, [&](int64_t j) {
    const int64_t slot = local.slot<Traits>(j);
    return static_cast<Slot>(slot != -1 ? slot : 0);
  });
}

// Grid: tokens. Entries of each row of the ragged form, for RaggedLengths.
template <class Traits>
__global__ __launch_bounds__(kThreadsMax) void count_valid(exactk_translate d, FlatRows rows) {
  __shared__ uint32_t waves[kWavesMax];
  const int64_t token = blockIdx.x;
  const LocalRow local = local_row<Traits>(d, token);
  uint32_t found = 0;
  for (int64_t j = threadIdx.x; j < d.k; j += blockDim.x) {
    found += local.slot<Traits>(j) != -1 ? 1 : 0;
  }
  const BlockSum sum = Traits::sum(waves, found);
  if (threadIdx.x == 0) {
    rows.before[token] = if_valid<Traits>(d, token, sum.all);
  }
}

struct RaggedLengths {
  const uint32_t* counts;  // [tokens]
  __device__ uint32_t operator()(int64_t token) const { return counts[token]; }
};

// Grid: tokens, after the scan. The first positions of the row, whatever they are.
template <class Traits, class Slot>
__global__ __launch_bounds__(kThreadsMax) void translate_ragged(exactk_translate d, FlatRows rows) {
  const int64_t token = blockIdx.x;
  if (threadIdx.x == 0) {
    write_indptr<Traits>(rows, token, d.indptr);
  }
  const LocalRow local = local_row<Traits>(d, token);
  const int64_t begin = rows.begin(token);
  write_slots(static_cast<Slot*>(d.slots) + begin, rows.begin(token + 1) - begin,
              [&](int64_t j) { return static_cast<Slot>(local.slot<Traits>(j)); });
}

template <class Traits>
struct PackLengths {
  const int32_t* lengths;  // [tokens]
  int64_t k;
  __device__ uint32_t operator()(int64_t token) const {
    return static_cast<uint32_t>(Traits::packed(lengths[token], k));
  }
};

// Grid: tokens, after the scan.
template <class Traits, class Slot>
__global__ __launch_bounds__(kThreadsMax) void pack_rows(exactk_translate d, FlatRows rows) {
  const int64_t token = blockIdx.x;
  if (threadIdx.x == 0) {
    write_indptr<Traits>(rows, token, d.indptr);
  }
  const int32_t* indices = d.indices + token * d.index_stride_elems;
  const int64_t begin = rows.begin(token);
  write_slots(static_cast<Slot*>(d.slots) + begin, rows.begin(token + 1) - begin, [&](int64_t j) {
    const int64_t value = indices[j];
    const bool inside = value >= 0 && value < d.slots_bound;
    return static_cast<Slot>(d.slots_bound < 0 || inside ? value : -1);
  });
}

}  // namespace exactk::kernels::index
