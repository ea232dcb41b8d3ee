// Counting into the shared histogram, and finding the bin in which the cut falls.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/topk/key.h"

namespace exactk::kernels::topk {

// Counts runs of one bin in a register and adds each run once: equal logits do not queue at one
// shared counter.
class RunCounter {
 public:
  __device__ explicit RunCounter(uint32_t* histogram) : histogram_(histogram) {}
  __device__ void add(uint32_t bin) {
    if (bin != bin_) {
      flush();
      bin_ = bin;
      count_ = 0;
    }
    ++count_;
  }
  // Adds the last run.
  __device__ void finish() {
    if (count_ != 0) {
      flush();
    }
  }

 private:
  // Relaxed order is enough: a barrier stands between the counts and their readers.
  __device__ void flush() { atomicAdd(histogram_ + bin_, count_); }

  uint32_t* histogram_;
  uint32_t bin_ = 0;
  uint32_t count_ = 0;
};

// Inclusive sum over the lanes of a wave. Every lane of the wave must call it.
__device__ inline uint32_t wave_inclusive_sum(uint32_t value) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  for (int offset = 1; offset < warpSize; offset *= 2) {
    const uint32_t below = __shfl_up(value, offset);
    value += lane >= offset ? below : 0;
  }
  return value;
}

// The lowest lane for which `flag` holds, or the last lane if there is none: that happens only if
// the logits change while the kernel runs, and then the search must still end.
__device__ inline int first_lane(bool flag) {
  const uint64_t lanes = __ballot(flag);
  return lanes == 0 ? warpSize - 1 : __ffsll(static_cast<unsigned long long>(lanes)) - 1;
}

struct LocatedBin {
  uint32_t bin;
  uint32_t above;    // items in better bins, below `need`
  uint32_t members;  // items in the bin; above + members reach `need`
};

// The bin in which the need-th best item lies, 1 <= need <= the sum of all counts. Every
// lane of one wave calls it and gets the same answer. Two levels: groups of adjacent bins, then the
// bins of one.
__device__ inline LocatedBin locate_bin(const uint32_t* histogram, uint32_t need) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  const int group = kBins / warpSize;  // a power of two
  uint32_t in_group = 0;
#pragma unroll 8
  for (int i = 0; i < group; ++i) {
    // Lane l has the l-th best group; starting at another bin in each lane keeps the lanes on
    // different banks.
    in_group += histogram[kBins - 1 - lane * group - ((i + lane) & (group - 1))];
  }
  const uint32_t through_group = wave_inclusive_sum(in_group);
  const int owner = first_lane(through_group >= need);
  const uint32_t above_group = __shfl(through_group - in_group, owner);

  const int top = kBins - 1 - owner * group;
  const int per_lane = group > warpSize ? group / warpSize : 1;
  const int begin = lane * per_lane < group ? lane * per_lane : group;
  const int end = begin + per_lane < group ? begin + per_lane : group;
  uint32_t mine = 0;
  for (int i = begin; i < end; ++i) {
    mine += histogram[top - i];
  }
  const uint32_t through = above_group + wave_inclusive_sum(mine);
  const int winner = first_lane(through >= need);
  const int first = winner * per_lane < group ? winner * per_lane : group - 1;
  LocatedBin at{static_cast<uint32_t>(top - first), __shfl(through - mine, winner), 0};
  at.members = histogram[at.bin];
  for (int i = 1; i < per_lane && at.above + at.members < need; ++i) {
    at.above += at.members;
    at.bin -= 1;
    at.members = histogram[at.bin];
  }
  return at;
}

}  // namespace exactk::kernels::topk
