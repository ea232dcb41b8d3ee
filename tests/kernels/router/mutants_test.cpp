// Every planted fault shows on an input that reaches it, is harmless on one that does not, and the
// kernel that it was planted in is right on both.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "kernels/registry.h"
#include "tests/kernels/planted.h"
#include "tests/kernels/router/problem.h"

namespace exactk::kernels::test {
namespace {

struct Planted {
  const char* mutant;
  const char* base;
  const char* verdict;  // words of the verdict on the reached input
  RouterProblem (*reached)();
  RouterProblem (*passed_over)();  // null: there is none
  Options options{};               // of the reached input
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

RouterProblem plain() {
  return router_problem({});
}
RouterProblem unbiased() {
  return router_problem({.biased = false});
}
RouterProblem with_bias(float factor, float shift) {
  RouterProblem p = plain();
  for (float& bias : p.bias) {
    bias = bias * factor + shift;
  }
  return p;
}
RouterProblem negative() {
  return with_bias(1, -3);
}
RouterProblem far_bias() {
  return with_bias(4096, 0);
}
// Its steps are below those of bf16, and decide.
RouterProblem fine_bias() {
  RouterProblem p = with_bias(0.0078125f, 1);
  std::fill(p.logits.begin(), p.logits.end(), 0.5f);
  return p;
}
RouterProblem one_group() {
  return router_problem({.groups = 1, .topk_groups = 1});
}
RouterProblem many() {
  return router_problem({.experts = 512, .groups = 1, .topk_groups = 1, .k = 32, .biased = false});
}
RouterProblem groups_of_one() {
  return router_problem({.experts = 32, .groups = 32, .topk_groups = 8});
}
RouterProblem all_groups() {
  return router_problem({.tokens = 8, .topk_groups = 8});
}
RouterProblem all_kept() {
  return router_problem({.topk_groups = 1});
}
RouterProblem plain_weights() {
  return router_problem({.renormalize = false});
}
RouterProblem even_tokens() {
  return router_problem({.tokens = 4});
}
RouterProblem padded() {
  return router_problem({.logit_pad = 3, .out_pad = 5});
}
RouterProblem experts(int64_t count, int64_t groups) {
  return router_problem({.experts = count, .groups = groups});
}
RouterProblem experts_32() {
  return experts(32, 8);
}
RouterProblem experts_100() {
  return experts(100, 4);
}
RouterProblem experts_256() {
  return experts(256, 8);
}
RouterProblem experts_384() {
  return experts(384, 8);
}
RouterProblem equal() {
  RouterProblem p = plain();
  std::fill(p.logits.begin(), p.logits.end(), 0.5f);
  std::fill(p.bias.begin(), p.bias.end(), 0.25f);
  return p;
}
RouterProblem apart() {
  RouterProblem p = router_problem({.experts = 16, .groups = 4, .biased = false});
  for (int64_t token = 0; token < p.n.tokens; ++token) {
    for (int64_t expert = 0; expert < p.n.experts; ++expert) {
      p.logit(token, expert) = 2 - static_cast<float>((expert * 5 + token) % 16);
    }
  }
  return p;
}
RouterProblem with_nan() {
  RouterProblem p = plain();
  for (int64_t token = 0; token < p.n.tokens; ++token) {
    p.logit(token, 9 + token) = kNan;
  }
  return p;
}
RouterProblem nan_with_bias() {
  RouterProblem p = with_nan();
  for (int64_t token = 0; token < p.n.tokens; ++token) {
    p.bias[static_cast<size_t>(9 + token)] = 4;
  }
  return p;
}
RouterProblem high_softmax() {
  RouterProblem p = router_problem({.scoring = oracle::RouterScoring::kSoftmax});
  for (float& logit : p.logits) {
    logit += 120;
  }
  return p;
}

const Planted kPlanted[] = {
    {"mutant.excluded_as_zero", "router.wave", "intruder", negative, plain},
    {"mutant.weights_biased", "router.wave", "wrong value", plain, unbiased},
    {"mutant.weights_of_difference", "router.wave", "wrong value", far_bias, unbiased},
    {"mutant.group_by_largest", "router.wave", "", plain, one_group},
    {"mutant.group_by_two_always", "router.wave", "", unbiased, plain},
    {"mutant.second_of_one", "router.wave", "", groups_of_one, plain},
    {"mutant.sum_over_kept", "router.wave", "wrong value", plain, all_kept},
    {"mutant.scaling_forgotten", "router.wave", "wrong value", plain, plain_weights},
    {"mutant.scaling_of_shares", "router.wave", "wrong value", plain_weights, plain},
    {"mutant.scores_in_bf16", "router.wave", "", many, apart},
    {"mutant.bias_in_bf16", "router.wave", "", fine_bias, unbiased},
    {"mutant.bias_forgotten", "router.wave", "", plain, unbiased},
    {"mutant.nan_wins", "router.wave", "intruder", with_nan, plain},
    {"mutant.nan_as_zero", "router.wave", "", nan_with_bias, plain},
    {"mutant.last_slot_next", "router.wave", "", plain, all_kept},
    {"mutant.tie_chosen_twice", "router.wave", "duplicate", equal, plain},
    {"mutant.last_group_missed", "router.wave", "", all_groups, one_group},
    {"mutant.partial_wave_missed", "router.wave", "", experts_100, plain},
    {"mutant.last_tokens_missed", "router.wave", "token 4", plain, even_tokens},
    {"mutant.softmax_overflows", "router.wave", "", high_softmax, plain},
    {"mutant.experts_are_stride", "router.wave", "token 1", padded, plain},
    {"mutant.k_is_stride", "router.wave", "", padded, plain},
    {"mutant.last_weight_kept", "router.wave", "wrong value", plain, nullptr},
    {"mutant.best_of_32_lanes", "router.wave", "", plain, experts_32, {.wave_width = 64}},
    {"mutant.scores_not_awaited", "router.wave", "", plain, nullptr},
    {"mutant.ranks_not_awaited", "router.ranks", "", experts_256, nullptr, {.schedule_seed = 1}},
    {"mutant.experts_per_thread", "router.ranks", "", experts_384, experts_256},
};

class RouterMutant : public testing::TestWithParam<Planted> {};

TEST_P(RouterMutant, ShowsWhereItIsReached) {
  if (!shows_here(GetParam().mutant)) {
    GTEST_SKIP() << "shows for certain on the host device alone";
  }
  RouterProblem problem = GetParam().reached();
  EXPECT_EQ("", run(GetParam().base, problem, GetParam().options));
  const std::string verdict = run(GetParam().mutant, problem, GetParam().options);
  EXPECT_NE("", verdict);
  EXPECT_NE(std::string::npos, verdict.find(GetParam().verdict)) << verdict;
}

TEST_P(RouterMutant, IsHarmlessElsewhere) {
  if (GetParam().passed_over == nullptr || !shows_here(GetParam().mutant)) {
    GTEST_SKIP() << "is elsewhere nowhere, or on the host device alone";
  }
  RouterProblem problem = GetParam().passed_over();
  EXPECT_EQ("", run(GetParam().base, problem));
  EXPECT_EQ("", run(GetParam().mutant, problem));
}

INSTANTIATE_TEST_SUITE_P(Router, RouterMutant, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.mutant + 7); });

TEST(RouterMutants, AreAllTestedHere) {
  std::set<std::string_view> tested;
  for (const Planted& planted : kPlanted) {
    tested.insert(planted.mutant);
  }
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    if (std::string_view(mutant.kernel->op) == "router.grouped_topk") {
      EXPECT_TRUE(tested.contains(mutant.kernel->name)) << mutant.kernel->name;
    }
  }
}

}  // namespace
}  // namespace exactk::kernels::test
