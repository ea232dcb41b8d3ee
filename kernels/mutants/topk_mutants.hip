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
    __device__ static void emit_stable(topk::StableShared& s, const topk::RowSource& columns,
                                       const topk::Cut& cut, uint32_t want,
                                       const topk::Sink& sink) {
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
};

}  // namespace

std::span<const Mutant> topk_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
