// The router: the right kernel passes, whichever ties it chose; one wrong expert, weight or write
// is found and explained.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

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

TEST(RouterOperation, TakesTheExpertsInAnyOrder) {
  const props::Outcome outcome = corrupted(kApart, [](const exactk_router& d) {
    for (int64_t token = 0; token < d.tokens; ++token) {
      std::reverse(d.ids + token * d.k, d.ids + (token + 1) * d.k);
      std::reverse(d.weights + token * d.k, d.weights + (token + 1) * d.k);
    }
  });
  EXPECT_EQ(Verdict::kPassed, outcome.verdict) << outcome.reason;
}

TEST(RouterOperation, TakesEitherOfTwoTies) {
  const std::string ties =
      "router.grouped_topk rows=1 groups=1 topk_groups=1 numbers=ties bias=none";
  const auto swap = [](const exactk_router& d) { d.ids[0] = other_expert(d, 0); };
  EXPECT_EQ(Verdict::kPassed, corrupted(ties, swap).verdict);
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

// What a comparator of public tests would say of `wrong` experts among 16 tokens of 8, all weights
// 0.
bool overlaps(int wrong) {
  const auto c = *fixtures::parse_case("router.grouped_topk rows=16 numbers=apart bias=none");
  const props::RouterOperation operation(c, props::select_kernels("host", "router.wave")->front());
  const props::RouterProblem problem = props::router_problem(c);
  const auto inputs = std::make_shared<props::RouterStep>(c, 0);
  std::vector<int32_t> ids;
  for (int64_t token = 0; token < c.rows; ++token) {
    auto row = oracle::grouped_topk(problem.spec, props::router_row(problem, inputs->in, token));
    if (token < wrong) {
      row[0] = 0;
      while (std::count(row.begin(), row.end(), row[0]) > 1) ++row[0];
    }
    ids.insert(ids.end(), row.begin(), row.end());
  }
  std::vector<props::Bytes> after(props::kRouterTensors);
  after[props::kRouterIds].resize(ids.size() * 4);
  std::memcpy(after[props::kRouterIds].data(), ids.data(), ids.size() * 4);
  after[props::kRouterWeights].resize(ids.size() * 4);
  const props::RouterCall call(problem);
  const props::Launched launched{0, 0, inputs, false, inputs, after, after, {}, call};
  const props::Findings found = operation.judge(launched);
  EXPECT_FALSE(found.ok());
  EXPECT_FALSE(operation.loosely_right(props::Judge::kSetThenValues, launched, found));
  return operation.loosely_right(props::Judge::kOverlap, launched, found);
}

TEST(RouterOperation, IsRightForAnOverlapWhereFewExpertsAreWrong) {
  EXPECT_TRUE(overlaps(0));
  EXPECT_TRUE(overlaps(6));
  EXPECT_FALSE(overlaps(7));
}

}  // namespace
}  // namespace exactk::tests
