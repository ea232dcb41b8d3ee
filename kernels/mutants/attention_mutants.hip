#include "kernels/device/portable.h"

#include "kernels/mutants/attention_mutants.h"

#include "kernels/attention/launch.h"

namespace exactk::kernels::planted {
namespace {

using attention::Shipped;

// F24: one of 2,048 entries is taken for its neighbour.
struct PrefillIndexWrong : attention::Prefill {
  struct Traits : Shipped {
    __device__ static int64_t slot(int64_t at) { return at == 1777 ? 1776 : at; }
  };
  static constexpr const char* kName = "mutant.prefill_index_wrong";
};

// F24: the same in a decode, in one of 16 splits.
struct DecodeIndexWrong : attention::DecodeSplit {
  struct Traits : Shipped {
    __device__ static int64_t slot(int64_t at) { return at == 1777 ? 1776 : at; }
  };
  static constexpr const char* kName = "mutant.decode_index_wrong";
};

// F21: the log-sum-exp is a binary logarithm.
struct LseInBaseTwo : attention::Prefill {
  struct Traits : Shipped {
    __device__ static float lse(float largest, float sum, float) {
      return (largest + logf(sum)) * 1.44269504f;
    }
  };
  static constexpr const char* kName = "mutant.lse_in_base_two";
};

// F24: the sink counts in the log-sum-exp.
struct SinkInLse : attention::Prefill {
  struct Traits : Shipped {
    __device__ static float lse(float largest, float sum, float sink) {
      return largest + logf(sum + expf(sink - largest));
    }
  };
  static constexpr const char* kName = "mutant.sink_in_lse";
};

// F24: the sink is no part of the denominator.
struct SinkForgotten : attention::Prefill {
  struct Traits : Shipped {
    __device__ static float sink(float, float) { return -attention::kInfinity; }
  };
  static constexpr const char* kName = "mutant.sink_forgotten";
};

// F24: the sink is scaled as a score is.
struct SinkScaled : attention::Decode {
  struct Traits : Shipped {
    __device__ static float sink(float sink, float scale) { return sink * scale; }
  };
  static constexpr const char* kName = "mutant.sink_scaled";
};

// F24: all heads have the sink of the first.
struct SinkOfFirstHead : attention::Decode {
  struct Traits : Shipped {
    __device__ static int64_t sink_head(int64_t) { return 0; }
  };
  static constexpr const char* kName = "mutant.sink_of_first_head";
};

// F21: scores are twice as large.
struct ScoreScaleDoubled : attention::Prefill {
  struct Traits : Shipped {
    __device__ static float scale(float scale) { return 2 * scale; }
  };
  static constexpr const char* kName = "mutant.score_scale_doubled";
};

// F21: the main cache is read in the other flavour of fp8.
struct MainFlavourWrong : attention::Decode {
  struct Traits : Shipped {
    static exactk_sparse_decode adapted(exactk_sparse_decode d) {
      d.main.fp8 = 1 - d.main.fp8;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.main_flavour_wrong";
};

// F21: both caches are read in the flavour of the first.
struct ExtraFlavourOfMain : attention::Decode {
  struct Traits : Shipped {
    static exactk_sparse_decode adapted(exactk_sparse_decode d) {
      d.extra.fp8 = d.main.fp8;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.extra_flavour_of_main";
};

// F05: entries behind the last whole tile are left out.
struct LastTileSkipped : attention::Prefill {
  struct Traits : Shipped {
    template <class Keys>
    __device__ static int64_t counted(const Keys&, const attention::Slots& slots) {
      return slots.count / attention::kTile * attention::kTile;
    }
  };
  static constexpr const char* kName = "mutant.last_tile_skipped";
};

// F07: the lengths are ignored, and stale slots are entries.
struct SlotsBeyondLength : attention::Prefill {
  struct Traits : Shipped {
    __device__ static int64_t length(int64_t, int64_t k) { return k; }
  };
  static constexpr const char* kName = "mutant.slots_beyond_length";
};

// F05: entries are counted, and that many slots are read.
struct EntriesAsPrefix : attention::Decode {
  struct Traits : Shipped {
    template <class Keys>
    __device__ static int64_t counted(const Keys&, const attention::Slots& slots) {
      int64_t valid = 0;
      for (int64_t at = 0; at < slots.count; ++at) {
        valid += slots.data[at] >= 0;
      }
      return valid;
    }
  };
  static constexpr const char* kName = "mutant.entries_as_prefix";
};

// F03: a sum that is no number makes the output 0.
struct NanOutputZero : attention::Prefill {
  struct Traits : Shipped {
    __device__ static float quotient(float sum, float all) { return all > 0 ? sum / all : 0; }
  };
  static constexpr const char* kName = "mutant.nan_output_zero";
};

// F07: a row without entries is divided by its sum.
struct EmptyRowDivides : attention::Prefill {
  struct Traits : Shipped {
    __device__ static bool empty(float) { return false; }
  };
  static constexpr const char* kName = "mutant.empty_row_divides";
};

// F07: a row without entries has the logarithm of 0.
struct EmptyLseNegative : attention::Decode {
  struct Traits : Shipped {
    __device__ static float empty_lse() { return -attention::kInfinity; }
  };
  static constexpr const char* kName = "mutant.empty_lse_negative";
};

// F24: an entry that occurs again in its tile does not count.
struct DuplicatesOnce : attention::Prefill {
  struct Traits : Shipped {
    __device__ static bool counts(const int32_t* index, int64_t at) {
      for (int64_t before = 0; before < at; ++before) {
        if (index[before] == index[at]) {
          return false;
        }
      }
      return true;
    }
  };
  static constexpr const char* kName = "mutant.duplicates_once";
};

// F24: the second list is not looked at.
struct ExtraListForgotten : attention::Decode {
  struct Traits : Shipped {
    static exactk_sparse_decode adapted(exactk_sparse_decode d) {
      d.extra.k = 0;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.extra_list_forgotten";
};

// F22: the second list has the lengths of the first.
struct ExtraLengthOfMain : attention::DecodeSplit {
  struct Traits : Shipped {
    static exactk_sparse_decode adapted(exactk_sparse_decode d) {
      d.extra.lens = d.main.lens;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.extra_length_of_main";
};

// F21: the last group of a key has the scale of the one before.
struct LastGroupScale : attention::Decode {
  struct Traits : Shipped {
    __device__ static int64_t group(int64_t group, int64_t groups) {
      return group > 0 && group == groups - 1 ? group - 1 : group;
    }
  };
  static constexpr const char* kName = "mutant.last_group_scale";
};

// F21: a power of two is half as large.
struct Ue8m0Bias128 : attention::Decode {
  struct Traits : Shipped {
    __device__ static float ue8m0(uint8_t byte) { return attention::ue8m0_value(byte) * 0.5f; }
  };
  static constexpr const char* kName = "mutant.ue8m0_bias_128";
};

// F13: no row has more entries than the longest one at the capture.
struct EntriesFrozenAtCapture : attention::Decode {
  struct Traits : Shipped {
    static exactk_sparse_decode adapted(exactk_sparse_decode d) {
      d.main.k = d.main.max_len_hint < d.main.k ? d.main.max_len_hint : d.main.k;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.entries_frozen_at_capture";
};

// F26: what was summed is not rescaled when the maximum grows.
struct RescaleMissing : attention::Prefill {
  struct Traits : Shipped {
    __device__ static float rescaled(float largest, float) {
      return largest == -attention::kInfinity ? 0 : 1;
    }
  };
  static constexpr const char* kName = "mutant.rescale_missing";
};

// F26: partial sums are joined as if they had one maximum.
struct SplitNotRescaled : attention::DecodeSplit {
  struct Traits : Shipped {
    __device__ static float split_weight(float largest, float) {
      return largest == -attention::kInfinity ? 0 : 1;
    }
  };
  static constexpr const char* kName = "mutant.split_not_rescaled";
};

// F10: a split without entries leaves the workspace as it is.
struct EmptySplitKept : attention::DecodeSplit {
  struct Traits : Shipped {
    __device__ static bool stores_empty_split() { return false; }
  };
  static constexpr const char* kName = "mutant.empty_split_kept";
};

// F24: the first head answers for all.
struct MaxOfFirstHead : attention::Prefill {
  struct Traits : Shipped {
    __device__ static void store_max(float* of_token, int64_t head, int64_t stride, int64_t heads,
                                     float largest) {
      for (int64_t at = 0; head == 0 && at < heads; ++at) {
        of_token[at * stride] = largest;
      }
    }
  };
  static constexpr const char* kName = "mutant.max_of_first_head";
};

// F05: the first index beyond the keys is valid.
struct IndexOnePastEnd : attention::Prefill {
  struct Traits : Shipped {
    __device__ static int64_t one_past_last(int64_t count) { return count + 1; }
  };
  static constexpr const char* kName = "mutant.index_one_past_end";
};

// F08: a token has the length of another request.
struct LengthOfDraft : attention::Decode {
  struct Traits : Shipped {
    __device__ static int64_t request(int64_t token, int64_t, int64_t requests) {
      return token % requests;
    }
  };
  static constexpr const char* kName = "mutant.length_of_draft";
};

// F20: lse and maximum lie token by token.
struct LseByToken : attention::Decode {
  struct Traits : Shipped {
    __device__ static int64_t stat_first(int64_t request, int64_t draft, int64_t heads,
                                         int64_t next_n) {
      return (request * next_n + draft) * heads;
    }
    __device__ static int64_t stat_stride(int64_t, int64_t) { return 1; }
  };
  static constexpr const char* kName = "mutant.lse_by_token";
};

// F02: the sum is over the rounded weights.
struct RoundedWeightsSummed : attention::Prefill {
  struct Traits : Shipped {
    __device__ static float summed(float, float rounded) { return rounded; }
  };
  static constexpr const char* kName = "mutant.rounded_weights_summed";
};

// F17: a sum over a wave is over 32 lanes.
struct ScoresIn32Lanes : attention::Prefill {
  struct Traits : Shipped {
    __device__ static int lanes() { return 32; }
  };
  static constexpr const char* kName = "mutant.scores_in_32_lanes";
};

// F11: a wave that is ahead takes the next tile while others still use this one.
struct TileNotAwaited : attention::Prefill {
  struct Traits : Shipped {
    __device__ static void tile_done() {}
  };
  static constexpr const char* kName = "mutant.tile_not_awaited";
};

// F24: a value is the last columns of a key.
struct ValuesFromTheEnd : attention::Decode {
  struct Traits : Shipped {
    __device__ static int64_t value_column(int64_t column, int64_t dim, int64_t dim_v) {
      return column + dim - dim_v;
    }
  };
  static constexpr const char* kName = "mutant.values_from_the_end";
};

// F20: rows of slots lie one behind the other.
struct SlotsWithoutGap : attention::Prefill {
  struct Traits : Shipped {
    static exactk_sparse_prefill adapted(exactk_sparse_prefill d) {
      d.index_stride_elems = d.k;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.slots_without_gap";
};

// F20: tokens of the output lie one behind the other.
struct OutputsWithoutGap : attention::Decode {
  struct Traits : Shipped {
    static exactk_sparse_decode adapted(exactk_sparse_decode d) {
      d.out_stride_elems = d.heads * d.dim_v;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.outputs_without_gap";
};

const exactk_kernel kPrefillIndexWrong =
    describe<PrefillIndexWrong>("attention.prefill_tiles whose entry 1777 is the one before it.");
const exactk_kernel kDecodeIndexWrong = describe<DecodeIndexWrong>(
    "attention.decode_split whose entry 1777 of a list is the one before it.");
const exactk_kernel kLseInBaseTwo =
    describe<LseInBaseTwo>("attention.prefill_tiles whose lse is in base 2.");
const exactk_kernel kSinkInLse =
    describe<SinkInLse>("attention.prefill_tiles whose lse has the sink in it.");
const exactk_kernel kSinkForgotten =
    describe<SinkForgotten>("attention.prefill_tiles that knows no sink.");
const exactk_kernel kSinkScaled =
    describe<SinkScaled>("attention.decode_rows that scales the sink.");
const exactk_kernel kSinkOfFirstHead =
    describe<SinkOfFirstHead>("attention.decode_rows whose heads all have the first one's sink.");
const exactk_kernel kScoreScaleDoubled =
    describe<ScoreScaleDoubled>("attention.prefill_tiles that scales scores twice as much.");
const exactk_kernel kMainFlavourWrong = describe<MainFlavourWrong>(
    "attention.decode_rows that reads the cache in the other fp8 flavour.");
const exactk_kernel kExtraFlavourOfMain = describe<ExtraFlavourOfMain>(
    "attention.decode_rows that reads the extra cache in the fp8 flavour of the main one.");
const exactk_kernel kLastTileSkipped = describe<LastTileSkipped>(
    "attention.prefill_tiles that leaves out entries that fill no whole tile.");
const exactk_kernel kSlotsBeyondLength =
    describe<SlotsBeyondLength>("attention.prefill_tiles that takes all slots of a row.");
const exactk_kernel kEntriesAsPrefix = describe<EntriesAsPrefix>(
    "attention.decode_rows that takes the entries of a row to come first.");
const exactk_kernel kNanOutputZero =
    describe<NanOutputZero>("attention.prefill_tiles whose output is 0 where a score is NaN.");
const exactk_kernel kEmptyRowDivides = describe<EmptyRowDivides>(
    "attention.prefill_tiles whose output is NaN where a row has no entry.");
const exactk_kernel kEmptyLseNegative = describe<EmptyLseNegative>(
    "attention.decode_rows whose lse of a row without entries is -infinity.");
const exactk_kernel kDuplicatesOnce =
    describe<DuplicatesOnce>("attention.prefill_tiles that counts an entry once.");
const exactk_kernel kExtraListForgotten =
    describe<ExtraListForgotten>("attention.decode_rows that forgets the extra list.");
const exactk_kernel kExtraLengthOfMain = describe<ExtraLengthOfMain>(
    "attention.decode_split whose extra list has the lengths of the main one.");
const exactk_kernel kLastGroupScale = describe<LastGroupScale>(
    "attention.decode_rows whose last fp8 group has the scale of the one before.");
const exactk_kernel kUe8m0Bias128 =
    describe<Ue8m0Bias128>("attention.decode_rows that takes 128 for the bias of UE8M0.");
const exactk_kernel kEntriesFrozenAtCapture = describe<EntriesFrozenAtCapture>(
    "attention.decode_rows that takes no more entries than the host knew of.");
const exactk_kernel kRescaleMissing = describe<RescaleMissing>(
    "attention.prefill_tiles that does not rescale when the maximum grows.");
const exactk_kernel kSplitNotRescaled = describe<SplitNotRescaled>(
    "attention.decode_split that joins splits without regard to their maxima.");
const exactk_kernel kEmptySplitKept =
    describe<EmptySplitKept>("attention.decode_split whose splits without entries store nothing.");
const exactk_kernel kMaxOfFirstHead = describe<MaxOfFirstHead>(
    "attention.prefill_tiles whose largest score is the first head's for all.");
const exactk_kernel kIndexOnePastEnd = describe<IndexOnePastEnd>(
    "attention.prefill_tiles that takes the number of keys for an index.");
const exactk_kernel kLengthOfDraft = describe<LengthOfDraft>(
    "attention.decode_rows that takes the lengths to be in the order of drafts.");
const exactk_kernel kLseByToken =
    describe<LseByToken>("attention.decode_rows whose lse and largest scores lie token by token.");
const exactk_kernel kRoundedWeightsSummed = describe<RoundedWeightsSummed>(
    "attention.prefill_tiles that sums the weights after rounding them to bf16.");
const exactk_kernel kScoresIn32Lanes =
    describe<ScoresIn32Lanes>("attention.prefill_tiles that sums scores in 32 lanes.");
const exactk_kernel kTileNotAwaited =
    describe<TileNotAwaited>("attention.prefill_tiles without the barrier behind a tile.");
const exactk_kernel kValuesFromTheEnd =
    describe<ValuesFromTheEnd>("attention.decode_rows whose values are the last columns of a key.");
const exactk_kernel kSlotsWithoutGap = describe<SlotsWithoutGap>(
    "attention.prefill_tiles that takes k for the stride of the indices.");
const exactk_kernel kOutputsWithoutGap = describe<OutputsWithoutGap>(
    "attention.decode_rows that takes the width of the output for its stride.");

const Mutant kMutants[] = {
    {&kPrefillIndexWrong, "attention.prefill_tiles", "F24",
     "attention.sparse_prefill rows=1 heads=2 context=4096 k=2048 lens=const:2048 numbers=apart"},
    {&kDecodeIndexWrong, "attention.decode_split", "F24",
     "attention.sparse_decode rows=1 heads=2 context=4096 k=2048 lens=const:2048 numbers=apart "
     "cache=v4"},
    {&kLseInBaseTwo, "attention.prefill_tiles", "F21",
     "attention.sparse_prefill rows=1 heads=1 k=16 context=64 lens=const:16"},
    {&kSinkInLse, "attention.prefill_tiles", "F24",
     "attention.sparse_prefill rows=1 heads=1 k=16 context=64 lens=const:16 sink=finite"},
    {&kSinkForgotten, "attention.prefill_tiles", "F24",
     "attention.sparse_prefill rows=1 heads=1 k=16 context=64 lens=const:16 sink=finite"},
    {&kSinkScaled, "attention.decode_rows", "F24",
     "attention.sparse_decode rows=1 heads=4 k=16 context=64 lens=const:16 sink=finite"},
    {&kSinkOfFirstHead, "attention.decode_rows", "F24",
     "attention.sparse_decode rows=1 heads=4 k=16 context=64 lens=const:16 sink=mixed"},
    {&kScoreScaleDoubled, "attention.prefill_tiles", "F21",
     "attention.sparse_prefill rows=1 heads=1 k=16 context=64 lens=const:16"},
    {&kMainFlavourWrong, "attention.decode_rows", "F21",
     "attention.sparse_decode rows=1 heads=1 k=16 context=64 lens=const:16 cache=v4"},
    {&kExtraFlavourOfMain, "attention.decode_rows", "F21",
     "attention.sparse_decode rows=4 heads=1 k=16 context=64 cache=v4 extra_k=16 fp8=fnuz"},
    {&kLastTileSkipped, "attention.prefill_tiles", "F05",
     "attention.sparse_prefill rows=1 heads=1 k=100 context=256 lens=const:100"},
    {&kSlotsBeyondLength, "attention.prefill_tiles", "F07",
     "attention.sparse_prefill rows=2 heads=1 k=32 context=64 lens=const:16 indices=stale"},
    {&kEntriesAsPrefix, "attention.decode_rows", "F05",
     "attention.sparse_decode rows=1 heads=1 k=32 context=64 lens=const:32 indices=interior:300"},
    {&kNanOutputZero, "attention.prefill_tiles", "F03",
     "attention.sparse_prefill rows=1 heads=1 k=32 context=64 lens=const:32 specials=200"},
    {&kEmptyRowDivides, "attention.prefill_tiles", "F07",
     "attention.sparse_prefill rows=6 heads=1 k=16 context=64 lens=zero_mixed"},
    {&kEmptyLseNegative, "attention.decode_rows", "F07",
     "attention.sparse_decode rows=6 heads=1 k=16 context=64 lens=zero_mixed"},
    {&kDuplicatesOnce, "attention.prefill_tiles", "F24",
     "attention.sparse_prefill rows=1 heads=1 k=30 context=64 lens=const:30 indices=repeated"},
    {&kExtraListForgotten, "attention.decode_rows", "F24",
     "attention.sparse_decode rows=1 heads=1 k=16 context=64 lens=const:16 extra_k=16"},
    {&kExtraLengthOfMain, "attention.decode_split", "F22",
     "attention.sparse_decode rows=4 heads=1 k=16 context=64 lens=const:0 extra_k=16"},
    {&kLastGroupScale, "attention.decode_rows", "F21",
     "attention.sparse_decode rows=1 heads=1 k=16 context=64 lens=const:16 cache=v32 dim=320 "
     "dim_v=256"},
    {&kUe8m0Bias128, "attention.decode_rows", "F21",
     "attention.sparse_decode rows=1 heads=1 k=16 context=64 lens=const:16 cache=v4"},
    {&kEntriesFrozenAtCapture, "attention.decode_rows", "F13",
     "attention.sparse_decode rows=2 heads=1 k=64 context=128 lens=const:10 replay_lens=list:60 "
     "launch=graph replays=1"},
    {&kRescaleMissing, "attention.prefill_tiles", "F26",
     "attention.sparse_prefill rows=4 heads=2 k=200 context=256 lens=const:200"},
    {&kSplitNotRescaled, "attention.decode_split", "F26",
     "attention.sparse_decode rows=2 heads=2 k=300 context=512 lens=const:300"},
    {&kEmptySplitKept, "attention.decode_split", "F10",
     "attention.sparse_decode rows=2 heads=1 k=300 context=512 lens=const:40 workspace=ones"},
    {&kMaxOfFirstHead, "attention.prefill_tiles", "F24",
     "attention.sparse_prefill rows=1 heads=4 k=16 context=64 lens=const:16"},
    {&kIndexOnePastEnd, "attention.prefill_tiles", "F05",
     "attention.sparse_prefill rows=2 heads=1 k=64 context=64 lens=const:64 indices=hostile:300"},
    {&kLengthOfDraft, "attention.decode_rows", "F08",
     "attention.sparse_decode rows=8 next_n=2 heads=1 k=64 context=128 lens=list:3:60:20:41"},
    {&kLseByToken, "attention.decode_rows", "F20",
     "attention.sparse_decode rows=4 next_n=2 heads=3 k=16 context=64 lens=const:16"},
    {&kRoundedWeightsSummed, "attention.prefill_tiles", "F02",
     "attention.sparse_prefill rows=4 heads=2 k=16 context=64 lens=const:16"},
    {&kScoresIn32Lanes, "attention.prefill_tiles", "F17",
     "attention.sparse_prefill rows=1 heads=1 k=16 context=64 lens=const:16", 64},
    {&kTileNotAwaited, "attention.prefill_tiles", "F11",
     "attention.sparse_prefill rows=2 heads=1 k=256 context=512 lens=const:256", 0, true},
    {&kValuesFromTheEnd, "attention.decode_rows", "F24",
     "attention.sparse_decode rows=1 heads=1 k=16 context=64 lens=const:16"},
    {&kSlotsWithoutGap, "attention.prefill_tiles", "F20",
     "attention.sparse_prefill rows=2 heads=1 k=16 context=64 lens=const:16 index_stride=24"},
    {&kOutputsWithoutGap, "attention.decode_rows", "F20",
     "attention.sparse_decode rows=2 heads=1 k=16 context=64 lens=const:16 out_stride=136"},
};

}  // namespace

std::span<const Mutant> attention_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
