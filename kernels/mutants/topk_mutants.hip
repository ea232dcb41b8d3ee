#include "kernels/device/portable.h"

#include "kernels/mutants/topk_mutants.h"

#include "kernels/topk/launch.h"

namespace exactk::kernels::planted {
namespace {

using topk::Method;

// F04: a chunk shorter than k fills its partial list with -FLT_MAX, which then beats real -inf in
// the merge.
struct PadBeatsMinusInf {
  struct Traits : topk::Shipped {
    static constexpr uint32_t kEmptyKey = topk::kMinusInfKey + 1;
    __device__ static bool takes_part(int32_t) { return true; }
  };
  static constexpr const char* kName = "mutant.pad_beats_minus_inf";
  static constexpr Method kMethod = Method::kSplitMerge;
};

// F09: a row shorter than k leaves what was in the slots L .. k-1.
struct TailNotWritten {
  struct Traits : topk::Shipped {
    __device__ static int64_t tail_end(int64_t, int64_t length) { return length; }
  };
  static constexpr const char* kName = "mutant.tail_not_written";
  static constexpr Method kMethod = Method::kBlock;
};

// F05: the tail is written in whole tiles, as if every row of the output were that long; the last
// rows of a launch write past the buffer.
struct TailRoundedUp {
  struct Traits : topk::Shipped {
    __device__ static int64_t tail_end(int64_t k, int64_t) { return (k + 4095) / 4096 * 4096; }
  };
  static constexpr const char* kName = "mutant.tail_rounded_up";
  static constexpr Method kMethod = Method::kBlock;
};

// F12: every block waits for one that was never launched to change a word of memory.
struct WaitsForEver {
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
struct SplitFrozenAtCapture {
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

const Mutant kMutants[] = {
    {&kPadBeatsMinusInf, "topk.split_merge", "F04",
     "topk.decode rows=2 width=262144 lens=const:3000 pattern=few_finite:100"},
    {&kTailNotWritten, "topk.block", "F09", "topk.decode rows=2 width=1024 lens=const:100"},
    {&kTailRoundedUp, "topk.block", "F05", "topk.decode rows=2 width=1024 lens=const:100"},
    {&kWaitsForEver, "topk.block", "F12", "topk.decode rows=2 width=64 k=8"},
    {&kSplitFrozenAtCapture, "topk.k512", "F13",
     "topk.decode rows=2 width=1024 lens=const:600 launch=graph replays=1 "
     "replay_lens=list:1000 tune=policy_shift:8"},
};

}  // namespace

std::span<const Mutant> topk_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
