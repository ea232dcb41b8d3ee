// The comparison of whole tensors: one test per kind that it names, and what it leaves open.
#include "oracle/expected.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

constexpr int64_t kBefore = 77;

// Rows of two fixed slots: [10, -1].
ExpectedTensor rows_of_one_value(int64_t rows) {
  ExpectedTensor tensor = untouched_matrix("indices", {.rows = rows, .columns = 2, .stride = 2});
  for (int64_t row = 0; row < rows; ++row) {
    tensor.set(2 * row, 10);
    tensor.set(2 * row + 1, -1);
  }
  return tensor;
}

TensorJudgement judge_row_of_one_value(std::vector<int64_t> got) {
  const std::vector<int64_t> before(2, kBefore);
  return judge_exact(rows_of_one_value(1), got, before);
}

TEST(JudgeExact, AcceptsTheValuesOfTheContract) {
  const TensorJudgement judgement = judge_row_of_one_value({10, -1});
  EXPECT_TRUE(judgement.ok());
  EXPECT_EQ(0, judgement.bad_elements);
  EXPECT_TRUE(judgement.bad.empty());
  EXPECT_EQ(0, judgement.failing_row_count);
}

TEST(JudgeExact, RefusesAWrongValue) {
  const TensorJudgement judgement = judge_row_of_one_value({11, -1});
  EXPECT_EQ(faults_of({FaultKind::kWrongValue}), judgement.faults);
  ASSERT_EQ(1u, judgement.bad.size());
  EXPECT_EQ(0, judgement.bad[0].position);
  EXPECT_EQ(10, judgement.bad[0].want);
  EXPECT_EQ(11, judgement.bad[0].got);
}

TEST(JudgeExact, RefusesAValueThatEqualsTheOneWantedInTheLow32BitsOnly) {
  EXPECT_EQ(faults_of({FaultKind::kWrongValue}),
            judge_row_of_one_value({10 + (int64_t{1} << 32), -1}).faults);
}

TEST(JudgeExact, RefusesASentinelWhereAValueIsWanted) {
  EXPECT_EQ(faults_of({FaultKind::kSentinelInside}), judge_row_of_one_value({-1, -1}).faults);
}

TEST(JudgeExact, RefusesAValueWhereTheSentinelIsWanted) {
  EXPECT_EQ(faults_of({FaultKind::kSentinelMissing}), judge_row_of_one_value({10, 0}).faults);
}

TEST(JudgeExact, NamesAnElementThatStillHoldsWhatItHeldBeforeAsNeverWritten) {
  const TensorJudgement judgement = judge_row_of_one_value({kBefore, kBefore});
  EXPECT_EQ(faults_of({FaultKind::kNeverWritten}), judgement.faults);
  EXPECT_EQ(2, judgement.bad_elements);
}

TEST(JudgeExact, AcceptsAnUnwrittenElementThatHeldTheRightValueBefore) {
  const std::vector<int64_t> before{10, -1};
  EXPECT_TRUE(judge_exact(rows_of_one_value(1), before, before).ok());
}

TEST(JudgeExact, ComparesAnUntouchedElementWithWhatItHeldBefore) {
  const ExpectedTensor want = untouched_vector("lens", 2);
  const std::vector<int64_t> before{5, 6};
  EXPECT_TRUE(judge_exact(want, before, before).ok());
  const std::vector<int64_t> got{5, 0};
  const TensorJudgement judgement = judge_exact(want, got, before);
  EXPECT_EQ(faults_of({FaultKind::kGuardBroken}), judgement.faults);
  ASSERT_EQ(1u, judgement.bad.size());
  EXPECT_EQ(1, judgement.bad[0].row);
  EXPECT_EQ(6, judgement.bad[0].want);
  EXPECT_EQ(0, judgement.bad[0].got);
}

TEST(JudgeExact, RefusesASentinelInAnUntouchedElement) {
  const std::vector<int64_t> before{5};
  const std::vector<int64_t> got{-1};
  EXPECT_EQ(faults_of({FaultKind::kGuardBroken}),
            judge_exact(untouched_vector("lens", 1), got, before).faults);
}

TEST(JudgeExact, TakesAnythingWhereTheContractLeavesItOpen) {
  ExpectedTensor want = rows_of_one_value(1);
  want.wants[0] = Want::kAny;
  const std::vector<int64_t> before(2, kBefore);
  for (const int64_t anything : {int64_t{-1}, int64_t{0}, kBefore, int64_t{12345}}) {
    const std::vector<int64_t> got{anything, -1};
    EXPECT_TRUE(judge_exact(want, got, before).ok()) << anything;
  }
  const std::vector<int64_t> beside{0, 0};
  EXPECT_FALSE(judge_exact(want, beside, before).ok());
}

TEST(JudgeExact, NamesTheRowAndTheSlotInAMatrixWithGaps) {
  ExpectedTensor want = untouched_matrix("indices", {.rows = 3, .columns = 2, .stride = 5});
  ASSERT_EQ(12u, want.values.size());
  const std::vector<int64_t> before(12, kBefore);
  std::vector<int64_t> got = before;
  got[6] = 1;  // row 1, slot 1
  got[9] = 1;  // the gap after row 1
  const TensorJudgement judgement = judge_exact(want, got, before);
  ASSERT_EQ(2u, judgement.bad.size());
  EXPECT_EQ(1, judgement.bad[0].row);
  EXPECT_EQ(1, judgement.bad[0].slot);
  EXPECT_EQ(1, judgement.bad[1].row);
  EXPECT_EQ(4, judgement.bad[1].slot);
  EXPECT_EQ(std::vector<int64_t>{1}, judgement.failing_rows);
}

TEST(JudgeExact, SkipsEmptyRowsOfAFlatListAndCountsItsRestToTheLastRow) {
  ExpectedTensor want = untouched_matrix("slots", {.rows = 4, .columns = 2, .stride = 2});
  want.row_begins = {0, 2, 2, 5, 6};
  const std::vector<int64_t> before(8, kBefore);
  const std::vector<int64_t> got(8, 0);
  const TensorJudgement judgement = judge_exact(want, got, before);
  std::vector<int64_t> rows;
  std::vector<int64_t> slots;
  for (const BadElement& bad : judgement.bad) {
    rows.push_back(bad.row);
    slots.push_back(bad.slot);
  }
  EXPECT_EQ((std::vector<int64_t>{0, 0, 2, 2, 2, 3, 3, 3}), rows);
  EXPECT_EQ((std::vector<int64_t>{0, 1, 0, 1, 2, 0, 1, 2}), slots);
  EXPECT_EQ((std::vector<int64_t>{0, 2, 3}), judgement.failing_rows);
}

TEST(JudgeExact, KeepsTheFirstAndTheLastBadElementsAndCountsAll) {
  const int64_t elements = kBadElementsMax + 1;
  const ExpectedTensor want = untouched_vector("lens", elements);
  const std::vector<int64_t> before(static_cast<size_t>(elements), 0);
  const std::vector<int64_t> got(static_cast<size_t>(elements), 1);
  const TensorJudgement judgement = judge_exact(want, got, before);
  EXPECT_EQ(elements, judgement.bad_elements);
  ASSERT_EQ(static_cast<size_t>(kBadElementsMax), judgement.bad.size());
  EXPECT_EQ(kBadElementsMax / 2 - 1, judgement.bad[kBadElementsMax / 2 - 1].position);
  EXPECT_EQ(kBadElementsMax / 2 + 1, judgement.bad[kBadElementsMax / 2].position);
  EXPECT_EQ(elements - 1, judgement.bad.back().position);
}

TEST(JudgeExact, KeepsTheFirstFailingRowsAndCountsAll) {
  const int64_t rows = kFailingRowsKept + 1;
  const std::vector<int64_t> before(static_cast<size_t>(2 * rows), kBefore);
  const TensorJudgement judgement = judge_exact(rows_of_one_value(rows), before, before);
  EXPECT_EQ(rows, judgement.failing_row_count);
  std::vector<int64_t> first_rows(kFailingRowsKept);
  std::iota(first_rows.begin(), first_rows.end(), 0);
  EXPECT_EQ(first_rows, judgement.failing_rows);
}

TEST(JudgeExact, AcceptsATensorWithoutRows) {
  const ExpectedTensor want = untouched_matrix("slots", {.rows = 0, .columns = 4, .stride = 4});
  EXPECT_TRUE(want.values.empty());
  EXPECT_TRUE(judge_exact(want, {}, {}).ok());
}

}  // namespace
}  // namespace exactk::oracle
