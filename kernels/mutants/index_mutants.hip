#include "kernels/device/portable.h"

#include "kernels/mutants/index_mutants.h"

#include "kernels/index/launch.h"

namespace exactk::kernels::planted {
namespace {

using index::Shipped;

// F05: the window begins before the gathered region and so reads the compressed one.
struct WindowNotGathered : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t window_floor(int64_t) { return 0; }
  };
  static constexpr const char* kName = "mutant.window_not_gathered";
};

// F07: a sequence shorter than the query gives positions below 0, and those a length below 0.
struct NegativeLength : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t window_length(int64_t entries) { return entries; }
  };
  static constexpr const char* kName = "mutant.negative_length";
};

// F08: query_start_loc is taken as if it began at 0.
struct FirstQueryIgnored : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t first_query(const int32_t*) { return 0; }
  };
  static constexpr const char* kName = "mutant.first_query_ignored";
};

// F09: the slots behind the entries of a row keep what was in them.
struct CombineTailKept : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t row_end(int64_t, int64_t filled) { return filled; }
  };
  static constexpr const char* kName = "mutant.combine_tail_kept";
};

// F19: no ratio is taken as a ratio of 1 instead of a layer with a window only.
struct RatioZeroIsOne : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t compressed_entries(int64_t position, int64_t ratio) {
      return Shipped::compressed_entries(position, ratio == 0 ? 1 : ratio);
    }
  };
  static constexpr const char* kName = "mutant.ratio_zero_is_one";
};

// F20: rows of local indices are taken to lie one behind the other.
struct TopkWidthIsStride : index::Combine {
  struct Traits : Shipped {
    static exactk_combine adapted(exactk_combine d) {
      d.topk_stride_elems = d.topk_width;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.topk_width_is_stride";
};

// F22: indptr holds the length of each row where its consumer expects the running sum.
struct IndptrOfCounts : index::Combine {
  struct Traits : Shipped {
    __device__ static uint32_t indptr_entry(uint32_t, uint32_t length) { return length; }
  };
  static constexpr const char* kName = "mutant.indptr_of_counts";
};

// F26: the window part points into the workspace of the first request.
struct WindowOfFirstRequest : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t window_base(int64_t) { return 0; }
  };
  static constexpr const char* kName = "mutant.window_of_first_request";
};

// F06: the slot is computed in 32 bits although it is stored in 64.
struct SlotIn32Bits : index::Translate {
  struct Traits : Shipped {
    __device__ static int64_t slot(int32_t block, uint32_t block_size, uint32_t offset) {
      return static_cast<int32_t>(static_cast<uint32_t>(block) * block_size + offset);
    }
  };
  static constexpr const char* kName = "mutant.slot_in_32_bits";
};

// F08: every request is taken to have the same number of tokens.
struct RequestsOfOneSize : index::Translate {
  struct Traits : Shipped {
    __device__ static int64_t request_of(const exactk_translate& d, int64_t token) {
      const int64_t each = d.tokens / d.requests;
      return token / (each > 0 ? each : 1);
    }
  };
  static constexpr const char* kName = "mutant.requests_of_one_size";
};

// F09: an invalid index leaves in its slot what was there.
struct InvalidSlotKept : index::Translate {
  struct Traits : Shipped {
    template <class Slot>
    __device__ static Slot invalid_slot(const Slot* slot) {
      return *slot;
    }
  };
  static constexpr const char* kName = "mutant.invalid_slot_kept";
};

// F10: the sum over the rows starts from what the workspace held before the call. A few entries of
// it are enough to show, and stay near the buffer.
struct SumNotReset : index::Translate {
  struct Traits : Shipped {
    __device__ static uint32_t first_entry(const uint32_t* left) { return *left < 9 ? *left : 9; }
  };
  static constexpr const char* kName = "mutant.sum_not_reset";
};

// F20: rows of the block table are taken to lie one behind the other.
struct TableWidthIsStride : index::Translate {
  struct Traits : Shipped {
    static exactk_translate adapted(exactk_translate d) {
      d.table_stride_elems = d.table_blocks;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.table_width_is_stride";
};

// F22: the step's cap is taken to be the width of the rows.
struct CapIsWidth : index::Translate {
  struct Traits : Shipped {
    __device__ static int64_t cap(const exactk_translate& d) { return d.k; }
  };
  static constexpr const char* kName = "mutant.cap_is_width";
};

// F05: the first position that no longer sees position 0 still begins there.
struct WindowBeginsLate : index::Swa {
  struct Traits : Shipped {
    __device__ static int64_t window_begin(int64_t position, int64_t window, int64_t widened) {
      return position - widened > window ? Shipped::window_begin(position, window, widened) : 0;
    }
  };
  static constexpr const char* kName = "mutant.window_begins_late";
};

// F05: an image widens the window by all that it shows, not by what lies before the window.
struct ImageWidensTwice : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t widened(int64_t visible, int64_t) { return visible; }
  };
  static constexpr const char* kName = "mutant.image_widens_twice";
};

// F17: the ends that were passed are counted in the lower 32 lanes.
struct RequestsIn32Lanes : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t lanes_in(uint64_t ballot) {
      return __popcll(static_cast<uint32_t>(ballot));
    }
  };
  static constexpr const char* kName = "mutant.requests_in_32_lanes";
};

// F05: a token has the entries of the position before its own.
struct ReachedLate : index::Translate {
  struct Traits : Shipped {
    __device__ static int64_t reached(int64_t position, int64_t ratio) {
      return position < 0 ? 0 : position / ratio;
    }
  };
  static constexpr const char* kName = "mutant.reached_late";
};

// F07: the entries of a token that only fills up the batch count as well.
struct PaddingCounts : index::Translate {
  struct Traits : Shipped {
    __device__ static bool counts(const exactk_translate&, int64_t) { return true; }
  };
  static constexpr const char* kName = "mutant.padding_counts";
};

// F09: an invalid index leaves in its slot what was there, if that can be a slot.
struct BelievableSlotKept : index::Translate {
  struct Traits : Shipped {
    template <class Slot>
    __device__ static Slot invalid_slot(const Slot* slot) {
      return *slot >= 0 ? *slot : -1;
    }
  };
  static constexpr const char* kName = "mutant.believable_slot_kept";
};

// F11: a wave that is ahead writes its next sum while others still read the one of before.
struct SumsOverlap : index::Translate {
  struct Traits : Shipped {
    __device__ static index::BlockSum sum(uint32_t* waves, uint32_t value) {
      return index::sum_and_read(waves, value, warpSize);
    }
  };
  static constexpr const char* kName = "mutant.sums_overlap";
};

// F17: waves are taken to have 64 lanes.
struct WavesOf64 : index::Translate {
  struct Traits : Shipped {
    __device__ static index::BlockSum sum(uint32_t* waves, uint32_t value) {
      const index::BlockSum sum = index::sum_and_read(waves, value, 64);
      __syncthreads();  // all have read before the next call writes
      return sum;
    }
  };
  static constexpr const char* kName = "mutant.waves_of_64";
};

// F20: the size of a block is taken for a power of two.
struct BlockSizePowerOf2 : index::Translate {
  struct Traits : Shipped {
    static exactk_translate adapted(exactk_translate d) {
      while ((d.block_size & (d.block_size - 1)) != 0) {
        d.block_size &= d.block_size - 1;
      }
      return d;
    }
  };
  static constexpr const char* kName = "mutant.block_size_power_of_2";
};

// F05: a packed row is as long as its length says, which may be more than there are indices.
struct PackedRowTooLong : index::Translate {
  struct Traits : Shipped {
    __device__ static int64_t packed(int64_t length, int64_t) { return length < 0 ? 0 : length; }
  };
  static constexpr const char* kName = "mutant.packed_row_too_long";
};

// F23: threads take their place in the row as they arrive. In order that is the right one.
struct CompactByArrival : index::Translate {
  struct Traits : Shipped {
    __device__ static index::BlockSum sum(uint32_t* waves, uint32_t value) {
      if (threadIdx.x == 0) {
        waves[0] = 0;
      }
      __syncthreads();  // the counter is zero before anybody takes a place
      const uint32_t before = atomicAdd(waves, value);
      __syncthreads();  // all have taken their place before the sum is read
      const uint32_t all = waves[0];
      __syncthreads();  // all have read before the next call writes
      return {before, all};
    }
  };
  static constexpr const char* kName = "mutant.compact_by_arrival";
};

// F11: one thread says where the row ends, and a barrier of the wave stands where one of the block
// is needed. In order the first wave is ahead of all others.
struct RowEndNotAwaited : index::Combine {
  struct Traits : Shipped {
    __device__ static int64_t row_end(int64_t columns, int64_t) {
      __shared__ int64_t end;
      if (threadIdx.x == 0) {
        end = columns;
      }
      __syncwarp();
      return end;
    }
  };
  static constexpr const char* kName = "mutant.row_end_not_awaited";
};

// F06: the slot of a window is computed in 32 bits although it is stored in 64.
struct SwaSlotIn32Bits : index::Swa {
  using Traits = SlotIn32Bits::Traits;
  static constexpr const char* kName = "mutant.swa_slot_in_32_bits";
};

const exactk_kernel kWindowNotGathered =
    describe<WindowNotGathered>("combine.fused whose windows begin before the gathered region.");
const exactk_kernel kNegativeLength = describe<NegativeLength>(
    "combine.fused with negative lengths where a sequence is shorter than its query.");
const exactk_kernel kFirstQueryIgnored =
    describe<FirstQueryIgnored>("combine.fused that takes query_start_loc to begin at 0.");
const exactk_kernel kCombineTailKept =
    describe<CombineTailKept>("combine.fused that does not write -1 behind the entries of a row.");
const exactk_kernel kRatioZeroIsOne =
    describe<RatioZeroIsOne>("combine.fused that takes ratio 0 for 1.");
const exactk_kernel kTopkWidthIsStride = describe<TopkWidthIsStride>(
    "combine.fused that takes the width of the local indices for their stride.");
const exactk_kernel kIndptrOfCounts =
    describe<IndptrOfCounts>("combine.fused whose indptr holds row lengths instead of their sums.");
const exactk_kernel kWindowOfFirstRequest = describe<WindowOfFirstRequest>(
    "combine.fused whose window entries lack their request's first workspace row.");
const exactk_kernel kSlotIn32Bits =
    describe<SlotIn32Bits>("translate.rows that computes slots in 32 bits.");
const exactk_kernel kRequestsOfOneSize = describe<RequestsOfOneSize>(
    "translate.rows that takes all requests to have the same number of tokens.");
const exactk_kernel kInvalidSlotKept = describe<InvalidSlotKept>(
    "translate.rows that does not write the slot of an invalid index, positional.");
const exactk_kernel kSumNotReset = describe<SumNotReset>(
    "translate.rows whose flat lists begin where the workspace's last call ended.");
const exactk_kernel kTableWidthIsStride = describe<TableWidthIsStride>(
    "translate.rows that takes the width of the block table for its stride.");
const exactk_kernel kCapIsWidth =
    describe<CapIsWidth>("translate.rows that takes the width of its rows for the cap.");
const exactk_kernel kWindowBeginsLate = describe<WindowBeginsLate>(
    "swa.rows whose window is one position too long when it first leaves position 0.");
const exactk_kernel kImageWidensTwice = describe<ImageWidensTwice>(
    "combine.fused whose windows begin as far before the window as an image reaches.");
const exactk_kernel kRequestsIn32Lanes = describe<RequestsIn32Lanes>(
    "combine.fused that counts the requests before a token in 32 lanes.");
const exactk_kernel kReachedLate = describe<ReachedLate>(
    "translate.rows whose capped rows lack the entry that a position completes.");
const exactk_kernel kPaddingCounts =
    describe<PaddingCounts>("translate.rows that counts the entries of invalid tokens.");
const exactk_kernel kBelievableSlotKept = describe<BelievableSlotKept>(
    "translate.rows that does not write the slot of an invalid index if it holds no negative.");
const exactk_kernel kSumsOverlap = describe<SumsOverlap>(
    "translate.rows without the barrier between reading sums and writing the next.");
const exactk_kernel kWavesOf64 =
    describe<WavesOf64>("translate.rows that takes waves to have 64 lanes.");
const exactk_kernel kBlockSizePowerOf2 = describe<BlockSizePowerOf2>(
    "translate.rows that takes the largest power of two for the block size.");
const exactk_kernel kPackedRowTooLong =
    describe<PackedRowTooLong>("translate.rows whose packed rows are not limited to k entries.");
const exactk_kernel kCompactByArrival = describe<CompactByArrival>(
    "translate.rows whose compact rows are in the order in which threads arrive.");
const exactk_kernel kRowEndNotAwaited = describe<RowEndNotAwaited>(
    "combine.fused without the barrier between writing the end of a row and reading it.");
const exactk_kernel kSwaSlotIn32Bits =
    describe<SwaSlotIn32Bits>("swa.rows that computes slots in 32 bits.");

const Mutant kMutants[] = {
    {&kWindowNotGathered, "combine.fused", "F05",
     "index.combine variant=gathered requests=3 query_lens=list:3:0:5 lens=list:200:40:90 "
     "context=256 k=16 window=96 gather=short seed=5"},
    {&kNegativeLength, "combine.fused", "F07",
     "index.combine requests=2 query_lens=const:8 lens=list:3:20 context=256 k=16 window=32"},
    {&kFirstQueryIgnored, "combine.fused", "F08",
     "index.combine requests=3 query_lens=list:3:0:5 context=256 k=16 window=32 extra=2 skip=2"},
    {&kCombineTailKept, "combine.fused", "F09",
     "index.combine requests=2 query_lens=const:3 context=256 k=16 window=32"},
    {&kRatioZeroIsOne, "combine.fused", "F19",
     "index.combine requests=2 query_lens=const:3 context=256 k=16 window=32 ratio=0"},
    {&kTopkWidthIsStride, "combine.fused", "F20",
     "index.combine requests=2 query_lens=const:3 lens=const:200 context=256 k=16 window=32 "
     "index_stride=24"},
    {&kIndptrOfCounts, "combine.fused", "F22",
     "index.combine variant=ragged requests=2 query_lens=const:3 lens=const:200 context=256 k=16 "
     "window=32"},
    {&kWindowOfFirstRequest, "combine.fused", "F26",
     "index.combine requests=2 query_lens=const:3 lens=const:200 context=256 k=16 window=32"},
    {&kSlotIn32Bits, "translate.rows", "F06",
     "index.translate requests=2 query_lens=const:3 lens=const:200 context=256 k=16 table=far "
     "slots=int64"},
    {&kRequestsOfOneSize, "translate.rows", "F08",
     "index.translate requests=3 query_lens=list:1:2:6 lens=const:200 context=256 k=16"},
    {&kInvalidSlotKept, "translate.rows", "F09",
     "index.translate requests=2 query_lens=const:3 context=256 k=16 indices=interior:300"},
    {&kSumNotReset, "translate.rows", "F10",
     "index.translate variant=ragged requests=2 query_lens=const:3 lens=const:200 context=256 "
     "k=16"},
    {&kTableWidthIsStride, "translate.rows", "F20",
     "index.translate requests=3 query_lens=const:3 lens=const:200 context=256 k=16 block_size=16 "
     "table_stride=24"},
    {&kCapIsWidth, "translate.rows", "F22",
     "index.translate variant=capped requests=2 query_lens=const:3 lens=const:200 context=256 k=64 "
     "cap=const:9"},
    {&kWindowBeginsLate, "swa.rows", "F05",
     "index.swa requests=3 query_lens=const:1 lens=list:32:33:34 context=256 window=32"},
    {&kImageWidensTwice, "combine.fused", "F05",
     "index.combine variant=vision requests=1 query_lens=const:16 lens=const:200 context=256 k=16 "
     "window=32 images=8"},
    {&kRequestsIn32Lanes, "combine.fused", "F17",
     "index.combine requests=40 query_lens=const:1 lens=const:64 context=256 k=16 window=32", 64},
    {&kReachedLate, "translate.rows", "F05",
     "index.translate variant=capped requests=1 query_lens=const:1 lens=const:40 context=256 k=16 "
     "ratio=4"},
    {&kPaddingCounts, "translate.rows", "F07",
     "index.translate requests=1 query_lens=const:1 lens=const:200 context=256 k=16 extra=1"},
    {&kBelievableSlotKept, "translate.rows", "F09",
     "index.translate requests=2 query_lens=const:3 context=256 k=16 indices=interior:300"},
    {&kSumsOverlap, "translate.rows", "F11",
     "index.translate variant=compact requests=1 query_lens=const:1 lens=const:4000 k=2048 "
     "indices=interior:500",
     0, true},
    {&kWavesOf64, "translate.rows", "F17",
     "index.translate requests=1 query_lens=const:1 lens=const:200 context=256 k=16", 32},
    {&kBlockSizePowerOf2, "translate.rows", "F20",
     "index.translate requests=1 query_lens=const:1 lens=const:200 context=256 k=16 "
     "block_size=48"},
    {&kPackedRowTooLong, "translate.rows", "F05",
     "index.translate variant=pack requests=2 query_lens=const:8 lens=const:200 context=256 k=16"},
    {&kCompactByArrival, "translate.rows", "F23",
     "index.translate variant=compact requests=1 query_lens=const:1 lens=const:200 context=256 "
     "k=64 schedule=1",
     0, true},
    {&kRowEndNotAwaited, "combine.fused", "F11",
     "index.combine requests=2 query_lens=const:3 lens=const:4000 window=2048 k=2048 repeats=4", 0,
     true},
    {&kSwaSlotIn32Bits, "swa.rows", "F06",
     "index.swa requests=1 query_lens=const:1 lens=const:64 context=256 window=32 table=far "
     "slots=int64"},
};

}  // namespace

std::span<const Mutant> index_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
