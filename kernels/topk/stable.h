// Exact selection with slots in index order, by one block: what does not depend on the order in
// which threads arrive.
//
// The one-block radix search of AITER's stable top-k (topk_per_row_kernels.cu): histograms of 11
// bits of the order key until the cut is one key, then the columns from the cut on in ascending
// index, of those at the cut the first `need`. Here every wave owns a segment of adjacent columns:
// it counts them, and once it knows the counts of the waves before it, it writes its columns by
// ballots, so that one barrier orders a whole row.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/topk/select.h"
#include "kernels/topk/sources.h"

namespace exactk::kernels::topk {

inline constexpr int kWavesMax = 1024 / 32;

// Shared memory of a block of topk_stable. Nothing is valid at the start.
struct StableShared : SearchShared {
  uint32_t better[kWavesMax];   // above the cut in each wave's segment; from the barrier after
                                // counting to the end
  uint32_t members[kWavesMax];  // the same at the cut
};

// The cut of the best `want` columns, 1 <= want < columns, over all 32 bits of the key.
__device__ inline Cut full_search(SearchShared& s, const RowSource& columns, uint32_t want) {
  Cut cut{{0, 0xffffffffu}, static_cast<uint32_t>(columns.count), want};
  while (!any_member_will_do(cut)) {
    cut = refine_step(s, columns, cut);
  }
  return cut;
}

// Of the columns before some place: how many are above the cut, how many are at it.
struct Before {
  uint32_t better;
  uint32_t members;
};

// The columns [begin, end) of a wave.
struct Segment {
  int64_t begin;
  int64_t end;
};

__device__ inline Segment segment_of_wave(int64_t columns) {
  const int64_t length = (columns + blockDim.x - 1) / blockDim.x * warpSize;
  const int64_t begin = static_cast<int64_t>(threadIdx.x) / warpSize * length;
  return {begin < columns ? begin : columns, begin + length < columns ? begin + length : columns};
}

// Counts the segment and sums up the waves before. All threads of the block call it, once.
__device__ inline Before count_before(StableShared& s, const RowSource& columns, const Cut& cut,
                                      const Segment& segment) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  const int wave = static_cast<int>(threadIdx.x) / warpSize;
  Before mine{0, 0};
#pragma unroll 4
  for (int64_t i = segment.begin + lane; i < segment.end; i += warpSize) {
    const uint32_t key = columns.key(i);
    mine.better += key > cut.range.hi ? 1u : 0u;
    mine.members += key >= cut.range.lo && key <= cut.range.hi ? 1u : 0u;
  }
  const uint32_t better = wave_inclusive_sum(mine.better);
  const uint32_t members = wave_inclusive_sum(mine.members);
  if (lane == warpSize - 1) {
    s.better[wave] = better;
    s.members[wave] = members;
  }
  __syncthreads();  // all waves have counted before any sums up
  Before before{0, 0};
  for (int earlier = 0; earlier < wave; ++earlier) {
    before.better += s.better[earlier];
    before.members += s.members[earlier];
  }
  return before;
}

// Writes the columns above the cut and the first `cut.need` at it to the slots [0, want) in
// ascending index. Every lane of a wave is in the same turn of the loops. LaneMask has a bit for
// each of them.
template <class LaneMask>
__device__ void emit_in_order(StableShared& s, const RowSource& columns, const Cut& cut,
                              uint32_t want, const Sink& sink) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  const auto lower_lanes = static_cast<LaneMask>((uint64_t{1} << lane) - 1);
  const Segment segment = segment_of_wave(columns.count);
  Before before = count_before(s, columns, cut, segment);
  const int64_t step = int64_t{kLoadsInFlight} * warpSize;
  for (int64_t tile = segment.begin; tile < segment.end; tile += step) {
    uint32_t key[kLoadsInFlight];
#pragma unroll
    for (int j = 0; j < kLoadsInFlight; ++j) {
      const int64_t i = tile + j * warpSize + lane;
      key[j] = columns.key(i < segment.end ? i : tile);
    }
#pragma unroll
    for (int j = 0; j < kLoadsInFlight; ++j) {
      const int64_t i = tile + j * warpSize + lane;
      const bool wanted = i < segment.end && key[j] >= cut.range.lo;
      const auto all = static_cast<LaneMask>(__ballot(wanted));
      if (all == 0) {
        continue;
      }
      const bool is_better = wanted && key[j] > cut.range.hi;
      const auto better = static_cast<LaneMask>(__ballot(is_better));
      const uint32_t at = before.better + __popcll(better & lower_lanes);
      const uint32_t members_at = before.members + __popcll(all & ~better & lower_lanes);
      const uint32_t slot = at + (members_at < cut.need ? members_at : cut.need);
      // The last comparison is for logits that change while the kernel runs.
      if (wanted && (is_better || members_at < cut.need) && slot < want) {
        sink.put(slot, key[j], static_cast<int32_t>(columns.begin + i));
      }
      before.better += __popcll(better);
      before.members += __popcll(all & ~better);
    }
  }
}

}  // namespace exactk::kernels::topk
