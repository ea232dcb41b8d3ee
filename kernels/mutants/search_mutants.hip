#include "kernels/device/portable.h"

#include "kernels/mutants/topk_mutants.h"

#include "kernels/topk/launch.h"

namespace exactk::kernels::planted {
namespace {

using topk::Cut;
using topk::Method;
using topk::SelectLimits;
using topk::SelectShared;
using topk::Sink;

// The items of a source as `Change` makes them.
template <class Source, class Change>
struct Changed {
  Source source;
  template <class Visit>
  __device__ void for_each(Visit&& visit) const {
    source.for_each(
        [&](uint32_t key, int32_t index) { visit(Change::key(key), Change::index(index)); });
  }
};

struct NoChange {
  __device__ static uint32_t key(uint32_t key) { return key; }
  __device__ static int32_t index(int32_t index) { return index; }
};

template <class Change>
struct SelectsChanged : topk::Shipped {
  template <class Self, int kCapacity, class Source>
  __device__ static void select(SelectShared<kCapacity>& s, const Source& source, uint32_t want,
                                const SelectLimits& limits, const Sink& sink) {
    topk::select_best<Self>(s, Changed<Source, Change>{source}, want, limits, sink);
  }
};

// As rank_list, of only as many members as there is room for.
__device__ Cut as_far_as(const Cut& cut, uint32_t room) {
  return {cut.range, cut.members < room ? cut.members : room, cut.need < room ? cut.need : room};
}

// F01: members are listed while there is room, and the search goes no further.
struct RoomInListAlone : topk::Shipped {
  template <class, int kCapacity, class Source>
  __device__ static void select(SelectShared<kCapacity>& s, const Source& source, uint32_t want,
                                const SelectLimits& limits, const Sink& sink) {
    const Cut cut = topk::coarse_step(s, source, want);
    const uint32_t better = want - cut.need;
    const Cut listed = as_far_as(cut, limits.list_capacity);
    topk::gather(s, source, listed, better, sink);
    __syncthreads();  // the list is as complete as it gets before it is ranked
    topk::rank_list(s, listed, better, sink);
  }
};
struct CandidatesDropped : topk::DecodeKernel {
  using Traits = RoomInListAlone;
  static constexpr const char* kName = "mutant.candidates_dropped";
  static constexpr Method kMethod = Method::kBlock;
};
struct SplitCandidatesDropped : topk::DecodeKernel {
  using Traits = RoomInListAlone;
  static constexpr const char* kName = "mutant.split_candidates_dropped";
  static constexpr Method kMethod = Method::kK512;
};

// F01: ties are handed out from a list as long as that of the members.
struct TiesDropped : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    template <class, int kCapacity, class Source>
    __device__ static void select(SelectShared<kCapacity>& s, const Source& source, uint32_t want,
                                  const SelectLimits& limits, const Sink& sink) {
      Cut cut = topk::coarse_step(s, source, want);
      while (!topk::any_member_will_do(cut)) {
        cut = topk::refine_step(s, source, cut);
      }
      topk::emit(source, as_far_as(cut, limits.list_capacity), 0, want - cut.need, &s.better,
                 &s.members, sink);
    }
  };
  static constexpr const char* kName = "mutant.ties_dropped";
  static constexpr Method kMethod = Method::kBlock;
};

// F02: members that differ in the last ten bits alone count as equal.
struct LastPassSkipped : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    template <class, int kCapacity, class Source>
    __device__ static void select(SelectShared<kCapacity>& s, const Source& source, uint32_t want,
                                  const SelectLimits&, const Sink& sink) {
      Cut cut = topk::coarse_step(s, source, want);
      while (!topk::any_member_will_do(cut) && cut.range.hi - cut.range.lo >= 1u << 10) {
        cut = topk::refine_step(s, source, cut);
      }
      topk::emit(source, cut, 0, want - cut.need, &s.better, &s.members, sink);
    }
  };
  static constexpr const char* kName = "mutant.last_pass_skipped";
  static constexpr Method kMethod = Method::kBlock;
};

// F02: keys have 16 bits.
struct KeyOf16Bits : topk::DecodeKernel {
  struct UpperHalf : NoChange {
    __device__ static uint32_t key(uint32_t key) { return key & 0xffff0000u; }
  };
  using Traits = SelectsChanged<UpperHalf>;
  static constexpr const char* kName = "mutant.key_of_16_bits";
  static constexpr Method kMethod = Method::kBlock;
};

// F03: a NaN loses to every number, whatever its sign.
struct NanLoses : topk::DecodeKernel {
  struct Lowest : NoChange {
    __device__ static uint32_t key(uint32_t key) {
      constexpr uint32_t kInfKey = 0xff800000u;
      return key > kInfKey ? 0 : key;
    }
  };
  using Traits = SelectsChanged<Lowest>;
  static constexpr const char* kName = "mutant.nan_loses";
  static constexpr Method kMethod = Method::kBlock;
};

__device__ inline float logit_of(uint32_t key) {
  return __uint_as_float((key & 0x80000000u) != 0 ? key ^ 0x80000000u : ~key);
}

// F03: members are ranked as floats. Nothing is above a NaN and no NaN equals another one, so that
// all of them want the first rank.
struct NanHasFirstRank : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    template <int kCapacity>
    __device__ static void rank(const SelectShared<kCapacity>& s, const Cut& cut,
                                int64_t first_slot, const Sink& sink) {
      for (uint32_t i = threadIdx.x; i < cut.members; i += blockDim.x) {
        const float mine = logit_of(s.list_keys[i]);
        uint32_t rank = 0;
        for (uint32_t j = 0; j < cut.members; ++j) {
          const float other = logit_of(s.list_keys[j]);
          rank += other > mine || (other == mine && j < i) ? 1 : 0;
        }
        if (rank < cut.need) {
          sink.put(first_slot + rank, s.list_keys[i], s.list_indices[i]);
        }
      }
    }
  };
  static constexpr const char* kName = "mutant.nan_has_first_rank";
  static constexpr Method kMethod = Method::kBlock;
};

// F04: after the selection, a column that holds -inf is taken for a slot without one.
struct MinusInfDropped : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    template <class Self, int kCapacity>
    __device__ static void select(SelectShared<kCapacity>& s, const topk::RowSource& columns,
                                  uint32_t want, const SelectLimits& limits, const Sink& sink) {
      topk::select_best<Self>(s, columns, want, limits, sink);
      __syncthreads();  // every slot is written before it is read
      for (uint32_t slot = threadIdx.x; slot < want; slot += blockDim.x) {
        if (columns.key(sink.indices[slot] - columns.begin) == topk::kMinusInfKey) {
          sink.put(slot, 0, -1);
        }
      }
    }
  };
  static constexpr const char* kName = "mutant.minus_inf_dropped";
  static constexpr Method kMethod = Method::kBlock;
};

// F06: indices have 16 bits.
struct IndexIn16Bits : topk::DecodeKernel {
  struct LowerHalf : NoChange {
    __device__ static int32_t index(int32_t index) { return static_cast<uint16_t>(index); }
  };
  using Traits = SelectsChanged<LowerHalf>;
  static constexpr const char* kName = "mutant.index_in_16_bits";
  static constexpr Method kMethod = Method::kBlock;
};

// F11: a step clears the histogram for the next one while its first wave still reads the counts. A
// block of one wave does not notice.
struct ClearedWhileRead : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static void select_stable(topk::StableShared& s, const topk::RowSource& columns,
                                         uint32_t want, const Sink& sink) {
      Cut cut{{0, 0xffffffffu}, static_cast<uint32_t>(columns.count), want};
      topk::clear_histogram(s);
      __syncthreads();  // the histogram is cleared before anybody counts
      while (!topk::any_member_will_do(cut)) {
        const int shift = topk::refine_shift(cut);
        topk::count_members(s, columns, cut, shift);
        __syncthreads();  // all counts are in before the first wave reads them
        topk::choose_bin(s, cut, shift);
        topk::clear_histogram(s);
        __syncthreads();  // the cut is written before all read it
        cut = s.cut;
      }
      topk::emit_in_order<uint64_t>(s, columns, cut, want, sink);
    }
  };
  static constexpr const char* kName = "mutant.cleared_while_read";
  static constexpr Method kMethod = Method::kFullRadix;
  static constexpr uint32_t kModes = topk::kStableModes;
};

// F11: the first wave clears the histogram for all, and a barrier of the wave stands where one of
// the block is needed. In order the first wave is ahead of all others.
struct ClearedByFirstWave : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static void select_stable(topk::StableShared& s, const topk::RowSource& columns,
                                         uint32_t want, const Sink& sink) {
      Cut cut{{0, 0xffffffffu}, static_cast<uint32_t>(columns.count), want};
      const int shift = topk::refine_shift(cut);
      const int self = static_cast<int>(threadIdx.x);
      for (int bin = self; self < warpSize && bin < topk::kBins; bin += warpSize) {
        s.histogram[bin] = 0;
      }
      __syncwarp();
      topk::count_members(s, columns, cut, shift);
      __syncthreads();  // all counts are in before the first wave reads them
      topk::choose_bin(s, cut, shift);
      __syncthreads();  // the cut is written before all read it
      cut = s.cut;
      while (!topk::any_member_will_do(cut)) {
        cut = topk::refine_step(s, columns, cut);
      }
      topk::emit_in_order<uint64_t>(s, columns, cut, want, sink);
    }
  };
  static constexpr const char* kName = "mutant.cleared_by_first_wave";
  static constexpr Method kMethod = Method::kFullRadix;
  static constexpr uint32_t kModes = topk::kStableModes;
};

// F11: the list is ranked while others still add to it.
struct RankedBeforeListed : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    template <class, int kCapacity, class Source>
    __device__ static void select(SelectShared<kCapacity>& s, const Source& source, uint32_t want,
                                  const SelectLimits& limits, const Sink& sink) {
      Cut cut = topk::coarse_step(s, source, want);
      while (cut.members > limits.list_capacity && !topk::any_member_will_do(cut)) {
        cut = topk::refine_step(s, source, cut);
      }
      const Cut listed = as_far_as(cut, limits.list_capacity);
      topk::gather(s, source, listed, want - cut.need, sink);
      topk::rank_list(s, listed, want - cut.need, sink);
    }
  };
  static constexpr const char* kName = "mutant.ranked_before_listed";
  static constexpr Method kMethod = Method::kBlock;
};

// F17: a ballot is kept in 32 bits, so that the upper half of a wave of 64 lanes counts for
// nothing.
struct BallotIn32Bits : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static void select_stable(topk::StableShared& s, const topk::RowSource& columns,
                                         uint32_t want, const Sink& sink) {
      topk::emit_in_order<uint32_t>(s, columns, topk::full_search(s, columns, want), want, sink);
    }
  };
  static constexpr const char* kName = "mutant.ballot_in_32_bits";
  static constexpr Method kMethod = Method::kFullRadix;
  static constexpr uint32_t kModes = topk::kStableModes;
};

// F18: every thread ranks one member; there may be more members than threads.
struct OneMemberPerThread : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    template <int kCapacity>
    __device__ static void rank(const SelectShared<kCapacity>& s, const Cut& cut,
                                int64_t first_slot, const Sink& sink) {
      if (threadIdx.x < cut.members) {
        topk::rank_entry(s, cut, threadIdx.x, first_slot, sink);
      }
    }
  };
  static constexpr const char* kName = "mutant.one_member_per_thread";
  static constexpr Method kMethod = Method::kBlock;
};

// F24: a first exchange orders neighbours in the list, and leaves their indices where they were.
struct KeysExchangedAlone : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    template <int kCapacity>
    __device__ static void rank(SelectShared<kCapacity>& s, const Cut& cut, int64_t first_slot,
                                const Sink& sink) {
      for (uint32_t i = 2 * threadIdx.x; i + 1 < cut.members; i += 2 * blockDim.x) {
        const uint32_t key = s.list_keys[i];
        if (key < s.list_keys[i + 1]) {
          s.list_keys[i] = s.list_keys[i + 1];
          s.list_keys[i + 1] = key;
        }
      }
      __syncthreads();  // neighbours are in order before all are ranked
      topk::rank_list(s, cut, first_slot, sink);
    }
  };
  static constexpr const char* kName = "mutant.keys_exchanged_alone";
  static constexpr Method kMethod = Method::kBlock;
};

// F25: -0 is taken to equal +0, which is better by the order of bits.
struct ZerosTie : topk::DecodeKernel {
  struct OneZero : NoChange {
    __device__ static uint32_t key(uint32_t key) { return key == 0x7fffffffu ? 0x80000000u : key; }
  };
  using Traits = SelectsChanged<OneZero>;
  static constexpr const char* kName = "mutant.zeros_tie";
  static constexpr Method kMethod = Method::kBlock;
};

const exactk_kernel kCandidatesDropped = topk::describe<CandidatesDropped>(
    "topk.block that lists what its list has room for, and ranks that.");
const exactk_kernel kSplitCandidatesDropped = topk::describe<SplitCandidatesDropped>(
    "topk.k512 that lists what its list has room for, and ranks that.");
const exactk_kernel kTiesDropped =
    topk::describe<TiesDropped>("topk.block that selects no more ties than its list has room for.");
const exactk_kernel kLastPassSkipped = topk::describe<LastPassSkipped>(
    "topk.block that does not look at the last ten bits of a logit.");
const exactk_kernel kKeyOf16Bits =
    topk::describe<KeyOf16Bits>("topk.block that compares the upper 16 bits of a logit.");
const exactk_kernel kNanLoses =
    topk::describe<NanLoses>("topk.block in which a NaN loses to every number.");
const exactk_kernel kNanHasFirstRank = topk::describe<NanHasFirstRank>(
    "topk.block that ranks by comparing floats, which NaN do not answer.");
const exactk_kernel kMinusInfDropped = topk::describe<MinusInfDropped>(
    "topk.block that returns -1 for a selected column that holds -inf.");
const exactk_kernel kIndexIn16Bits =
    topk::describe<IndexIn16Bits>("topk.block that keeps indices in 16 bits.");
const exactk_kernel kClearedWhileRead = topk::describe<ClearedWhileRead>(
    "topk.stable that clears the histogram while its first wave may still read it.");
const exactk_kernel kClearedByFirstWave = topk::describe<ClearedByFirstWave>(
    "topk.stable without the barrier between clearing the first histogram and counting.");
const exactk_kernel kRankedBeforeListed = topk::describe<RankedBeforeListed>(
    "topk.block without the barrier between listing and ranking.");
const exactk_kernel kBallotIn32Bits =
    topk::describe<BallotIn32Bits>("topk.stable that keeps ballots in 32 bits.");
const exactk_kernel kOneMemberPerThread = topk::describe<OneMemberPerThread>(
    "topk.block that ranks no more members than it has threads.");
const exactk_kernel kKeysExchangedAlone = topk::describe<KeysExchangedAlone>(
    "topk.block that exchanges keys in its list without their indices.");
const exactk_kernel kZerosTie =
    topk::describe<ZerosTie>("topk.block that takes -0 and +0 for equal.");

const Mutant kMutants[] = {
    {&kCandidatesDropped, "topk.block", "F01",
     "topk.decode rows=1 k=64 lens=const:4000 pattern=fp16_bin:3000"},
    {&kSplitCandidatesDropped, "topk.k512", "F01",
     "topk.decode rows=1 width=2048 lens=const:2048 pattern=fp16_bin:128 "
     "tune=policy_shift:8,min_chunk:1024,final_items:64"},
    {&kTiesDropped, "topk.block", "F01",
     "topk.decode rows=1 k=3000 lens=const:4000 pattern=all_equal"},
    {&kLastPassSkipped, "topk.block", "F02",
     "topk.decode rows=1 width=256 k=8 lens=const:256 pattern=low_bits"},
    {&kKeyOf16Bits, "topk.block", "F02",
     "topk.decode rows=1 width=256 k=8 lens=const:256 pattern=low_bits"},
    {&kNanLoses, "topk.block", "F03",
     "topk.decode rows=1 width=256 k=8 lens=const:256 pattern=nan_inf"},
    {&kNanHasFirstRank, "topk.block", "F03",
     "topk.decode rows=1 width=256 k=8 lens=const:256 pattern=nan_inf:1000"},
    {&kMinusInfDropped, "topk.block", "F04",
     "topk.decode rows=1 width=256 k=8 lens=const:256 pattern=few_finite:5"},
    {&kIndexIn16Bits, "topk.block", "F06",
     "topk.decode rows=1 width=65600 k=8 lens=const:65600 pattern=ascending"},
    {&kClearedWhileRead, "topk.stable", "F11",
     "topk.decode rows=1 width=1024 k=8 lens=const:1024 schedule=1", 0, true},
    {&kClearedByFirstWave, "topk.stable", "F11",
     "topk.decode rows=4 width=1024 k=8 lens=const:1024 schedule=6", 0, true},
    {&kRankedBeforeListed, "topk.block", "F11",
     "topk.decode rows=1 width=256 k=8 lens=const:256 pattern=low_bits", 0, true},
    {&kBallotIn32Bits, "topk.stable", "F17", "topk.decode rows=1 width=256 k=64 lens=const:256",
     64},
    {&kOneMemberPerThread, "topk.block", "F18",
     "topk.decode rows=1 width=256 k=8 lens=const:256 pattern=fp16_bin:200 "
     "tune=block_threads:64"},
    {&kKeysExchangedAlone, "topk.block", "F24",
     "topk.decode rows=1 width=256 k=8 lens=const:256 pattern=low_bits"},
    {&kZerosTie, "topk.block", "F25",
     "topk.decode rows=1 width=256 k=64 lens=const:256 pattern=signed_zeros"},
};

}  // namespace

std::span<const Mutant> search_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
