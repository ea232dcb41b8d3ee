// What the threads of a block do together: store a row in 16-byte pieces, and sum over themselves.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/topk/histogram.h"

namespace exactk::kernels::index {

inline constexpr int kThreadsMax = 256;
inline constexpr int kWavesMax = kThreadsMax / 32;

// Threads of a block for rows of `bytes`: one per 64 bytes, whole waves, within the limits. Small
// blocks keep many rows in flight, which hides what each row reads before its first store.
inline unsigned row_threads(int64_t bytes) {
  const int64_t wanted = (bytes + 4095) / 4096 * 64;
  return static_cast<unsigned>(wanted < 64 ? 64 : wanted < kThreadsMax ? wanted : kThreadsMax);
}

// As many slots as one store takes.
template <class Slot>
struct alignas(16) Piece {
  static constexpr int kSlots = 16 / sizeof(Slot);
  Slot slots[kSlots];
};

// row[j] = value(j) for j in [0, count): single slots up to the first 16-byte boundary and behind
// the last one, pieces between them. All threads of the block call it; each slot is one thread's.
template <class Slot, class Value>
__device__ void write_slots(Slot* row, int64_t count, const Value& value) {
  constexpr int kSlots = Piece<Slot>::kSlots;
  const uint64_t place = reinterpret_cast<uint64_t>(row) / sizeof(Slot) % kSlots;
  const int64_t lead = place == 0 ? 0 : kSlots - static_cast<int64_t>(place);
  const int64_t head = lead < count ? lead : count;
  const int64_t pieces = count > head ? (count - head) / kSlots : 0;
  for (int64_t piece = threadIdx.x; piece < pieces; piece += blockDim.x) {
    const int64_t first = head + piece * kSlots;
    Piece<Slot> out;
#pragma unroll
    for (int i = 0; i < kSlots; ++i) {
      out.slots[i] = value(first + i);
    }
    *reinterpret_cast<Piece<Slot>*>(row + first) = out;
  }
  // Fewer slots than a piece are left on each side, and a block has more threads.
  const int64_t self = threadIdx.x;
  if (self < head) {
    row[self] = value(self);
  }
  const int64_t behind = head + pieces * kSlots + self;
  if (behind < count) {
    row[behind] = value(behind);
  }
}

struct BlockSum {
  uint32_t before;  // over the threads before this one
  uint32_t all;
};

// As block_sum in waves of `lanes`; behind it `waves` is still read.
__device__ inline BlockSum sum_and_read(uint32_t* waves, uint32_t value, int lanes) {
  const uint32_t through = topk::wave_inclusive_sum(value);
  const int self = static_cast<int>(threadIdx.x);
  const int own = self / lanes;
  if (self % lanes == lanes - 1) {
    waves[own] = through;
  }
  __syncthreads();  // the sums of all waves are there before anybody reads them
  BlockSum sum{through - value, 0};
  for (int wave = 0; wave < static_cast<int>(blockDim.x) / lanes; ++wave) {
    sum.before += wave < own ? waves[wave] : 0;
    sum.all += waves[wave];
  }
  return sum;
}

// All threads of the block call it. `waves` is shared memory of kWavesMax words; it holds nothing
// before and after the call.
__device__ inline BlockSum block_sum(uint32_t* waves, uint32_t value) {
  const BlockSum sum = sum_and_read(waves, value, warpSize);
  __syncthreads();  // all have read before the next call writes
  return sum;
}

}  // namespace exactk::kernels::index
