// The router: choices by hand, every choice of small rows by another route, and the judge with each
// planted fault.
#include "oracle/grouped_topk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

using Ids = std::vector<int32_t>;

// The weights of a kernel in float, for the ids as they are.
std::vector<float> weights_of(const RouterSpec& spec, const RouterRow& row, const Ids& ids) {
  std::vector<float> all;
  float total = 0;
  float max = -kInf;
  for (const float x : row.logits) {
    max = std::max(max, x);
  }
  for (const float x : row.logits) {
    const bool softmax = spec.scoring == RouterScoring::kSoftmax;
    all.push_back(softmax ? std::exp(x - max) : 1 / (1 + std::exp(-x)));
    total += all.back();
  }
  std::vector<float> weights;
  float sum = 0;
  for (const int32_t id : ids) {
    const float s = all[static_cast<size_t>(id)];
    weights.push_back(spec.scoring == RouterScoring::kSoftmax ? s / total : s);
    sum += weights.back();
  }
  for (float& weight : weights) {
    weight = (spec.renormalize ? weight / sum : weight) * static_cast<float>(spec.scaling);
  }
  return weights;
}

RouterJudgement judge(const RouterSpec& spec, const RouterRow& row, const Ids& ids) {
  EXPECT_EQ("", problem_of(spec, row));
  return judge_router(spec, {}, row, ids, weights_of(spec, row, ids));
}

// Four groups of two; without a bias group 1 is best, then group 3.
const std::vector<float> kLogits{0, 1, 5, -3, 2, 2.5f, 4, -1};
const RouterSpec kSpec{.groups = 4, .topk_groups = 2, .topk = 3, .scaling = 2.5};
const RouterRow kRow{.logits = kLogits};

TEST(GroupedTopk, TakesTheBestExpertsOfTheBestGroups) {
  EXPECT_EQ((Ids{2, 6, 7}), grouped_topk(kSpec, kRow));  // not 5 or 4: group 2 is third
}

TEST(GroupedTopk, AddsTheTwoBestOfAGroupWithABias) {
  const std::vector<float> zero(8, 0);
  // Sums of two sigmoids: 1.23, 1.04, 1.80, 1.25.
  EXPECT_EQ((Ids{6, 5, 4}), grouped_topk(kSpec, {.logits = kLogits, .bias = zero}));
}

TEST(GroupedTopk, NeverTakesAnExcludedGroupWhereTheChosenScoresAreNegative) {
  const std::vector<float> bias{-9, -9, -2, -9, -9, -9, -2, -9};
  const Ids ids = grouped_topk(kSpec, {.logits = kLogits, .bias = bias});
  EXPECT_EQ((Ids{2, 6, 7}), ids);
}

TEST(GroupedTopk, TakesOneGroupAsAnUngroupedTopk) {
  EXPECT_EQ((Ids{2, 6, 5}),
            grouped_topk({.groups = 1, .topk_groups = 1, .topk = 3}, {.logits = kLogits}));
}

TEST(GroupedTopk, RefusesSizesThatDoNotFit) {
  EXPECT_NE("", problem_of({.groups = 3, .topk_groups = 1, .topk = 1}, kRow));
  EXPECT_NE("", problem_of({.groups = 4, .topk_groups = 5, .topk = 1}, kRow));
  EXPECT_NE("", problem_of({.groups = 4, .topk_groups = 2, .topk = 5}, kRow));
  const std::vector<float> bias(7, 0);
  EXPECT_NE("", problem_of(kSpec, {.logits = kLogits, .bias = bias}));
  EXPECT_EQ("", problem_of(kSpec, kRow));
}

TEST(RouterJudge, AcceptsTheWinnersInAnyOrder) {
  Ids ids = grouped_topk(kSpec, kRow);
  std::sort(ids.begin(), ids.end());
  do {
    EXPECT_TRUE(judge(kSpec, kRow, ids).ok());
  } while (std::next_permutation(ids.begin(), ids.end()));
}

TEST(RouterJudge, RefusesAWrongExpertByAClearMargin) {
  const RouterJudgement judgement = judge(kSpec, kRow, {2, 6, 3});
  EXPECT_EQ(faults_of({FaultKind::kIntruder, FaultKind::kMissingWinner}), judgement.faults);
  ASSERT_EQ(2u, judgement.bad.size());
  EXPECT_EQ(2, judgement.bad[0].slot);
  EXPECT_EQ(3, judgement.bad[0].expert);
  EXPECT_EQ(7, judgement.bad[1].expert);
}

TEST(RouterJudge, RefusesAnExcludedGroup) {
  EXPECT_TRUE(judge(kSpec, kRow, {2, 6, 5}).faults.has(FaultKind::kIntruder));
  // As with excluded groups masked by 0 where the chosen scores are negative.
  const std::vector<float> bias{-9, -9, -2, -9, -9, -9, -2, -9};
  EXPECT_FALSE(judge(kSpec, {.logits = kLogits, .bias = bias}, {2, 6, 0}).ok());
}

TEST(RouterJudge, RefusesAGroupScoreOfTheBestExpertWhereTheSumOfTwoCounts) {
  const std::vector<float> zero(8, 0);
  const RouterRow row{.logits = kLogits, .bias = zero};
  EXPECT_TRUE(judge(kSpec, row, {6, 5, 4}).ok());
  EXPECT_FALSE(judge(kSpec, row, {2, 6, 7}).ok());
}

TEST(RouterJudge, RefusesADuplicateAndAnExpertOutOfRange) {
  EXPECT_EQ(faults_of({FaultKind::kDuplicate}), judge(kSpec, kRow, {2, 6, 6}).faults);
  for (const int32_t id : {-1, 8, INT32_MAX, INT32_MIN}) {
    const std::vector<float> weights(3, 0.1f);
    EXPECT_EQ(faults_of({FaultKind::kOutOfRange}),
              judge_router(kSpec, {}, kRow, Ids{2, 6, id}, weights).faults);
  }
}

TEST(RouterJudge, RefusesSwappedWeights) {
  const Ids ids{2, 6, 7};
  std::vector<float> weights = weights_of(kSpec, kRow, ids);
  std::swap(weights[0], weights[1]);
  const RouterJudgement judgement = judge_router(kSpec, {}, kRow, ids, weights);
  EXPECT_EQ(faults_of({FaultKind::kWrongValue}), judgement.faults);
  EXPECT_EQ(2u, judgement.bad.size());
}

TEST(RouterJudge, RefusesWeightsThatAreNotRenormalisedOrNotScaled) {
  const Ids ids{2, 6, 7};
  RouterSpec other = kSpec;
  other.renormalize = false;
  EXPECT_FALSE(judge_router(kSpec, {}, kRow, ids, weights_of(other, kRow, ids)).ok());
  EXPECT_FALSE(judge_router(other, {}, kRow, ids, weights_of(kSpec, kRow, ids)).ok());
  EXPECT_TRUE(judge(other, kRow, ids).ok());
  other = kSpec;
  other.scaling = 1;
  EXPECT_FALSE(judge_router(kSpec, {}, kRow, ids, weights_of(other, kRow, ids)).ok());
}

TEST(RouterJudge, RefusesABiasInTheWeight) {
  const std::vector<float> bias{0, 0, 0.25f, 0, 0, 0, 0.5f, 0.125f};
  const RouterRow row{.logits = kLogits, .bias = bias};
  RouterSpec spec = kSpec;
  spec.renormalize = false;
  const Ids ids = grouped_topk(spec, row);
  std::vector<float> weights = weights_of(spec, row, ids);
  EXPECT_TRUE(judge_router(spec, {}, row, ids, weights).ok());
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    weights[slot] += 2.5f * bias[static_cast<size_t>(ids[slot])];
  }
  EXPECT_FALSE(judge_router(spec, {}, row, ids, weights).ok());
}

TEST(RouterJudge, AcceptsTheCancellationOfABiasedWeightOnlyWhereItIsPromised) {
  const std::vector<float> bias(8, 100);
  const RouterRow row{.logits = kLogits, .bias = bias};
  RouterSpec spec = kSpec;
  spec.renormalize = false;
  spec.scaling = 1;
  const Ids ids = grouped_topk(spec, row);
  std::vector<float> weights = weights_of(spec, row, ids);
  for (float& weight : weights) {
    const volatile float biased = weight + 100;
    weight = biased - 100;
  }
  EXPECT_FALSE(judge_router(spec, {}, row, ids, weights).ok());
  EXPECT_TRUE(judge_router(spec, {.weight_from_biased = true}, row, ids, weights).ok());
}

TEST(RouterJudge, AcceptsEitherChoiceAtATieAndInsideTheBand) {
  const RouterSpec spec{.groups = 1, .topk_groups = 1, .topk = 2};
  const float above = std::nextafter(1.0f, 2.0f);
  for (const float other : {1.0f, above}) {
    const std::vector<float> logits{3, 1, other, -1};
    EXPECT_TRUE(judge(spec, {.logits = logits}, {0, 1}).ok());
    EXPECT_TRUE(judge(spec, {.logits = logits}, {0, 2}).ok());
    EXPECT_FALSE(judge(spec, {.logits = logits}, {1, 2}).ok());
  }
  const std::vector<float> apart{3, 1, 1.0001f, -1};
  EXPECT_FALSE(judge(spec, {.logits = apart}, {0, 1}).ok());
}

TEST(RouterJudge, AcceptsEitherGroupAtATieOfGroups) {
  const std::vector<float> logits{2, 1, 2, 0, -4, -4};
  const RouterSpec spec{.groups = 3, .topk_groups = 1, .topk = 2};
  EXPECT_TRUE(judge(spec, {.logits = logits}, {0, 1}).ok());
  EXPECT_TRUE(judge(spec, {.logits = logits}, {2, 3}).ok());
  EXPECT_FALSE(judge(spec, {.logits = logits}, {0, 2}).ok());  // of two groups
  EXPECT_FALSE(judge(spec, {.logits = logits}, {4, 5}).ok());
}

TEST(RouterJudge, ComputesRoundedLogitsInFloat) {
  // In bf16 both scores would be the same; the logits are, and their order is clear in float.
  const std::vector<float> logits{3.0f, 3.015625f, -1, -1};
  const RouterSpec spec{.groups = 1, .topk_groups = 1, .topk = 1};
  EXPECT_TRUE(judge(spec, {.logits = logits}, {1}).ok());
  EXPECT_FALSE(judge(spec, {.logits = logits}, {0}).ok());
}

TEST(RouterJudge, NeverLetsANaNWin) {
  std::vector<float> logits = kLogits;
  logits[7] = kNaN;
  const RouterRow row{.logits = logits};
  // Of groups 1 and 3 three numbers are left.
  EXPECT_EQ((Ids{2, 6, 3}), grouped_topk(kSpec, row));
  const std::vector<float> weights = weights_of(kSpec, row, {2, 6, 3});
  EXPECT_TRUE(judge_router(kSpec, {}, row, Ids{2, 6, 3}, weights).ok());
  EXPECT_FALSE(judge_router(kSpec, {}, row, Ids{2, 6, 7}, weights).ok());
}

TEST(RouterJudge, LeavesARowOpenThatHasTooFewNumbersButNotItsRange) {
  const std::vector<float> logits(8, kNaN);
  const std::vector<float> weights(3, kNaN);
  const RouterRow row{.logits = logits};
  const RouterJudgement judgement = judge_router(kSpec, {}, row, Ids{0, 1, 2}, weights);
  EXPECT_TRUE(judgement.open && judgement.ok());
  EXPECT_FALSE(judge_router(kSpec, {}, row, Ids{0, 1, 1}, weights).ok());
  EXPECT_FALSE(judge_router(kSpec, {}, row, Ids{0, 1, 8}, weights).ok());
}

TEST(RouterJudge, LeavesARowOpenWhoseBestGroupHasTooFewNumbers) {
  const RouterSpec spec{.groups = 2, .topk_groups = 1, .topk = 2};
  const std::vector<float> weights(2, kNaN);
  const std::vector<float> best{1, 0, 5, kNaN};
  EXPECT_TRUE(judge_router(spec, {}, {.logits = best}, Ids{2, 3}, weights).open);
  // Of two groups that tie one has enough.
  for (const bool renormalize : {false, true}) {
    RouterSpec either = spec;
    either.renormalize = renormalize;
    const std::vector<float> tied{5, 1, 5, kNaN};
    const RouterRow row{.logits = tied};
    EXPECT_FALSE(judge(either, row, {0, 1}).open);
    EXPECT_TRUE(judge(either, row, {0, 1}).ok());
    EXPECT_TRUE(judge(either, row, {2, 3}).ok());
    EXPECT_FALSE(judge(either, row, {0, 3}).ok());
  }
  // A NaN beside a number that was left out.
  const std::vector<float> three{5, 4, kNaN, 1, 1, 1};
  EXPECT_FALSE(judge(spec, {.logits = three}, {0, 2}).ok());
  const std::vector<float> worse{5, 1, 4, kNaN};
  EXPECT_FALSE(judge(spec, {.logits = worse}, {2, 3}).ok());
}

TEST(RouterJudge, RefusesANaNWeight) {
  std::vector<float> weights = weights_of(kSpec, kRow, {2, 6, 7});
  weights[1] = kNaN;
  EXPECT_FALSE(judge_router(kSpec, {}, kRow, Ids{2, 6, 7}, weights).ok());
}

// Random rows against a choice computed in float, by repeated search for the maximum.
Ids choice_in_float(const RouterSpec& spec, const RouterRow& row) {
  const int64_t experts = std::ssize(row.logits);
  const int64_t size = experts / spec.groups;
  const Ids all = [&] {
    Ids ids(static_cast<size_t>(experts));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
    return ids;
  }();
  RouterSpec plain = spec;
  plain.renormalize = false;
  plain.scaling = 1;
  std::vector<float> c = weights_of(plain, row, all);
  for (size_t i = 0; i < row.bias.size(); ++i) c[i] += row.bias[i];
  std::vector<float> group(static_cast<size_t>(spec.groups));
  for (int64_t g = 0; g < spec.groups; ++g) {
    std::vector<float> members(c.begin() + g * size, c.begin() + (g + 1) * size);
    std::sort(members.rbegin(), members.rend());
    group[static_cast<size_t>(g)] = members[0] + (row.bias.empty() || size < 2 ? 0 : members[1]);
  }
  std::vector<bool> kept(group.size(), false);
  for (int64_t n = 0; n < spec.topk_groups; ++n) {
    const auto best = std::max_element(group.begin(), group.end());
    kept[static_cast<size_t>(best - group.begin())] = true;
    *best = -kInf;
  }
  for (int64_t i = 0; i < experts; ++i) {
    if (!kept[static_cast<size_t>(i / size)]) c[static_cast<size_t>(i)] = -kInf;
  }
  Ids ids;
  for (int64_t n = 0; n < spec.topk; ++n) {
    const auto best = std::max_element(c.begin(), c.end());
    ids.push_back(static_cast<int32_t>(best - c.begin()));
    *best = -kInf;
  }
  return ids;
}

TEST(RouterJudge, AcceptsAKernelInFloatAndRefusesItsBestLoser) {
  int64_t refused = 0;
  constexpr uint64_t kExamples = 400;
  for (uint64_t seed = 0; seed < kExamples; ++seed) {
    Draws draws(seed);
    const RouterSpec spec{
        .groups = 8,
        .topk_groups = 4,
        .topk = 1 + draws.below(8),
        .scoring = seed % 2 == 0 ? RouterScoring::kSigmoid : RouterScoring::kSoftmax,
        .renormalize = seed % 3 != 0,
        .scaling = 2.5};
    std::vector<float> logits;
    std::vector<float> bias;
    for (int i = 0; i < 256; ++i) {
      logits.push_back(static_cast<float>(draws.below(2001) - 1000) / 256);
      bias.push_back(static_cast<float>(draws.below(201) - 150) / 128);
    }
    RouterRow row{.logits = logits, .bias = bias};
    if (seed % 5 == 0) row.bias = {};
    Ids ids = choice_in_float(spec, row);
    ASSERT_TRUE(judge(spec, row, ids).ok()) << seed;
    RouterSpec more = spec;
    ++more.topk;
    ids.front() = choice_in_float(more, row).back();
    refused += judge(spec, row, ids).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, static_cast<int64_t>(kExamples * 9 / 10));  // the rest are ties
}

}  // namespace
}  // namespace exactk::oracle
