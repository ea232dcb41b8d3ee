// How the judge names what is wrong: one test per kind, and the pairs that are easily confused.
#include <gtest/gtest.h>

#include "oracle/topk_contract.h"
#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

const std::vector<uint32_t> kLogits = bits_of(std::vector<float>{5, 1, 4, 3, 2});
const std::vector<uint32_t> kShort = bits_of(std::vector<float>{1, 2, 3});

TEST(TopkJudgeKinds, RefusesADuplicateInTheLastSlot) {
  const RowJudgement judgement = judge_row(kLogits, {0, 2, 0}, kSet);
  EXPECT_EQ("set: 2 duplicate<0, missing 3", describe(judgement));
  EXPECT_EQ(faults_of({FaultKind::kDuplicate, FaultKind::kMissingWinner}), judgement.faults);
}

TEST(TopkJudgeKinds, NamesTheFirstSlotForEveryRepeat) {
  EXPECT_EQ("set: 1 duplicate<0, 2 duplicate<0, missing 2 3",
            describe(judge_row(kLogits, {0, 0, 0}, kSet)));
}

TEST(TopkJudgeKinds, NamesALoserAsIntruderAndTheWinnerThatItReplaced) {
  EXPECT_EQ("set: 1 intruder, missing 2", describe(judge_row(kLogits, {0, 4, 3}, kSet)));
}

TEST(TopkJudgeKinds, BlamesTheTieThatTookAWinnersPlace) {
  const auto logits = bits_of(std::vector<float>{3, 3, 3, 9});
  EXPECT_EQ("set: 1 intruder, missing 3", describe(judge_row(logits, {1, 0}, kSet)));
}

TEST(TopkJudgeKinds, ListsNoMissingColumnWhenAnyTieWouldDo) {
  const auto logits = bits_of(std::vector<float>{3, 9, 3, 3});
  const RowJudgement judgement = judge_row(logits, {1, 1}, kSet);
  EXPECT_EQ("set: 1 duplicate<0, missing", describe(judgement));
  EXPECT_EQ(faults_of({FaultKind::kDuplicate}), judgement.faults);
}

TEST(TopkJudgeKinds, NamesIndicesOutsideTheRow) {
  EXPECT_EQ("set: 0 out of range, 1 out of range, missing 0 2",
            describe(judge_row(kLogits, {5, -2, 3}, kSet)));
  EXPECT_EQ("set: 0 out of range, 1 out of range, missing 0 2",
            describe(judge_row(kLogits, {INT32_MAX, INT32_MIN, 3}, kSet)));
}

TEST(TopkJudgeKinds, NamesASentinelWhereAnIndexMustBe) {
  EXPECT_EQ("set: 1 sentinel inside, missing 2", describe(judge_row(kLogits, {0, -1, 3}, kSet)));
}

TEST(TopkJudgeKinds, BlamesOnlyTheSurplusSentinelsOfASet) {
  EXPECT_EQ("set: 1 sentinel inside, missing 1",
            describe(judge_row(kShort, {0, -1, 2, -1, -1}, kSet)));
}

TEST(TopkJudgeKinds, NamesATailThatIsNotSentinel) {
  for (const ContractModes promised : {ContractModes{kSet}, ContractModes{kSet | kPrefix}}) {
    const RowJudgement stale = judge_row(kShort, {0, 1, 2, 77}, promised);
    ASSERT_EQ(1, stale.bad_slots);
    EXPECT_EQ(3, stale.bad[0].position);
    EXPECT_EQ(FaultKind::kSentinelMissing, stale.bad[0].kind);
    EXPECT_EQ(faults_of({FaultKind::kSentinelMissing}), stale.faults);

    const RowJudgement repeat = judge_row(kShort, {0, 1, 2, 1}, promised);
    ASSERT_EQ(1, repeat.bad_slots);
    EXPECT_EQ(FaultKind::kSentinelMissing, repeat.bad[0].kind);
    EXPECT_EQ(1, repeat.bad[0].other);
  }
}

TEST(TopkJudgeKinds, NamesAnIndexOutsideTheRowSoWhenTheSentinelsAreAllThere) {
  const auto logits = bits_of(std::vector<float>{1, 2});
  EXPECT_EQ("set: 2 out of range, missing 1", describe(judge_row(logits, {0, -1, 7, -1}, kSet)));
  EXPECT_EQ("set: 2 duplicate<0, missing 1", describe(judge_row(logits, {0, -1, 0, -1}, kSet)));
}

TEST(TopkJudgeKinds, KeepsAnOrderFaultApartFromNeverWritten) {
  EXPECT_EQ("ordered: 2 order<1, missing",
            describe(judge_row(kLogits, {0, 3, 2}, kSet | kPrefix | kOrdered, {2, 2, 2})));
}

TEST(TopkJudgeKinds, NamesAWrongSlotThatStillHoldsThePoisonAsNeverWritten) {
  const RowJudgement judgement =
      judge_row(kShort, {0, 1, 2, 77, 77}, kSet | kPrefix, {77, 77, 77, 77, 77});
  EXPECT_EQ("set+prefix: 3 never written, 4 never written, missing", describe(judgement));
  EXPECT_EQ(faults_of({FaultKind::kNeverWritten}), judgement.faults);
}

TEST(TopkJudgeKinds, SeesPlausiblePoisonInAWinnersPlaceAsNeverWritten) {
  EXPECT_EQ("set: 1 never written, missing 2",
            describe(judge_row(kLogits, {0, 1, 3}, kSet, {1, 1, 1})));
}

TEST(TopkJudgeKinds, AcceptsARightSlotThatEqualsThePoison) {
  EXPECT_TRUE(judge_row(kLogits, {0, 2, 3}, kSet, {0, 0, 0}).ok());
}

TEST(TopkJudgeKinds, KeepsAllCountsAndTheFirstAndLastSlots) {
  const std::vector<uint32_t> logits(300, bits_of(1.0f));
  const std::vector<int32_t> indices(200, 300);
  const RowJudgement judgement = judge_row(logits, indices, kSet | kPrefix | kStable);
  EXPECT_EQ(200, judgement.bad_slots);
  EXPECT_EQ(200, judgement.missing_columns);
  ASSERT_EQ(kBadSlotsMax, std::ssize(judgement.bad));
  ASSERT_EQ(kBadSlotsMax, std::ssize(judgement.missing));
  EXPECT_EQ(31, judgement.bad[kBadSlotsMax / 2 - 1].position);
  EXPECT_EQ(200 - 32, judgement.bad[kBadSlotsMax / 2].position);
  EXPECT_EQ(199, judgement.bad.back().position);
  EXPECT_EQ(63, judgement.missing.back());
}

}  // namespace
}  // namespace exactk::oracle
