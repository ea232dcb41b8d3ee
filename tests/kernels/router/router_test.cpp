// The router kernels against the oracle, row by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include "tests/kernels/router/problem.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr auto kSigmoid = oracle::RouterScoring::kSigmoid;
constexpr auto kSoftmax = oracle::RouterScoring::kSoftmax;

class Router : public testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  std::string verdict(RouterProblem problem) const {
    return run(std::get<0>(GetParam()), problem, {.wave_width = std::get<1>(GetParam())});
  }
  std::string verdict(const RouterNumbers& numbers) const {
    return verdict(router_problem(numbers));
  }
};

TEST_P(Router, TakesEveryScoringBiasAndType) {
  for (const auto scoring : {kSigmoid, kSoftmax}) {
    for (const int32_t flags : {0, 1, 2, 3, 4, 5, 6, 7}) {
      EXPECT_EQ("", verdict({.scoring = scoring,
                             .biased = (flags & 1) != 0,
                             .renormalize = (flags & 2) != 0,
                             .bf16 = (flags & 4) != 0}))
          << flags;
    }
  }
}

TEST_P(Router, TakesEveryGrouping) {
  struct Sizes {
    int64_t experts, groups, topk_groups, k;
  };
  for (const Sizes& s :
       {Sizes{1, 1, 1, 1}, Sizes{2, 2, 1, 1}, Sizes{32, 32, 8, 8}, Sizes{31, 1, 1, 31},
        Sizes{64, 1, 1, 6}, Sizes{65, 5, 2, 26}, Sizes{96, 32, 4, 12}, Sizes{100, 4, 3, 32},
        Sizes{160, 8, 3, 6}, Sizes{256, 8, 4, 8}, Sizes{384, 1, 1, 8}, Sizes{513, 27, 13, 32}}) {
    for (const bool biased : {false, true}) {
      EXPECT_EQ("", verdict({.experts = s.experts,
                             .groups = s.groups,
                             .topk_groups = s.topk_groups,
                             .k = s.k,
                             .biased = biased}))
          << s.experts << " experts in " << s.groups << " groups";
    }
  }
}

TEST_P(Router, TakesEveryTokenCount) {
  for (const int64_t tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9, 67}) {
    EXPECT_EQ("", verdict({.tokens = tokens})) << tokens;
  }
}

TEST_P(Router, LeavesGapsBetweenRows) {
  EXPECT_EQ("", verdict({.logit_pad = 3, .out_pad = 5}));
}

TEST_P(Router, ChoosesAmongEqualExpertsEachOnce) {
  RouterProblem p = router_problem({.k = 20});
  std::fill(p.logits.begin(), p.logits.end(), 0.5f);
  std::fill(p.bias.begin(), p.bias.end(), 0.25f);
  EXPECT_EQ("", verdict(p));
}

TEST_P(Router, NeverChoosesAnExcludedGroupOverNegativeChoices) {
  RouterProblem p = router_problem({});
  for (float& bias : p.bias) {
    bias -= 3;
  }
  EXPECT_EQ("", verdict(p));
}

TEST_P(Router, WeighsWithoutABiasThatIsFarLarger) {
  RouterProblem p = router_problem({});
  for (float& bias : p.bias) {
    bias *= 4096;
  }
  EXPECT_EQ("", verdict(p));
}

TEST_P(Router, NeverChoosesANan) {
  RouterProblem p = router_problem({});
  for (int64_t token = 0; token < p.n.tokens; ++token) {
    for (int64_t expert = token; expert < p.n.experts; expert += 5) {
      p.logit(token, expert) = expert % 2 == 0 ? kNan : -kNan;
    }
  }
  p.bias[7] = kNan;
  EXPECT_EQ("", verdict(p));
}

TEST_P(Router, TakesInfinities) {
  RouterProblem p = router_problem({});
  p.logit(0, 3) = kInfinity;
  p.logit(0, 60) = -kInfinity;
  p.logit(1, 8) = -kInfinity;
  p.bias[20] = -kInfinity;
  EXPECT_EQ("", verdict(p));
}

// Fewer numbers than are chosen: any experts, but each once.
TEST_P(Router, AnswersARowOfNanWithExperts) {
  for (const auto scoring : {kSigmoid, kSoftmax}) {
    RouterProblem p = router_problem({.scoring = scoring});
    std::fill(p.logits.begin(), p.logits.end(), kNan);
    EXPECT_EQ("", verdict(p));
  }
}

TEST_P(Router, TakesLogitsWhoseExponentialOverflows) {
  RouterProblem p = router_problem({.scoring = kSoftmax});
  for (float& logit : p.logits) {
    logit = logit * 2 + 120;
  }
  EXPECT_EQ("", verdict(p));
}

TEST_P(Router, ReplaysWithOtherLogits) {
  RouterProblem p = router_problem({});
  Bench bench(kernel(std::get<0>(GetParam())), p, {.wave_width = std::get<1>(GetParam())});
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  EXPECT_EQ(1, bench.captured_kernels());
  for (const uint64_t seed : {2, 3}) {
    p = router_problem({.seed = seed});
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.replay());
    EXPECT_EQ("", bench.judge()) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Router,
                         testing::Combine(testing::Values("router.wave", "router.ranks"),
                                          testing::ValuesIn(wave_widths())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) + 7) + "_wave" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(RouterLimits, MoreExpertsThanABlockHasThreads) {
  RouterProblem in_waves = router_problem({.experts = 1024, .groups = 32});
  RouterProblem in_ranks = router_problem({.tokens = 2, .experts = 2048, .groups = 64, .k = 100});
  for (const int width : wave_widths()) {
    EXPECT_EQ("", run("router.wave", in_waves, {.wave_width = width}));
    EXPECT_EQ("", run("router.ranks", in_ranks, {.wave_width = width}));
  }
}

}  // namespace
}  // namespace exactk::kernels::test
