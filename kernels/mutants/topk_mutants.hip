#include "kernels/device/portable.h"

#include "kernels/mutants/topk_mutants.h"

#include "kernels/topk/launch.h"

namespace exactk::kernels::planted {
namespace {

using topk::Method;

// F04: a chunk shorter than k fills its partial list with -FLT_MAX, which then beats real -inf in
// the merge.
struct PadBeatsMinusInf : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    static constexpr uint32_t kEmptyKey = topk::kMinusInfKey + 1;
    __device__ static bool takes_part(int32_t) { return true; }
  };
  static constexpr const char* kName = "mutant.pad_beats_minus_inf";
  static constexpr Method kMethod = Method::kSplitMerge;
};

// F09: a row shorter than k leaves what was in the slots L .. k-1.
struct TailNotWritten : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t tail_end(int64_t, int64_t length) { return length; }
  };
  static constexpr const char* kName = "mutant.tail_not_written";
  static constexpr Method kMethod = Method::kBlock;
};

// F05: the tail is written in whole tiles, as if every row of the output were that long; the last
// rows of a launch write past the buffer.
struct TailRoundedUp : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t tail_end(int64_t k, int64_t) { return (k + 4095) / 4096 * 4096; }
  };
  static constexpr const char* kName = "mutant.tail_rounded_up";
  static constexpr Method kMethod = Method::kBlock;
};

// F12: every block waits for one that was never launched to change a word of memory.
struct WaitsForEver : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static void enter(const int32_t* word) {
      const volatile int32_t* watched = word;
      while (*watched != INT32_MIN) {
      }
    }
  };
  static constexpr const char* kName = "mutant.waits_for_ever";
  static constexpr Method kMethod = Method::kBlock;
};

// F13: the active blocks and the chunk come from the longest row at the time of the call. A
// captured graph replays them, so that columns which became visible later belong to no chunk.
struct SplitFrozenAtCapture : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    struct FromHost {
      int64_t longest;
    };
    static FromHost from_host(const exactk_topk_decode& d) {
      return {d.max_seq_len_hint > 0 ? d.max_seq_len_hint : 1};
    }
    __device__ static topk::SplitPlan split(const topk::ActivePolicy& policy, FromHost host,
                                            int64_t length) {
      const topk::SplitPlan frozen = topk::split_row(policy, host.longest);
      const int64_t seen = length < host.longest ? length : host.longest;
      return {seen, frozen.active, seen / frozen.active};
    }
  };
  static constexpr const char* kName = "mutant.split_frozen_at_capture";
  static constexpr Method kMethod = Method::kK512;
};

// F08: a decode row takes the length of its request, whichever draft it is.
struct DraftOffsetForgotten : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowWindow window(const topk::TopkParams& p, int64_t row) {
      return {0, topk::clamp_to(p.seq_lens[p.length_per_row ? row : row / p.next_n], p.width), 0};
    }
  };
  static constexpr const char* kName = "mutant.draft_offset_forgotten";
  static constexpr Method kMethod = Method::kBlock;
};

// F26: the columns of every chunk are counted from the chunk's own start.
struct ChunkBaseForgotten : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t chunk_base(int64_t) { return 0; }
  };
  static constexpr const char* kName = "mutant.chunk_base_forgotten";
  static constexpr Method kMethod = Method::kSplitMerge;
};

// F23: columns take slots as their threads arrive, and any ties take the last ones.
struct SlotsByArrival : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static void select_stable(topk::StableShared& s, const topk::RowSource& columns,
                                         uint32_t want, const topk::Sink& sink) {
      const topk::Cut cut = topk::full_search(s, columns, want);
      if (threadIdx.x == 0) {
        s.better[0] = s.members[0] = 0;
      }
      __syncthreads();  // the counters are zero before anybody takes a slot
      topk::emit(columns, cut, 0, want - cut.need, s.better, s.members, sink);
    }
  };
  static constexpr const char* kName = "mutant.slots_by_arrival";
  static constexpr Method kMethod = Method::kFullRadix;
  static constexpr uint32_t kModes = topk::kStableModes;
};

// F19: the row gate of k = 512 at `< 384` where the published one is `<= 384`.
struct GateOneRowEarly : topk::DecodeKernel {
  static constexpr const char* kName = "mutant.gate_one_row_early";
  static constexpr Method kMethod = Method::kGated;
  static constexpr int64_t kGateRowsMax = topk::kGateRows - 1;
};

// F05: the second launch reads its rows from column 0 on, at their right length.
struct PrefillStartIgnored : topk::PrefillKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowWindow window(const topk::TopkParams& p, int64_t row) {
      topk::RowWindow window = topk::row_window(p, row);
      window.start = p.first_row > 0 ? 0 : window.start;
      return window;
    }
  };
  static constexpr const char* kName = "mutant.prefill_start_ignored";
  static constexpr Method kMethod = Method::kPrefill;
};

// F07: the length of a row that ends before it starts stays negative, so that its -1 begin before
// the row. At most a guard's worth of them, so that no more than the suite's own bytes is hit.
struct PrefillNegativeLength : topk::PrefillKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowWindow window(const topk::TopkParams& p, int64_t row) {
      topk::RowWindow window = topk::row_window(p, row);
      const int64_t length = int64_t{p.row_ends[row]} - p.row_starts[row];
      if (length < 0) {
        window.length = length > -1000 ? length : -1000;
      }
      return window;
    }
  };
  static constexpr const char* kName = "mutant.prefill_negative_length";
  static constexpr Method kMethod = Method::kPrefill;
};

// F19: the second launch begins one row late; the row at the gate belongs to nobody.
struct PrefillRowSkipped : topk::PrefillKernel {
  struct Traits : topk::Shipped {
    static void second_launch(topk::TopkParams* p) { p->first_row += 1; }
  };
  static constexpr const char* kName = "mutant.prefill_row_skipped";
  static constexpr Method kMethod = Method::kPrefill;
};

// F20: the second launch takes the width for the row stride.
struct PrefillWidthAsStride : topk::PrefillKernel {
  struct Traits : topk::Shipped {
    static void second_launch(topk::TopkParams* p) { p->row_stride = p->width; }
  };
  static constexpr const char* kName = "mutant.prefill_width_as_stride";
  static constexpr Method kMethod = Method::kPrefill;
};

// F04: as before, but with -inf, which ties with real ones.
struct PadTiesMinusInf : topk::DecodeKernel {
  struct Traits : PadBeatsMinusInf::Traits {
    static constexpr uint32_t kEmptyKey = topk::kMinusInfKey;
  };
  static constexpr const char* kName = "mutant.pad_ties_minus_inf";
  static constexpr Method kMethod = Method::kSplitMerge;
};

// F05: the indices count from the start of the row where columns of the buffer are promised.
struct PrefillIndexRelative : topk::PrefillKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowWindow window(const topk::TopkParams& p, int64_t row) {
      topk::RowWindow window = topk::row_window(p, row);
      window.first_index = 0;
      return window;
    }
  };
  static constexpr const char* kName = "mutant.prefill_index_relative";
  static constexpr Method kMethod = Method::kFullRadix;
  static constexpr uint32_t kModes = topk::kStableModes | EXACTK_MODE_ABSOLUTE;
};

// F06: the row stride is kept in 16 bits.
struct StrideIn16Bits : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t row_offset(int64_t row, int64_t stride) {
      return row * static_cast<uint16_t>(stride);
    }
  };
  static constexpr const char* kName = "mutant.stride_in_16_bits";
  static constexpr Method kMethod = Method::kBlock;
};

// The length that a decode row has by seq_lens, which may be negative.
__device__ int64_t decode_length(const topk::TopkParams& p, int64_t row) {
  return p.length_per_row ? int64_t{p.seq_lens[row]}
                          : int64_t{p.seq_lens[row / p.next_n]} - p.next_n + row % p.next_n + 1;
}

// F07: a negative length stays negative, so that the -1 of a row begin before the row. At most a
// guard's worth of them, so that no more than the suite's own bytes is hit.
struct DecodeNegativeLength : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowWindow window(const topk::TopkParams& p, int64_t row) {
      topk::RowWindow window = topk::row_window(p, row);
      const int64_t length = decode_length(p, row);
      if (length < 0) {
        window.length = length > -1000 ? length : -1000;
      }
      return window;
    }
  };
  static constexpr const char* kName = "mutant.decode_negative_length";
  static constexpr Method kMethod = Method::kBlock;
};

// F07: lengths are compared without a sign, so that a negative one is the longest of all.
struct LengthUnsigned : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowWindow window(const topk::TopkParams& p, int64_t row) {
      const auto length = static_cast<uint64_t>(decode_length(p, row));
      const auto width = static_cast<uint64_t>(p.width);
      return {0, static_cast<int64_t>(length < width ? length : width), 0};
    }
  };
  static constexpr const char* kName = "mutant.length_unsigned";
  static constexpr Method kMethod = Method::kBlock;
};

// F08: rows are taken to lie draft by draft, not request by request.
struct DraftsInterleaved : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowWindow window(const topk::TopkParams& p, int64_t row) {
      const int64_t requests = p.policy.rows / p.next_n;
      const int64_t there = row % requests * p.next_n + row / requests;
      return {0, topk::clamp_to(decode_length(p, p.length_per_row ? row : there), p.width), 0};
    }
  };
  static constexpr const char* kName = "mutant.drafts_interleaved";
  static constexpr Method kMethod = Method::kBlock;
};

// F10: the merge reads the lists of all blocks, those of idle ones as an earlier call left them.
struct IdleListsMerged : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t lists_of_row(const topk::ActivePolicy& policy,
                                           const topk::SplitPlan&) {
      return policy.max_blocks;
    }
  };
  static constexpr const char* kName = "mutant.idle_lists_merged";
  static constexpr Method kMethod = Method::kK512;
};

// F10: the entries that no column fills keep what an earlier call left in the workspace.
struct EmptyEntriesKept : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t list_end(int64_t, int64_t filled) { return filled; }
  };
  static constexpr const char* kName = "mutant.empty_entries_kept";
  static constexpr Method kMethod = Method::kSplitMerge;
};

// F13: rows of at most k columns are not searched, and whether all are so is decided by the host. A
// captured graph replays that for longer rows.
struct ShortRowsFrozen : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    struct FromHost {
      int64_t length_max;
    };
    static FromHost from_host(const exactk_topk_decode& d) {
      return {d.max_seq_len_hint <= d.k ? d.k : d.width};
    }
    __device__ static topk::SplitPlan split(const topk::ActivePolicy& policy, FromHost host,
                                            int64_t length) {
      return topk::split_row(policy, topk::clamp_to(length, host.length_max));
    }
  };
  static constexpr const char* kName = "mutant.short_rows_frozen";
  static constexpr Method kMethod = Method::kK512;
};

// F18: a row shares its 16-bit number with a block; rows from 256 on are the first ones again.
struct RowIn8Bits : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t row(int64_t first_row, int64_t block) {
      return static_cast<uint8_t>(first_row + block);
    }
  };
  static constexpr const char* kName = "mutant.row_in_8_bits";
  static constexpr Method kMethod = Method::kBlock;
};

// F18: the list is taken to hold one member more than it does; the key of that one takes the place
// of another one's index.
struct ListOneTooLong : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    static void adapt(topk::TopkParams* p, const topk::LaunchPlan&) { p->list_capacity += 1; }
  };
  static constexpr const char* kName = "mutant.list_one_too_long";
  static constexpr Method kMethod = Method::kK512;
};

// F19: the path of compressed layers was written for at most 512 slots.
struct RadixPathOf512 : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    static void adapt(topk::TopkParams* p, const topk::LaunchPlan& plan) {
      if (plan.path == EXACTK_PATH_FULL_RADIX && p->k > 512) {
        p->k = 512;
      }
    }
  };
  static constexpr const char* kName = "mutant.radix_path_of_512";
  static constexpr Method kMethod = Method::kGated;
};

// F20: columns are taken to be adjacent.
struct ColumnStrideIgnored : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    static void adapt(topk::TopkParams* p, const topk::LaunchPlan&) { p->column_stride = 1; }
  };
  static constexpr const char* kName = "mutant.column_stride_ignored";
  static constexpr Method kMethod = Method::kBlock;
};

// F20: rows are taken to lie one behind the other where they are split.
struct SplitWidthAsStride : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    static void adapt(topk::TopkParams* p, const topk::LaunchPlan& plan) {
      if (plan.merges()) {
        p->row_stride = p->width;
      }
    }
  };
  static constexpr const char* kName = "mutant.split_width_as_stride";
  static constexpr Method kMethod = Method::kSplitMerge;
};

// F20: output rows are taken to lie one behind the other.
struct OutputWidthAsStride : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    static void adapt(topk::TopkParams* p, const topk::LaunchPlan&) { p->out_stride = p->k; }
  };
  static constexpr const char* kName = "mutant.output_width_as_stride";
  static constexpr Method kMethod = Method::kBlock;
};

// F20: a row is read from the 16-byte boundary before it, as wide loads want it.
struct BaseRoundedDown : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowSource columns(topk::RowSource columns) {
      columns.first -= reinterpret_cast<uintptr_t>(columns.first) / 4 % 4;
      return columns;
    }
  };
  static constexpr const char* kName = "mutant.base_rounded_down";
  static constexpr Method kMethod = Method::kBlock;
};

// F10: a column that already stood in the first slot, from the step before, keeps it if it is
// selected again. Every answer is right; which one it is depends on what the output held.
struct FirstSlotReused : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    template <class Self, int kCapacity, class Source>
    __device__ static void select(topk::SelectShared<kCapacity>& s, const Source& source,
                                  uint32_t want, const topk::SelectLimits& limits,
                                  const topk::Sink& sink) {
      const int32_t former = threadIdx.x == 0 ? sink.indices[0] : 0;
      topk::select_best<Self>(s, source, want, limits, sink);
      __syncthreads();  // every slot is written before one thread exchanges two of them
      if (threadIdx.x != 0) {
        return;
      }
      for (uint32_t slot = 1; slot < want; ++slot) {
        if (sink.indices[slot] == former) {
          sink.indices[slot] = sink.indices[0];
          sink.indices[0] = former;
        }
      }
    }
  };
  static constexpr const char* kName = "mutant.first_slot_reused";
  static constexpr Method kMethod = Method::kBlock;
};

// F07: a negative length is set to 0 where it stands, in the caller's tensor. Every row of the
// request has 0 columns before and after that, so that every answer is right.
struct LengthClampedInPlace : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static topk::RowWindow window(const topk::TopkParams& p, int64_t row) {
      const topk::RowWindow window = topk::row_window(p, row);
      int32_t* length =
          const_cast<int32_t*>(p.seq_lens) + (p.length_per_row ? row : row / p.next_n);
      if (threadIdx.x == 0 && *length < 0) {
        *length = 0;
      }
      return window;
    }
  };
  static constexpr const char* kName = "mutant.length_clamped_in_place";
  static constexpr Method kMethod = Method::kBlock;
};

// F22: the lists of a row are looked for behind the active ones of the rows before, where the chunk
// kernel leaves room for all.
struct ListsOfActiveBlocks : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t lists_per_row(const topk::ActivePolicy&,
                                            const topk::SplitPlan& plan) {
      return plan.active;
    }
  };
  static constexpr const char* kName = "mutant.lists_of_active_blocks";
  static constexpr Method kMethod = Method::kK512;
};

// F24: a chunk ends one column late, so that the first column of the next one is in two lists.
struct BoundaryColumnTwice : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t chunk_end(const topk::SplitPlan& plan, int64_t block) {
      const int64_t end = topk::Shipped::chunk_end(plan, block);
      return end < plan.length ? end + 1 : end;
    }
  };
  static constexpr const char* kName = "mutant.boundary_column_twice";
  static constexpr Method kMethod = Method::kSplitMerge;
};

// F26: all chunks are equally long; what the division leaves belongs to none.
struct RemainderLost : topk::DecodeKernel {
  struct Traits : topk::Shipped {
    __device__ static int64_t chunk_end(const topk::SplitPlan& plan, int64_t block) {
      return (block + 1) * plan.chunk;
    }
  };
  static constexpr const char* kName = "mutant.remainder_lost";
  static constexpr Method kMethod = Method::kSplitMerge;
};

const exactk_kernel kPadBeatsMinusInf = topk::describe<PadBeatsMinusInf>(
    "topk.split_merge with partial lists padded by -FLT_MAX that compete in the merge.");
const exactk_kernel kTailNotWritten =
    topk::describe<TailNotWritten>("topk.block that does not write -1 behind a short row.");
const exactk_kernel kTailRoundedUp = topk::describe<TailRoundedUp>(
    "topk.block that writes the -1 behind a short row up to a multiple of 4096 slots.");
const exactk_kernel kWaitsForEver =
    topk::describe<WaitsForEver>("topk.block whose blocks wait for one that was never launched.");
const exactk_kernel kSplitFrozenAtCapture = topk::describe<SplitFrozenAtCapture>(
    "topk.k512 that splits by the row length which the host knew at the call.");
const exactk_kernel kDraftOffsetForgotten = topk::describe<DraftOffsetForgotten>(
    "topk.block that gives every draft of a request the length of the last one.");
const exactk_kernel kChunkBaseForgotten = topk::describe<ChunkBaseForgotten>(
    "topk.split_merge whose chunks count their columns from their own start.");
const exactk_kernel kSlotsByArrival =
    topk::describe<SlotsByArrival>("topk.stable whose slots are claimed by atomic arrival.");
const exactk_kernel kGateOneRowEarly =
    topk::describe<GateOneRowEarly>("topk.gated whose row gate of k = 512 is < 384.");
const exactk_kernel kPrefillStartIgnored = topk::describe<PrefillStartIgnored>(
    "topk.prefill_block whose second launch reads from column 0 on.");
const exactk_kernel kPrefillNegativeLength = topk::describe<PrefillNegativeLength>(
    "topk.prefill_block that does not clamp the length of a row at 0.");
const exactk_kernel kPrefillRowSkipped = topk::describe<PrefillRowSkipped>(
    "topk.prefill_block whose second launch begins one row late.");
const exactk_kernel kPrefillWidthAsStride = topk::describe<PrefillWidthAsStride>(
    "topk.prefill_block whose second launch takes the width for the row stride.");
const exactk_kernel kPadTiesMinusInf = topk::describe<PadTiesMinusInf>(
    "topk.split_merge with partial lists padded by -inf that compete in the merge.");
const exactk_kernel kPrefillIndexRelative = topk::describe<PrefillIndexRelative>(
    "topk.prefill_stable whose indices count from the start of their row.");
const exactk_kernel kStrideIn16Bits =
    topk::describe<StrideIn16Bits>("topk.block that keeps the row stride in 16 bits.");
const exactk_kernel kDecodeNegativeLength = topk::describe<DecodeNegativeLength>(
    "topk.block that does not clamp the length of a row at 0.");
const exactk_kernel kLengthUnsigned =
    topk::describe<LengthUnsigned>("topk.block that takes a negative length for a very large one.");
const exactk_kernel kDraftsInterleaved = topk::describe<DraftsInterleaved>(
    "topk.block that takes the rows of all requests to lie draft by draft.");
const exactk_kernel kIdleListsMerged = topk::describe<IdleListsMerged>(
    "topk.k512 that merges the lists of idle blocks as well, whatever they hold.");
const exactk_kernel kEmptyEntriesKept = topk::describe<EmptyEntriesKept>(
    "topk.split_merge that does not write the empty entries of its lists.");
const exactk_kernel kShortRowsFrozen = topk::describe<ShortRowsFrozen>(
    "topk.k512 whose host decides at the call that no row needs a search.");
const exactk_kernel kRowIn8Bits =
    topk::describe<RowIn8Bits>("topk.block that numbers rows in 8 bits.");
const exactk_kernel kListOneTooLong =
    topk::describe<ListOneTooLong>("topk.k512 that lists one member more than its list holds.");
const exactk_kernel kRadixPathOf512 =
    topk::describe<RadixPathOf512>("topk.gated whose full radix path selects at most 512 columns.");
const exactk_kernel kColumnStrideIgnored =
    topk::describe<ColumnStrideIgnored>("topk.block that takes columns to be adjacent.");
const exactk_kernel kSplitWidthAsStride = topk::describe<SplitWidthAsStride>(
    "topk.split_merge that takes the width for the row stride where it splits.");
const exactk_kernel kOutputWidthAsStride =
    topk::describe<OutputWidthAsStride>("topk.block that takes k for the stride of its output.");
const exactk_kernel kBaseRoundedDown = topk::describe<BaseRoundedDown>(
    "topk.block that reads a row from the 16-byte boundary before it.");
const exactk_kernel kFirstSlotReused = topk::describe<FirstSlotReused>(
    "topk.block that leaves a selected column in the first slot if it stood there before.");
const exactk_kernel kLengthClampedInPlace = topk::describe<LengthClampedInPlace>(
    "topk.block that sets negative lengths to 0 in the caller's tensor.");
const exactk_kernel kListsOfActiveBlocks = topk::describe<ListsOfActiveBlocks>(
    "topk.k512 whose merge expects no room for the lists of idle blocks.");
const exactk_kernel kBoundaryColumnTwice = topk::describe<BoundaryColumnTwice>(
    "topk.split_merge whose chunks share a column with the next one.");
const exactk_kernel kRemainderLost = topk::describe<RemainderLost>(
    "topk.split_merge whose last chunk is no longer than the others.");

const Mutant kMutants[] = {
    {&kPadBeatsMinusInf, "topk.split_merge", "F04",
     "topk.decode rows=2 width=262144 lens=const:3000 pattern=few_finite:100"},
    {&kTailNotWritten, "topk.block", "F09", "topk.decode rows=2 width=1024 lens=const:100"},
    {&kTailRoundedUp, "topk.block", "F05", "topk.decode rows=2 width=1024 lens=const:100"},
    {&kWaitsForEver, "topk.block", "F12", "topk.decode rows=2 width=64 k=8"},
    {&kSplitFrozenAtCapture, "topk.k512", "F13",
     "topk.decode rows=2 width=1024 lens=const:600 launch=graph replays=1 "
     "replay_lens=list:1000 tune=policy_shift:8"},
    {&kDraftOffsetForgotten, "topk.block", "F08",
     "topk.decode next_n=4 width=1024 k=64 lens=const:700"},
    {&kChunkBaseForgotten, "topk.split_merge", "F26",
     "topk.decode rows=2 k=64 lens=const:4000 tune=radix_width:64,split_width:256"},
    {&kSlotsByArrival, "topk.stable", "F23", "topk.decode rows=2 k=64 lens=const:3000"},
    {&kGateOneRowEarly, "topk.gated", "F19",
     "topk.decode rows=384 width=1024 lens=const:100 ratio=4"},
    {&kPrefillStartIgnored, "topk.prefill_block", "F05",
     "topk.prefill rows=4 width=1024 k=64 lens=const:500 starts=end tune=radix_rows:2"},
    {&kPrefillNegativeLength, "topk.prefill_block", "F07",
     "topk.prefill rows=2 width=1024 k=64 lens=list:-3:300"},
    {&kPrefillRowSkipped, "topk.prefill_block", "F19",
     "topk.prefill rows=4 width=1024 k=64 lens=const:500 tune=radix_rows:2"},
    {&kPrefillWidthAsStride, "topk.prefill_block", "F20",
     "topk.prefill rows=4 width=1024 k=64 lens=const:500 row_stride=1500 tune=radix_rows:2"},
    {&kPadTiesMinusInf, "topk.split_merge", "F04",
     "topk.decode rows=2 lens=const:2000 pattern=few_finite:100 "
     "tune=radix_width:64,split_width:256"},
    {&kPrefillIndexRelative, "topk.prefill_stable", "F05",
     "topk.prefill rows=2 width=256 k=8 lens=const:100 starts=const:5"},
    {&kStrideIn16Bits, "topk.block", "F06",
     "topk.decode rows=2 width=64 k=8 lens=const:64 row_stride=65600"},
    {&kDecodeNegativeLength, "topk.block", "F07",
     "topk.decode rows=2 width=256 k=8 lens=list:-3:100"},
    {&kLengthUnsigned, "topk.block", "F07", "topk.decode rows=2 width=256 k=8 lens=list:-3:100"},
    {&kDraftsInterleaved, "topk.block", "F08",
     "topk.decode rows=4 next_n=2 width=256 k=8 lens=list:50:200"},
    {&kIdleListsMerged, "topk.k512", "F10",
     "topk.decode rows=1 width=2048 lens=const:2048 replays=1 replay_lens=list:600 "
     "tune=policy_shift:8,min_chunk:64"},
    {&kEmptyEntriesKept, "topk.split_merge", "F10",
     "topk.decode rows=1 lens=const:4000 replays=1 replay_lens=list:2000 "
     "tune=radix_width:64,split_width:256"},
    {&kShortRowsFrozen, "topk.k512", "F13",
     "topk.decode rows=2 width=1024 lens=const:500 launch=graph replays=1 replay_lens=list:1000"},
    {&kRowIn8Bits, "topk.block", "F18", "topk.decode rows=257 width=8 k=4 lens=const:3"},
    {&kListOneTooLong, "topk.k512", "F18",
     "topk.decode rows=8 lens=const:4000 pattern=fp16_bin:1025"},
    {&kRadixPathOf512, "topk.gated", "F19", "topk.decode rows=1 width=1024 k=600 ratio=4"},
    {&kColumnStrideIgnored, "topk.block", "F20",
     "topk.decode rows=1 width=64 k=8 lens=const:64 column_stride=2"},
    {&kSplitWidthAsStride, "topk.split_merge", "F20",
     "topk.decode rows=2 k=64 lens=const:4000 row_stride=4100 tune=radix_width:64,split_width:256"},
    {&kOutputWidthAsStride, "topk.block", "F20",
     "topk.decode rows=2 width=64 k=8 lens=const:64 out_stride=12"},
    {&kBaseRoundedDown, "topk.block", "F20",
     "topk.decode rows=1 width=64 k=8 lens=const:64 misalign=1"},
    {&kFirstSlotReused, "topk.block", "F10", "topk.decode rows=8 width=128 k=64 lens=const:128", 0,
     true},
    {&kLengthClampedInPlace, "topk.block", "F07",
     "topk.decode rows=2 width=256 k=8 lens=list:-3:100"},
    {&kListsOfActiveBlocks, "topk.k512", "F22",
     "topk.decode rows=2 width=2048 lens=const:600 tune=policy_shift:8,min_chunk:64"},
    {&kBoundaryColumnTwice, "topk.split_merge", "F24",
     "topk.decode rows=1 lens=const:4000 pattern=ascending tune=radix_width:64,split_width:256"},
    {&kRemainderLost, "topk.split_merge", "F26",
     "topk.decode rows=1 k=64 lens=const:4007 pattern=ascending "
     "tune=radix_width:64,split_width:256"},
};

}  // namespace

std::span<const Mutant> topk_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
