// Which modes a row breaks, with the smallest rows that show it.
#include "oracle/topk_contract.h"

#include <gtest/gtest.h>

#include "oracle/topk.h"
#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

constexpr ContractModes kAllModes = kSet | kPrefix | kOrdered | kStable;

const std::vector<uint32_t> kLogits = bits_of(std::vector<float>{5, 1, 4, 3, 2});

TEST(TopkJudge, AcceptsTheWinnersInAnyOrderAsASet) {
  EXPECT_TRUE(judge_row(kLogits, {3, 0, 2}, kSet).ok());
  EXPECT_TRUE(judge_row(kLogits, {3, 0, 2}, kSet | kPrefix).ok());
}

TEST(TopkJudge, AcceptsAnyChoiceAmongTiesAsASet) {
  const auto logits = bits_of(std::vector<float>{3, 3, 3, 9});
  for (const int32_t tie : {0, 1, 2}) {
    EXPECT_TRUE(judge_row(logits, {3, tie}, kSet | kPrefix | kOrdered).ok()) << tie;
  }
}

TEST(TopkJudge, AcceptsTheSentinelAnywhereAsASet) {
  const auto logits = bits_of(std::vector<float>{5, 6});
  EXPECT_TRUE(judge_row(logits, {-1, 1, -1, 0}, kSet).ok());
}

TEST(TopkJudge, RefusesAnInteriorSentinelAsAPrefixOnly) {
  const auto logits = bits_of(std::vector<float>{6, 5});
  const RowJudgement judgement = judge_row(logits, {0, -1, 1}, kAllModes);
  EXPECT_EQ(kPrefix | kOrdered | kStable, judgement.broken);
  EXPECT_EQ("prefix+ordered+stable: 1 sentinel inside, 2 sentinel missing, missing",
            describe(judgement));
}

TEST(TopkJudge, RefusesAWrongOrderAsOrderedOnly) {
  const RowJudgement judgement = judge_row(kLogits, {0, 3, 2}, kSet | kPrefix | kOrdered);
  EXPECT_EQ("ordered: 2 order<1, missing", describe(judgement));
  EXPECT_EQ(faults_of({FaultKind::kOrder}), judgement.faults);
}

TEST(TopkJudge, AcceptsEqualLogitsInAnyOrderAsOrdered) {
  const auto logits = bits_of(std::vector<float>{1, 2, 2, 0});
  EXPECT_TRUE(judge_row(logits, {2, 1, 0}, kSet | kPrefix | kOrdered).ok());
}

TEST(TopkJudge, RefusesNegativeZeroBeforePositiveZeroAsOrdered) {
  const std::vector<uint32_t> logits{kNegZero, kPosZero};
  EXPECT_TRUE(judge_row(logits, {1, 0}, kOrdered).ok());
  EXPECT_EQ(kOrdered, judge_row(logits, {0, 1}, kOrdered).broken);
}

TEST(TopkJudge, RefusesDescendingColumnsAsStableOnly) {
  EXPECT_EQ("stable: 2 order<1, missing",
            describe(judge_row(kLogits, {0, 3, 2}, kSet | kPrefix | kStable)));
}

TEST(TopkJudge, RefusesALaterTieAsStableOnly) {
  const auto logits = bits_of(std::vector<float>{3, 9, 3, 3});
  const RowJudgement judgement = judge_row(logits, {1, 2}, kSet | kPrefix | kStable);
  EXPECT_EQ("stable: 1 intruder, missing 0", describe(judgement));
  EXPECT_EQ(faults_of({FaultKind::kIntruder}), judgement.faults);
}

TEST(TopkJudge, ReportsOrderAndTieChoiceOfOneRowTogether) {
  const auto logits = bits_of(std::vector<float>{3, 9, 3, 3, 9});
  EXPECT_EQ("stable: 0 intruder, 2 order<1, missing 0",
            describe(judge_row(logits, {2, 4, 1}, kSet | kPrefix | kStable)));
}

TEST(TopkJudge, BreaksEveryPromisedModeWhenTheSetIsWrong) {
  const ContractModes promised = kAllModes | kRepeatable;
  EXPECT_EQ(promised, judge_row(kLogits, {0, 1, 2}, promised).broken);
  EXPECT_EQ(kSet | kPrefix, judge_row(kLogits, {0, 1, 2}, kSet | kPrefix).broken);
}

TEST(TopkJudge, TakesTheSetAsPromisedByEveryPromiseAndByNone) {
  for (const ContractModes promised : {ContractModes{0}, ContractModes{kRepeatable}}) {
    EXPECT_TRUE(judge_row(kLogits, {3, 0, 2}, promised).ok());
    EXPECT_EQ(promised | kSet, judge_row(kLogits, {3, 0, 1}, promised).broken);
  }
}

TEST(TopkJudge, TakesThePrefixAsPromisedByAnOrder) {
  const auto logits = bits_of(std::vector<float>{6, 5});
  EXPECT_EQ(kPrefix | kOrdered, judge_row(logits, {0, -1, 1}, kOrdered).broken);
  EXPECT_EQ(kPrefix | kStable, judge_row(logits, {0, -1, 1}, kStable).broken);
}

TEST(TopkJudge, WantsAllColumnsOfAShortRowWhateverTheirLogits) {
  const std::vector<uint32_t> logits{kNegNaN, kNegInf, kPosNaN};
  EXPECT_TRUE(judge_row(logits, {0, 1, 2, -1}, kSet | kPrefix | kStable).ok());
  EXPECT_FALSE(judge_row(logits, {2, 1, -1, -1}, kSet).ok());
}

TEST(TopkJudge, WantsOnlySentinelsForAnEmptyRow) {
  EXPECT_TRUE(judge_row({}, {-1, -1}, kAllModes).ok());
  EXPECT_EQ("set: 1 sentinel missing, missing", describe(judge_row({}, {-1, 0}, kSet)));
}

TEST(TopkJudge, AcceptsKOfZero) {
  EXPECT_TRUE(judge_row(kLogits, {}, kAllModes).ok());
  EXPECT_TRUE(judge_row({}, {}, kAllModes).ok());
}

TEST(TopkJudge, AcceptsLogitsOfEverySignAndClassAtTheCut) {
  const std::vector<uint32_t> logits(std::begin(kAscendingBits), std::end(kAscendingBits));
  const auto length = std::ssize(logits);
  for (int64_t k = 1; k <= length; ++k) {
    EXPECT_TRUE(judge_row(logits, topk_reference(logits, k), kSet | kPrefix | kStable).ok()) << k;
  }
}

TEST(TopkJudge, RefusesTheNextClassInPlaceOfTheOneAtTheCut) {
  const std::vector<uint32_t> logits(std::begin(kAscendingBits), std::end(kAscendingBits));
  const auto length = std::ssize(logits);
  for (int64_t k = 1; k < length; ++k) {
    std::vector<int32_t> indices = topk_reference(logits, k);
    --indices[0];
    const RowJudgement judgement = judge_row(logits, indices, kSet);
    EXPECT_EQ("set: 0 intruder, missing " + std::to_string(length - k), describe(judgement)) << k;
  }
}

TEST(TopkJudge, RefusesOneSkippedTieAnywhereInALongRowAsStableOnly) {
  const std::vector<uint32_t> logits(20000, kNegInf);
  const std::vector<int32_t> right = topk_reference(logits, 10000);
  EXPECT_TRUE(judge_row(logits, right, kSet | kPrefix | kStable).ok());
  for (const size_t skipped : {0u, 4095u, 4096u, 4097u, 8191u, 8192u, 9998u, 9999u}) {
    std::vector<int32_t> indices = right;
    for (size_t slot = skipped; slot < indices.size(); ++slot) {
      ++indices[slot];
    }
    const RowJudgement judgement = judge_row(logits, indices, kSet | kPrefix | kStable);
    EXPECT_EQ(ContractModes{kStable}, judgement.broken) << skipped;
    EXPECT_EQ("stable: 9999 intruder, missing " + std::to_string(skipped), describe(judgement));
  }
}

TEST(TopkJudge, FindsOneMissedWinnerAnywhereInALongRow) {
  for (const size_t winner : {0u, 4095u, 4096u, 8191u, 8192u, 12345u, 19998u, 19999u}) {
    std::vector<uint32_t> logits(20000, kNegZero);
    logits[winner] = kPosZero;
    const std::vector<int32_t> indices{static_cast<int32_t>((winner + 1) % logits.size())};
    EXPECT_EQ("set: 0 intruder, missing " + std::to_string(winner),
              describe(judge_row(logits, indices, kSet)));
  }
}

TEST(TopkJudge, LeavesNoTraceOfARefusedRowForTheNextOne) {
  TopkJudge judge(std::ssize(kLogits));
  const std::vector<int32_t> wrong{0, 2, 2};
  const std::vector<int32_t> right{0, 2, 3};
  EXPECT_FALSE(judge.judge({kLogits, wrong, {}}, kSet).ok());
  EXPECT_TRUE(judge.judge({kLogits, right, {}}, kSet).ok());
  EXPECT_TRUE(judge.judge({kLogits, right, {}}, kSet).ok());
}

TEST(TopkJudge, JudgesRowsWiderThanItWasMadeFor) {
  std::vector<uint32_t> logits(1000, bits_of(0.0f));
  logits[999] = bits_of(1.0f);
  TopkJudge judge(10);
  const std::vector<int32_t> right{999};
  const std::vector<int32_t> wrong{998};
  EXPECT_TRUE(judge.judge({logits, right, {}}, kSet).ok());
  EXPECT_FALSE(judge.judge({logits, wrong, {}}, kSet).ok());
}

}  // namespace
}  // namespace exactk::oracle
