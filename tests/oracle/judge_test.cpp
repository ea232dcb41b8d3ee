#include "oracle/judge.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "oracle/topk.h"
#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

// Two rows of six columns, k = 3; the right sets are {1, 3, 4} and {0, 2, 5}.
const std::vector<float> kLogits = {0, 5, 1, 4, 3, 2, 9, 0, 8, 1, 2, 7};

LogitsView view(const std::vector<float>& logits, int64_t rows) {
  const int64_t width = std::ssize(logits) / rows;
  return {logits.data(), rows, width, width, 1};
}

IndicesView view(const std::vector<int32_t>& indices, int64_t k) {
  return {indices.data(), k, k, nullptr};
}

AnswerJudgement judge_two_rows(const std::vector<int32_t>& indices, ContractModes promised = kSet) {
  const std::vector<int32_t> lengths = {6, 6};
  return judge_topk_decode(view(kLogits, 2), {lengths}, view(indices, 3), promised);
}

void expect_refused(const AnswerJudgement& judgement, const std::string& words) {
  EXPECT_EQ(Verdict::kInvalid, judgement.verdict);
  EXPECT_FALSE(judgement.ok());
  EXPECT_NE(std::string::npos, judgement.text.find("can't be judged")) << judgement.text;
  EXPECT_NE(std::string::npos, judgement.text.find(words)) << judgement.text;
}

TEST(Judge, PassesARightAnswerInAnyOrderWithoutAWord) {
  const AnswerJudgement judgement = judge_two_rows({4, 1, 3, 5, 0, 2}, kPrefix);
  EXPECT_TRUE(judgement.ok()) << judgement.text;
  EXPECT_EQ(2, judgement.rows);
  EXPECT_EQ("", judgement.text);
}

TEST(Judge, NamesTheFailingRowWithItsBadSlotsAndMissingColumns) {
  const AnswerJudgement judgement = judge_two_rows({4, 1, 3, 5, 0, 4});
  EXPECT_EQ(Verdict::kFailed, judgement.verdict);
  EXPECT_EQ(1, judgement.failing_rows);
  EXPECT_EQ(faults_of({FaultKind::kIntruder, FaultKind::kMissingWinner}), judgement.faults);
  EXPECT_EQ(
      "1 of 2 rows break contract set: missing winner, intruder. Row 1 (length 6, k 3): slot 2 "
      "holds 4, intruder; missing column 2.",
      judgement.text);
}

TEST(Judge, JudgesThePromisedModesOnly) {
  const std::vector<int32_t> unordered = {4, 1, 3, 0, 2, 5};
  EXPECT_TRUE(judge_two_rows(unordered, kSet | kPrefix).ok());
  const AnswerJudgement stable = judge_two_rows(unordered, kStable);
  EXPECT_EQ(ContractModes{kStable}, stable.broken);
  EXPECT_EQ(faults_of({FaultKind::kOrder}), stable.faults);
  EXPECT_FALSE(judge_two_rows(unordered, kOrdered).ok());
}

TEST(Judge, SaysThatASlotWasNeverWrittenIfItKnowsWhatWasBefore) {
  const std::vector<int32_t> indices = {4, 1, 77, 5, 0, 2};
  const std::vector<int32_t> before(6, 77);
  const std::vector<int32_t> lengths = {6, 6};
  IndicesView slots = view(indices, 3);
  const auto faults = [&] { return judge_topk_decode(view(kLogits, 2), {lengths}, slots).faults; };
  EXPECT_TRUE(faults().has(FaultKind::kOutOfRange));
  slots.before = before.data();
  EXPECT_TRUE(faults().has(FaultKind::kNeverWritten));
}

TEST(Judge, FollowsEveryStride) {
  // Logits lie column by column; rows of indices have two slots between them.
  std::vector<float> transposed(12);
  for (size_t row = 0; row < 2; ++row) {
    for (size_t column = 0; column < 6; ++column) {
      transposed[column * 2 + row] = kLogits[row * 6 + column];
    }
  }
  std::vector<int32_t> indices = {1, 3, 4, 99, 99, 0, 2, 5};
  const std::vector<int32_t> lengths = {6, 6};
  const auto judge = [&] {
    return judge_topk_decode({transposed.data(), 2, 6, 1, 2}, {lengths},
                             {indices.data(), 3, 5, nullptr});
  };
  EXPECT_TRUE(judge().ok()) << judge().text;
  indices[7] = 4;
  EXPECT_FALSE(judge().ok());

  const std::vector<int32_t> starts = {2, 1};  // of 1, 4, 3, 2 and 0, 8, 1, 2, 7
  const std::vector<int32_t> answer = {1, 2, 3, 1, 3, 4};
  const auto prefill =
      judge_topk_prefill({transposed.data(), 2, 6, 1, 2}, {starts, lengths}, view(answer, 3));
  EXPECT_TRUE(prefill.ok()) << prefill.text;
}

TEST(Judge, TakesTheLengthOfEachDraftFromItsRequest) {
  const std::vector<int32_t> lengths = {3};  // two rows of it: lengths 2 and 3
  const std::vector<int32_t> right = {0, 1, -1, 0, 1, 2};
  const std::vector<int32_t> wrong = {0, 1, 2, 0, 1, 2};
  const auto judge = [&](const std::vector<int32_t>& indices, DecodeRows rows) {
    return judge_topk_decode(view(kLogits, 2), rows, view(indices, 3));
  };
  EXPECT_TRUE(judge(right, {lengths, 2}).ok());
  EXPECT_FALSE(judge(wrong, {lengths, 2}).ok());
  const std::vector<int32_t> per_row = {2, 3};
  EXPECT_TRUE(judge(right, {per_row, 2, 2}).ok());
  EXPECT_FALSE(judge(wrong, {per_row, 2, 2}).ok());
}

TEST(Judge, TakesRowsThatFillTheLastRequestInPart) {
  const std::vector<float> logits = {0, 1, 2, 9, 0, 1, 2, 9, 0, 1, 2, 9};
  const std::vector<int32_t> lengths = {4, 3};  // next_n 2: rows of 3, 4 and 2 columns
  const std::vector<int32_t> best = {2, 3, 1};
  const auto judgement = judge_topk_decode(view(logits, 3), {lengths, 2}, view(best, 1));
  EXPECT_TRUE(judgement.ok()) << judgement.text;
}

TEST(Judge, CountsPrefillIndicesFromTheRowOrFromTheBuffer) {
  const std::vector<int32_t> starts = {2, 4};
  const std::vector<int32_t> ends = {6, 5};
  const std::vector<int32_t> relative = {1, 2, 3, 0, -1, -1};
  const std::vector<int32_t> absolute = {3, 4, 5, 4, -1, -1};
  const auto judge = [&](const std::vector<int32_t>& indices, bool is_absolute) {
    return judge_topk_prefill(view(kLogits, 2), {starts, ends, is_absolute}, view(indices, 3));
  };
  EXPECT_TRUE(judge(relative, false).ok()) << judge(relative, false).text;
  EXPECT_TRUE(judge(absolute, true).ok()) << judge(absolute, true).text;
  EXPECT_FALSE(judge(absolute, false).ok());
  const AnswerJudgement wrong = judge({3, 4, 0, 4, -1, -1}, true);
  EXPECT_NE(std::string::npos, wrong.text.find("slot 2 holds 0, out of range; missing column 5"))
      << wrong.text;
}

TEST(Judge, NeverTakesAnAbsoluteIndexForTheSentinel) {
  // An empty row far in front: its start and the largest index are 2^32 - 1 apart.
  const std::vector<int32_t> starts = {std::numeric_limits<int32_t>::min()};
  const std::vector<int32_t> indices = {std::numeric_limits<int32_t>::max()};
  const LogitsView logits{nullptr, 1, 6, 6, 1};
  EXPECT_EQ(Verdict::kFailed,
            judge_topk_prefill(logits, {starts, starts, true}, view(indices, 1)).verdict);
}

TEST(Judge, IsWeakWhereNothingWasAtStake) {
  const std::vector<int32_t> lengths = {0, -5};
  const std::vector<int32_t> sentinels(6, kSentinel);
  EXPECT_EQ(Verdict::kWeak,
            judge_topk_decode(view(kLogits, 2), {lengths}, view(sentinels, 3)).verdict);
  const std::vector<int32_t> full = {6, 6};
  EXPECT_EQ(Verdict::kWeak, judge_topk_decode(view(kLogits, 2), {full}, {}).verdict);
  EXPECT_EQ(Verdict::kWeak, judge_topk_decode({}, {}, view(sentinels, 3)).verdict);
}

TEST(Judge, FailsAnEmptyRowWithoutItsSentinels) {
  const std::vector<int32_t> lengths = {0, 0};
  const std::vector<int32_t> indices = {-1, -1, 0, -1, -1, -1};
  const auto judgement = judge_topk_decode(view(kLogits, 2), {lengths}, view(indices, 3));
  EXPECT_EQ(Verdict::kFailed, judgement.verdict);
  EXPECT_EQ(faults_of({FaultKind::kSentinelMissing}), judgement.faults);
}

TEST(Judge, ComparesBitsSoThatSignedZerosAndNaNCount) {
  const std::vector<float> logits = {-0.0f, 0.0f, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<int32_t> lengths = {3};
  const std::vector<int32_t> right = {2, 1};
  const std::vector<int32_t> wrong = {2, 0};
  EXPECT_TRUE(judge_topk_decode(view(logits, 1), {lengths}, view(right, 2)).ok());
  EXPECT_FALSE(judge_topk_decode(view(logits, 1), {lengths}, view(wrong, 2)).ok());
}

TEST(Judge, ShowsThreeRowsAndCountsTheRest) {
  const std::vector<float> logits(80, 1.0f);
  const std::vector<int32_t> lengths(5, 16);
  const std::vector<int32_t> indices(40, 16);
  const auto judgement = judge_topk_decode(view(logits, 5), {lengths}, view(indices, 8));
  EXPECT_TRUE(judgement.text.starts_with("5 of 5 rows break contract set: out of range. Row 0 "));
  EXPECT_NE(std::string::npos, judgement.text.find("Row 2 "));
  EXPECT_EQ(std::string::npos, judgement.text.find("Row 3 "));
  EXPECT_NE(std::string::npos, judgement.text.find("8 bad slots in all"));
}

TEST(Judge, RefusesShapesThatDoNotFit) {
  const std::vector<int32_t> six = {6, 6};
  const std::vector<int32_t> slots(6, 0);
  const LogitsView logits = view(kLogits, 2);
  const IndicesView indices = view(slots, 3);
  const auto judge = [&](const LogitsView& l, const DecodeRows& r, const IndicesView& i) {
    return judge_topk_decode(l, r, i);
  };
  expect_refused(judge({kLogits.data(), -2, 6, 6, 1}, {six}, indices), "logits of -2 rows");
  expect_refused(judge({kLogits.data(), 2, 6, 6, 0}, {six}, indices), "column stride 0");
  expect_refused(judge({nullptr, 2, 6, 6, 1}, {six}, indices), "logits are null");
  expect_refused(judge(logits, {six}, {nullptr, 3, 3, nullptr}), "indices are null");
  expect_refused(judge(logits, {six}, {slots.data(), 3, 2, nullptr}), "row stride 2");
  expect_refused(judge(logits, {six}, {slots.data(), -1, 3, nullptr}), "k -1");
  expect_refused(judge(logits, {six, 2}, indices), "seq_lens has 2 lengths");
  expect_refused(judge(logits, {six, 0}, indices), "next_n 0");
  expect_refused(judge(logits, {six, 1, 3}, indices), "seq_lens_dim 3");
  const std::vector<int32_t> seven = {6, 7};
  expect_refused(judge(logits, {seven}, indices), "row 1 sees columns 0 to 7, beyond the width 6");
}

TEST(Judge, RefusesPrefillBoundsBeyondTheLogits) {
  const std::vector<int32_t> slots(6, 0);
  const auto judge = [&](const std::vector<int32_t>& starts, const std::vector<int32_t>& ends) {
    return judge_topk_prefill(view(kLogits, 2), {starts, ends}, view(slots, 3));
  };
  expect_refused(judge({0, -1}, {6, 6}), "row 1 sees columns -1 to 6");
  expect_refused(judge({0, 1}, {6, 7}), "row 1 sees columns 1 to 7");
  expect_refused(judge({0}, {6, 6}), "1 starts and 2 ends");
}

TEST(Judge, RefusesPromisesThatOneAnswerCannotShow) {
  const std::vector<int32_t> right = {4, 1, 3, 5, 0, 2};
  expect_refused(judge_two_rows(right, kPrefix | kRepeatable), "repeatable");
  expect_refused(judge_two_rows(right, kKernelsOnly), "kernels_only");
  expect_refused(judge_two_rows(right, 1u << 30), "unknown modes");
}

}  // namespace
}  // namespace exactk::oracle
