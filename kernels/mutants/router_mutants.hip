#include "kernels/device/portable.h"

#include "kernels/mutants/router_mutants.h"

#include "kernels/router/launch.h"

namespace exactk::kernels::planted {
namespace {

using attention::rounded_to_bf16;
using router::key_of;
using router::Shipped;
using router::Token;

// Too few experts leave slots without one: those have the weight of none.
struct Guarded : Shipped {
  template <class Element>
  __device__ static float raw_weight(const exactk_router& d, const Token& token, int64_t expert) {
    return expert >= 0 && expert < d.experts ? token.scores[expert] : 0;
  }
};

// F04: the experts of groups that do not stay take part with 0, which wins where all others are
// negative.
struct ExcludedAsZero : router::ByWaves {
  struct Traits : Shipped {
    __device__ static uint64_t excluded(int64_t expert) { return key_of(0, expert); }
  };
  static constexpr const char* kName = "mutant.excluded_as_zero";
};

// F24: weights are what the experts were chosen by.
struct WeightsBiased : router::ByWaves {
  struct Traits : Shipped {
    template <class Element>
    __device__ static float raw_weight(const exactk_router&, const Token& token, int64_t expert) {
      return token.choices[expert];
    }
  };
  static constexpr const char* kName = "mutant.weights_biased";
};

// F02: the score is won back from its sum with the bias, which cancels.
struct WeightsOfDifference : router::ByWaves {
  struct Traits : Shipped {
    template <class Element>
    __device__ static float raw_weight(const exactk_router& d, const Token& token, int64_t expert) {
      return token.choices[expert] - router::bias_of<Element>(d, expert);
    }
  };
  static constexpr const char* kName = "mutant.weights_of_difference";
};

// F19: groups are compared by their best with a bias too.
struct GroupByLargest : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float group_score(float first, float, int64_t, bool) { return first; }
  };
  static constexpr const char* kName = "mutant.group_by_largest";
};

// F19: groups are compared by their two best without a bias too.
struct GroupByTwoAlways : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float group_score(float first, float second, int64_t size, bool) {
      return size > 1 ? first + second : first;
    }
  };
  static constexpr const char* kName = "mutant.group_by_two_always";
};

// F19: the group of one expert has no second, and no score.
struct SecondOfOne : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float group_score(float first, float second, int64_t, bool biased) {
      return biased ? first + second : first;
    }
  };
  static constexpr const char* kName = "mutant.second_of_one";
};

// F05: the sum runs over all experts of the groups that stay.
struct SumOverKept : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float divisor(const exactk_router& d, const Token& token, float) {
      float sum = 0;
      for (int64_t e = 0; e < d.experts; ++e) {
        sum += token.group_stays[e / (d.experts / d.groups)] != 0 ? token.scores[e] : 0;
      }
      return sum;
    }
  };
  static constexpr const char* kName = "mutant.sum_over_kept";
};

// F21: weights that were divided by their sum are not scaled.
struct ScalingForgotten : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float weight(const exactk_router& d, float raw, float divisor) {
      return d.renormalize != 0 ? raw / divisor : raw * d.scaling;
    }
  };
  static constexpr const char* kName = "mutant.scaling_forgotten";
};

// F21: only weights that were divided by their sum are scaled.
struct ScalingOfShares : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float weight(const exactk_router& d, float raw, float divisor) {
      return d.renormalize != 0 ? raw / divisor * d.scaling : raw;
    }
  };
  static constexpr const char* kName = "mutant.scaling_of_shares";
};

// F02: experts are chosen by scores of 8 bits, which are equal where they were not.
struct ScoresInBf16 : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float choice(float score, float bias) {
      return rounded_to_bf16(rounded_to_bf16(score) + bias);
    }
  };
  static constexpr const char* kName = "mutant.scores_in_bf16";
};

// F21: the bias is rounded to bf16, whatever it came in.
struct BiasInBf16 : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float choice(float score, float bias) {
      return score + rounded_to_bf16(bias);
    }
  };
  static constexpr const char* kName = "mutant.bias_in_bf16";
};

// F24: experts are chosen by their scores alone.
struct BiasForgotten : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float choice(float score, float) { return score; }
  };
  static constexpr const char* kName = "mutant.bias_forgotten";
};

// F03: a NaN is above all numbers.
struct NanWins : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float ranked(float choice) {
      return choice == choice ? choice : -router::kLeast;
    }
  };
  static constexpr const char* kName = "mutant.nan_wins";
};

// F03: a NaN becomes a score of 0, which its bias can make win.
struct NanAsZero : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float sigmoid(float x) { return x == x ? Shipped::sigmoid(x) : 0; }
  };
  static constexpr const char* kName = "mutant.nan_as_zero";
};

// F05: the last slot holds the expert behind the right one.
struct LastSlotNext : router::ByWaves {
  struct Traits : Shipped {
    __device__ static int64_t passed_over(const exactk_router& d, int64_t slot) {
      return slot == d.k - 1 && d.k < d.experts / d.groups * d.topk_groups ? 1 : 0;
    }
  };
  static constexpr const char* kName = "mutant.last_slot_next";
};

// F23: of equal experts only the last one is remembered as taken.
struct TieChosenTwice : router::ByWaves {
  struct Traits : Shipped {
    __device__ static bool follows(uint64_t key, uint64_t last) {
      return key >> 32 <= last >> 32 && key != last;
    }
  };
  static constexpr const char* kName = "mutant.tie_chosen_twice";
};

// F05: the loop over the groups ends one early.
struct LastGroupMissed : router::ByWaves {
  struct Traits : Guarded {
    __device__ static int64_t groups_end(int64_t groups) {
      return groups > 1 ? groups - 1 : groups;
    }
  };
  static constexpr const char* kName = "mutant.last_group_missed";
};

// F26: only whole waves of experts are looked at.
struct PartialWaveMissed : router::ByWaves {
  struct Traits : Guarded {
    __device__ static int64_t experts_end(int64_t experts, int64_t size) {
      return experts < size ? experts : experts / size * size;
    }
  };
  static constexpr const char* kName = "mutant.partial_wave_missed";
};

// F05: only whole blocks of tokens are looked at.
struct LastTokensMissed : router::ByWaves {
  struct Traits : Shipped {
    __device__ static int64_t tokens_end(int64_t tokens, int64_t teams) {
      return tokens / teams * teams;
    }
  };
  static constexpr const char* kName = "mutant.last_tokens_missed";
};

// F21: exponentials are taken of the logits as they are.
struct SoftmaxOverflows : router::ByWaves {
  struct Traits : Shipped {
    __device__ static float shifted(float x, float) { return x; }
  };
  static constexpr const char* kName = "mutant.softmax_overflows";
};

// F20: rows of logits are taken to lie one behind the other.
struct ExpertsAreStride : router::ByWaves {
  struct Traits : Shipped {
    static exactk_router adapted(exactk_router d) {
      d.logit_stride_elems = d.experts;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.experts_are_stride";
};

// F20: rows of ids and weights are taken to lie one behind the other.
struct KIsStride : router::ByWaves {
  struct Traits : Shipped {
    static exactk_router adapted(exactk_router d) {
      d.out_stride_elems = d.k;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.k_is_stride";
};

// F09: the weight of the last slot keeps what was there.
struct LastWeightKept : router::ByWaves {
  struct Traits : Shipped {
    __device__ static int64_t weights_end(int64_t k) { return k - 1; }
  };
  static constexpr const char* kName = "mutant.last_weight_kept";
};

// F17: a wave combines the values of its lower 32 lanes.
struct BestOf32Lanes : router::ByWaves {
  struct Traits : Guarded {
    __device__ static int lanes() { return 32; }
  };
  static constexpr const char* kName = "mutant.best_of_32_lanes";
};

// F11: groups are scored before all lanes have written their scores.
struct ScoresNotAwaited : router::ByWaves {
  struct Traits : Shipped {
    template <class Team>
    __device__ static void scored(const Team&) {}
  };
  static constexpr const char* kName = "mutant.scores_not_awaited";
};

// F11: groups are scored as soon as the own wave has written its scores.
struct RanksNotAwaited : router::ByRanks {
  struct Traits : Shipped {
    template <class Team>
    __device__ static void scored(const Team&) {
      __syncwarp();
    }
  };
  static constexpr const char* kName = "mutant.ranks_not_awaited";
};

// F18: a thread looks at one expert, so those behind the block's size are missed.
struct ExpertsPerThread : router::ByRanks {
  struct Traits : Guarded {
    __device__ static int64_t experts_end(int64_t experts, int64_t size) {
      return experts < size ? experts : size;
    }
  };
  static constexpr const char* kName = "mutant.experts_per_thread";
};

const exactk_kernel kExcludedAsZero =
    describe<ExcludedAsZero>("router.wave that gives the experts of excluded groups a score of 0.");
const exactk_kernel kWeightsBiased =
    describe<WeightsBiased>("router.wave whose weights hold the bias.");
const exactk_kernel kWeightsOfDifference =
    describe<WeightsOfDifference>("router.wave that takes the bias off again for the weights.");
const exactk_kernel kGroupByLargest =
    describe<GroupByLargest>("router.wave that compares groups by their best choice alone.");
const exactk_kernel kGroupByTwoAlways =
    describe<GroupByTwoAlways>("router.wave that compares groups by two choices without a bias.");
const exactk_kernel kSecondOfOne =
    describe<SecondOfOne>("router.wave that looks for the second expert in groups of one.");
const exactk_kernel kSumOverKept = describe<SumOverKept>(
    "router.wave that divides by the scores of all experts of the groups that stay.");
const exactk_kernel kScalingForgotten =
    describe<ScalingForgotten>("router.wave that does not scale renormalised weights.");
const exactk_kernel kScalingOfShares =
    describe<ScalingOfShares>("router.wave that scales renormalised weights only.");
const exactk_kernel kScoresInBf16 =
    describe<ScoresInBf16>("router.wave that rounds scores to bf16 before it chooses.");
const exactk_kernel kBiasInBf16 = describe<BiasInBf16>("router.wave that rounds the bias to bf16.");
const exactk_kernel kBiasForgotten =
    describe<BiasForgotten>("router.wave that does not add the bias.");
const exactk_kernel kNanWins =
    describe<NanWins>("router.wave that chooses experts with a NaN first.");
const exactk_kernel kNanAsZero =
    describe<NanAsZero>("router.wave that takes NaN for a score of 0.");
const exactk_kernel kLastSlotNext =
    describe<LastSlotNext>("router.wave whose last slot holds the next expert.");
const exactk_kernel kTieChosenTwice =
    describe<TieChosenTwice>("router.wave that chooses one of several equal experts twice.");
const exactk_kernel kLastGroupMissed =
    describe<LastGroupMissed>("router.wave that never looks at the last group.");
const exactk_kernel kPartialWaveMissed =
    describe<PartialWaveMissed>("router.wave that misses the experts behind the last whole wave.");
const exactk_kernel kLastTokensMissed =
    describe<LastTokensMissed>("router.wave that misses the tokens behind the last whole block.");
const exactk_kernel kSoftmaxOverflows =
    describe<SoftmaxOverflows>("router.wave whose softmax does not subtract the largest logit.");
const exactk_kernel kExpertsAreStride = describe<ExpertsAreStride>(
    "router.wave that takes the number of experts for the stride of the logits.");
const exactk_kernel kKIsStride =
    describe<KIsStride>("router.wave that takes k for the stride of its outputs.");
const exactk_kernel kLastWeightKept =
    describe<LastWeightKept>("router.wave that does not write the weight of the last slot.");
const exactk_kernel kBestOf32Lanes =
    describe<BestOf32Lanes>("router.wave that combines the values of 32 lanes.");
const exactk_kernel kScoresNotAwaited = describe<ScoresNotAwaited>(
    "router.wave without the barrier between writing scores and reading them.");
const exactk_kernel kRanksNotAwaited = describe<RanksNotAwaited>(
    "router.ranks with a barrier of the wave where one of the block is needed.");
const exactk_kernel kExpertsPerThread = describe<ExpertsPerThread>(
    "router.ranks that looks at as many experts as a block has threads.");

const Mutant kMutants[] = {
    {&kExcludedAsZero, "router.wave", "F04", "router.grouped_topk bias=large seed=5"},
    {&kWeightsBiased, "router.wave", "F24", "router.grouped_topk"},
    {&kWeightsOfDifference, "router.wave", "F02", "router.grouped_topk bias=large"},
    {&kGroupByLargest, "router.wave", "F19", "router.grouped_topk"},
    {&kGroupByTwoAlways, "router.wave", "F19", "router.grouped_topk bias=none"},
    {&kSecondOfOne, "router.wave", "F19", "router.grouped_topk experts=32 groups=32 topk_groups=8"},
    {&kSumOverKept, "router.wave", "F05", "router.grouped_topk"},
    {&kScalingForgotten, "router.wave", "F21", "router.grouped_topk scaling=2500"},
    {&kScalingOfShares, "router.wave", "F21", "router.grouped_topk renormalize=0 scaling=2500"},
    {&kScoresInBf16, "router.wave", "F02", "router.grouped_topk experts=256 bias=none"},
    {&kBiasInBf16, "router.wave", "F21",
     "router.grouped_topk rows=17 experts=512 groups=1 topk_groups=1 k=32 seed=3"},
    {&kBiasForgotten, "router.wave", "F24", "router.grouped_topk"},
    {&kNanWins, "router.wave", "F03", "router.grouped_topk specials=20"},
    {&kNanAsZero, "router.wave", "F03", "router.grouped_topk k=20 specials=100"},
    {&kLastSlotNext, "router.wave", "F05", "router.grouped_topk"},
    {&kTieChosenTwice, "router.wave", "F23", "router.grouped_topk bias=none numbers=ties"},
    {&kLastGroupMissed, "router.wave", "F05", "router.grouped_topk topk_groups=8"},
    {&kPartialWaveMissed, "router.wave", "F26", "router.grouped_topk experts=100 groups=4"},
    {&kLastTokensMissed, "router.wave", "F05", "router.grouped_topk rows=5"},
    {&kSoftmaxOverflows, "router.wave", "F21", "router.grouped_topk scoring=softmax numbers=wide"},
    {&kExpertsAreStride, "router.wave", "F20", "router.grouped_topk row_stride=67"},
    {&kKIsStride, "router.wave", "F20", "router.grouped_topk out_stride=13"},
    {&kLastWeightKept, "router.wave", "F09", "router.grouped_topk"},
    {&kBestOf32Lanes, "router.wave", "F17", "router.grouped_topk", 64},
    {&kScoresNotAwaited, "router.wave", "F11", "router.grouped_topk", 0, true},
    {&kRanksNotAwaited, "router.ranks", "F11", "router.grouped_topk experts=256 schedule=1", 0,
     true},
    {&kExpertsPerThread, "router.ranks", "F18", "router.grouped_topk experts=384"},
};

}  // namespace

std::span<const Mutant> router_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
