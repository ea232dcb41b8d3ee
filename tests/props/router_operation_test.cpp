// The router: the right kernel passes, whichever ties it chose; one wrong expert, weight or write
// is found and explained.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/abi/exactk_abi.h"
#include "props/report.h"
#include "props/router_operation.h"
#include "props/trial.h"
#include "tests/props/corrupted_kernel.h"

namespace exactk::tests {
namespace {

using oracle::FaultKind;
using oracle::Verdict;

const std::string kApart = "router.grouped_topk rows=3 numbers=apart bias=none scaling=2500";

const exactk_router& as_router(const void* descriptor) {
  return *static_cast<const exactk_router*>(descriptor);
}

// Some expert that the token's row does not hold.
int32_t other_expert(const exactk_router& d, int64_t token) {
  const int32_t* row = d.ids + token * d.out_stride_elems;
  int32_t expert = 0;
  while (std::find(row, row + d.k, expert) != row + d.k) ++expert;
  return expert;
}

props::Outcome corrupted(const std::string& line, void (*change)(const exactk_router&)) {
  return run_corrupted(line, "router.wave",
                       [=](const void* descriptor) { change(as_router(descriptor)); });
}

TEST(RouterOperation, PassesWhatIsNotCorrupted) {
  for (const std::string keys :
       {"", "scoring=softmax", "bias=none", "bias=large", "dtype=bf16", "renormalize=0",
        "numbers=ties", "numbers=wide", "numbers=apart", "numbers=integers:4", "specials=50",
        "rows=5 experts=100 groups=4 topk_groups=3 k=32 row_stride=103 out_stride=40 misalign=1",
        "experts=32 groups=32 topk_groups=8", "k=32", "launch=graph replays=3 repeats=2"}) {
    for (const char* kernel : {"router.wave", "router.ranks"}) {
      const props::Outcome outcome = run_unchanged("router.grouped_topk " + keys, kernel);
      EXPECT_EQ(Verdict::kPassed, outcome.verdict) << props::report_text(outcome);
      EXPECT_GT(outcome.elements, 0);
    }
  }
}

TEST(RouterOperation, FailsOneWrongExpert) {
  const props::Outcome outcome = corrupted(kApart, [](const exactk_router& d) {
    d.ids[d.out_stride_elems + d.k - 1] = other_expert(d, 1);
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ(
      "1 of 3 tokens, the first is 1; 1 slots hold an expert that is certainly not among the "
      "best; 1 experts are missing",
      outcome.reason);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kIntruder));
  EXPECT_TRUE(outcome.faults.has(FaultKind::kMissingWinner));
  EXPECT_EQ((std::vector<int64_t>{1}), outcome.failing_rows);
  EXPECT_NE(std::string::npos, outcome.anatomy.find("slot 7    BAD expert")) << outcome.anatomy;
  EXPECT_NE(std::string::npos, outcome.anatomy.find("  missing       expert")) << outcome.anatomy;
  EXPECT_EQ("contract of the choice", outcome.broke);
}

TEST(RouterOperation, FailsAnExpertThatStandsTwice) {
  const props::Outcome outcome =
      corrupted(kApart, [](const exactk_router& d) { d.ids[2] = d.ids[0]; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kDuplicate)) << outcome.reason;
}

TEST(RouterOperation, FailsWhatIsNoExpert) {
  for (const auto& change :
       {+[](const exactk_router& d) { d.ids[0] = -1; },
        +[](const exactk_router& d) { d.ids[0] = static_cast<int32_t>(d.experts); }}) {
    const props::Outcome outcome = corrupted(kApart, change);
    ASSERT_EQ(Verdict::kFailed, outcome.verdict);
    EXPECT_TRUE(outcome.faults.has(FaultKind::kOutOfRange)) << outcome.reason;
  }
}

TEST(RouterOperation, FailsOneWeightThatIsSlightlyOff) {
  const props::Outcome outcome =
      corrupted(kApart, [](const exactk_router& d) { d.weights[3] *= 1.00001f; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kWrongValue)) << outcome.reason;
  EXPECT_EQ("contract of the weights", outcome.broke);
}

TEST(RouterOperation, SaysByWhichFactorAllWeightsAreOff) {
  const props::Outcome outcome = corrupted(kApart, [](const exactk_router& d) {
    for (int64_t i = 0; i < d.tokens * d.k; ++i) d.weights[i] /= d.scaling;
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("3 of 3 tokens; 24 weights are wrong, all by the factor 0.4", outcome.reason);
}

TEST(RouterOperation, FailsANanAmongTheWeights) {
  EXPECT_EQ(Verdict::kFailed, corrupted(kApart, [](const exactk_router& d) {
                                d.weights[0] = std::numeric_limits<float>::quiet_NaN();
                              }).verdict);
}

TEST(RouterOperation, FailsAWriteBetweenTheRows) {
  const std::string line = kApart + " out_stride=9";
  EXPECT_EQ(Verdict::kPassed, run_unchanged(line, "router.wave").verdict);
  const props::Outcome ids = corrupted(line, [](const exactk_router& d) { d.ids[d.k] = 0; });
  ASSERT_EQ(Verdict::kFailed, ids.verdict);
  EXPECT_TRUE(ids.faults.has(FaultKind::kGuardBroken)) << ids.reason;
  EXPECT_EQ("memory between the rows", ids.broke);
  EXPECT_EQ(Verdict::kFailed,
            corrupted(line, [](const exactk_router& d) { d.weights[d.k] = 0; }).verdict);
}

TEST(RouterOperation, FailsAWeightThatIsNotWritten) {
  const props::Outcome outcome =
      corrupted(kApart + " poison=plausible", [](const exactk_router& d) { d.weights[0] = 0.25f; });
  EXPECT_EQ(Verdict::kFailed, outcome.verdict);
}

TEST(RouterOperation, ProvesLittleWhereNoScoreIsANumber) {
  const props::Outcome outcome =
      run_unchanged("router.grouped_topk scoring=softmax specials=1000 seed=3", "router.wave");
  EXPECT_EQ(Verdict::kWeak, outcome.verdict) << outcome.reason;
}

TEST(RouterOperation, SeesTwoAnswersDiffer) {
  const auto c = fixtures::parse_case("router.grouped_topk rows=2");
  const props::RouterOperation operation(*c, props::select_kernels("host", "router.wave")->front());
  std::vector<props::Bytes> one(props::kRouterTensors);
  for (const size_t tensor : {props::kRouterIds, props::kRouterWeights})
    one[tensor].resize(static_cast<size_t>(operation.tensors()[tensor].bytes));
  std::vector<props::Bytes> other = one;
  EXPECT_EQ("", operation.difference(one, other));
  other[props::kRouterWeights][4 * 9] = std::byte{1};
  EXPECT_NE(std::string::npos, operation.difference(one, other).find("token 1 slot 1"));
}

// An answer of a launch, as the operation gets it.
struct Answer {
  explicit Answer(const std::string& line)
      : c(*fixtures::parse_case(line)),
        operation(c, props::select_kernels("host", "router.wave")->front()),
        problem(props::router_problem(c)),
        inputs(std::make_shared<props::RouterStep>(c, 0)),
        call(problem) {
    for (int64_t token = 0; token < c.rows; ++token) {
      for (const int32_t id :
           oracle::grouped_topk(problem.spec, props::router_row(problem, inputs->in, token)))
        ids.push_back(id);
    }
  }

  // The scores of sigmoid over their sum.
  void weigh() {
    weights.clear();
    for (size_t begin = 0; begin < ids.size(); begin += static_cast<size_t>(c.k)) {
      const auto row = static_cast<int64_t>(begin) / c.k;
      const oracle::RouterRow in = props::router_row(problem, inputs->in, row);
      float sum = 0;
      const auto score = [&](size_t slot) {
        return 1 / (1 + std::exp(-in.logits[static_cast<size_t>(ids[begin + slot])]));
      };
      for (size_t slot = 0; slot < static_cast<size_t>(c.k); ++slot) sum += score(slot);
      for (size_t slot = 0; slot < static_cast<size_t>(c.k); ++slot)
        weights.push_back(score(slot) / sum * static_cast<float>(problem.spec.scaling));
    }
  }

  props::Findings judge() {
    after.assign(props::kRouterTensors, {});
    after[props::kRouterIds].resize(ids.size() * 4);
    std::memcpy(after[props::kRouterIds].data(), ids.data(), ids.size() * 4);
    weights.resize(ids.size());
    after[props::kRouterWeights].resize(ids.size() * 4);
    std::memcpy(after[props::kRouterWeights].data(), weights.data(), ids.size() * 4);
    return operation.judge(launched());
  }
  props::Launched launched() const { return {0, 0, inputs, false, inputs, after, after, {}, call}; }

  fixtures::Case c;
  props::RouterOperation operation;
  props::RouterProblem problem;
  std::shared_ptr<props::RouterStep> inputs;
  props::RouterCall call;
  std::vector<int32_t> ids;
  std::vector<float> weights;
  std::vector<props::Bytes> after;
};

TEST(RouterOperation, TakesTheExpertsInAnyOrder) {
  Answer answer(kApart);
  answer.weigh();
  EXPECT_EQ("", answer.judge().why);
  std::reverse(answer.ids.begin(), answer.ids.begin() + 8);
  EXPECT_NE("", answer.judge().why);
  answer.weigh();
  EXPECT_EQ("", answer.judge().why);
}

TEST(RouterOperation, TakesAnyOfSeveralTies) {
  Answer answer("router.grouped_topk rows=1 groups=1 topk_groups=1 numbers=ties bias=none");
  for (const int32_t step : {1, 7, -1}) {
    for (int32_t slot = 0; slot < 8; ++slot)
      answer.ids[static_cast<size_t>(slot)] = step > 0 ? slot * step : 63 - slot;
    answer.weigh();
    EXPECT_EQ("", answer.judge().why);
  }
  answer.ids[1] = answer.ids[0];
  EXPECT_NE("", answer.judge().why);
}

// What a comparator of public tests would say of `wrong` experts among 16 tokens of 8, all weights
// 0.
bool overlaps(int wrong) {
  Answer answer("router.grouped_topk rows=16 numbers=apart bias=none");
  for (int token = 0; token < wrong; ++token) {
    const auto row = answer.ids.begin() + token * 8;
    *row = 0;
    while (std::count(row, row + 8, *row) > 1) ++*row;
  }
  const props::Findings found = answer.judge();
  EXPECT_FALSE(found.ok());
  EXPECT_FALSE(
      answer.operation.loosely_right(props::Judge::kSetThenValues, answer.launched(), found));
  return answer.operation.loosely_right(props::Judge::kOverlap, answer.launched(), found);
}

TEST(RouterOperation, IsRightForAnOverlapWhereFewExpertsAreWrong) {
  EXPECT_TRUE(overlaps(0));
  EXPECT_TRUE(overlaps(6));
  EXPECT_FALSE(overlaps(7));
}

}  // namespace
}  // namespace exactk::tests
