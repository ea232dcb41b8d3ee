// Right answers of larger rows with one thing changed: each must be refused, with the kind that was
// planted.
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/logit_order.h"
#include "oracle/topk.h"
#include "oracle/topk_contract.h"
#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

constexpr ContractModes kModes = kSet | kPrefix;

struct Example {
  std::vector<uint32_t> logits;
  std::vector<int32_t> answer;
  int64_t selected = 0;
};

// Even seeds draw from all bit patterns, odd ones from few, so that ties at the cut are common.
Example make_example(uint64_t seed) {
  Draws draws(seed);
  Example example;
  example.logits.resize(static_cast<size_t>(1 + draws.below(3000)));
  for (uint32_t& bits : example.logits) {
    bits = seed % 2 == 0 ? draws.bits() : kAscendingBits[draws.below(std::ssize(kAscendingBits))];
  }
  const int64_t k = 1 + draws.below(700);
  example.answer = topk_reference(example.logits, k);
  example.selected = std::min(k, std::ssize(example.logits));
  for (int64_t i = example.selected - 1; i > 0; --i) {
    std::swap(example.answer[static_cast<size_t>(i)],
              example.answer[static_cast<size_t>(draws.below(i + 1))]);
  }
  return example;
}

constexpr uint64_t kExamples = 400;

void expect_refused(const Example& example, int64_t position, FaultKind kind) {
  const RowJudgement judgement = judge_row(example.logits, example.answer, kModes);
  ASSERT_FALSE(judgement.ok());
  EXPECT_EQ(kModes, judgement.broken);
  ASSERT_EQ(1, judgement.bad_slots) << describe(judgement);
  EXPECT_EQ(position, judgement.bad[0].position) << describe(judgement);
  EXPECT_EQ(kind, judgement.bad[0].kind) << describe(judgement);
  EXPECT_TRUE(judgement.faults.has(kind));
}

TEST(TopkJudgeMutation, AcceptsShuffledRightAnswers) {
  for (uint64_t seed = 0; seed < kExamples; ++seed) {
    const Example example = make_example(seed);
    const RowJudgement judgement = judge_row(example.logits, example.answer, kModes);
    ASSERT_TRUE(judgement.ok()) << seed << " " << describe(judgement);
  }
}

TEST(TopkJudgeMutation, RefusesADroppedEntry) {
  for (uint64_t seed = 0; seed < kExamples; ++seed) {
    Example example = make_example(seed);
    const int64_t position = Draws(seed + 1000).below(example.selected);
    example.answer[static_cast<size_t>(position)] = kSentinel;
    SCOPED_TRACE(seed);
    expect_refused(example, position, FaultKind::kSentinelInside);
  }
}

TEST(TopkJudgeMutation, RefusesADuplicate) {
  int64_t tried = 0;
  for (uint64_t seed = 0; seed < kExamples; ++seed) {
    Example example = make_example(seed);
    if (example.selected < 2) {
      continue;
    }
    const int64_t from = Draws(seed + 2000).below(example.selected - 1);
    const int64_t to = example.selected - 1;
    example.answer[static_cast<size_t>(to)] = example.answer[static_cast<size_t>(from)];
    SCOPED_TRACE(seed);
    expect_refused(example, to, FaultKind::kDuplicate);
    ++tried;
  }
  EXPECT_GT(tried, static_cast<int64_t>(kExamples) / 2);
}

TEST(TopkJudgeMutation, RefusesTheBestLoserInAnyPlace) {
  int64_t tried = 0;
  for (uint64_t seed = 0; seed < kExamples; ++seed) {
    Example example = make_example(seed);
    const uint32_t kth_key =
        order_key(topk_cut(example.logits, std::ssize(example.answer)).kth_bits);
    int64_t loser = -1;
    for (int64_t column = 0; column < std::ssize(example.logits); ++column) {
      const uint32_t key = order_key(example.logits[static_cast<size_t>(column)]);
      if (key < kth_key &&
          (loser < 0 || key > order_key(example.logits[static_cast<size_t>(loser)]))) {
        loser = column;
      }
    }
    if (loser < 0) {
      continue;
    }
    const int64_t position = Draws(seed + 3000).below(example.selected);
    // A short row already holds its worst columns, where this would be a duplicate.
    if (std::ssize(example.logits) <= std::ssize(example.answer)) {
      continue;
    }
    example.answer[static_cast<size_t>(position)] = static_cast<int32_t>(loser);
    SCOPED_TRACE(seed);
    expect_refused(example, position, FaultKind::kIntruder);
    ++tried;
  }
  EXPECT_GT(tried, static_cast<int64_t>(kExamples) / 2);
}

TEST(TopkJudgeMutation, RefusesIndicesJustOutsideTheRow) {
  for (uint64_t seed = 0; seed < kExamples; ++seed) {
    Example example = make_example(seed);
    const int64_t position = Draws(seed + 4000).below(example.selected);
    const auto length = static_cast<int32_t>(example.logits.size());
    example.answer[static_cast<size_t>(position)] = seed % 2 == 0 ? length : -2;
    SCOPED_TRACE(seed);
    expect_refused(example, position, FaultKind::kOutOfRange);
  }
}

TEST(TopkJudgeMutation, RefusesATailSlotThatIsNotSentinel) {
  int64_t tried = 0;
  for (uint64_t seed = 0; seed < kExamples; ++seed) {
    Example example = make_example(seed);
    const int64_t tail = std::ssize(example.answer) - example.selected;
    if (tail == 0) {
      continue;
    }
    const int64_t position = example.selected + Draws(seed + 5000).below(tail);
    example.answer[static_cast<size_t>(position)] = 0;
    SCOPED_TRACE(seed);
    expect_refused(example, position, FaultKind::kSentinelMissing);
    ++tried;
  }
  EXPECT_GT(tried, 20);
}

TEST(TopkJudgeMutation, RefusesASentinelMovedIntoThePrefixAsAPrefixOnly) {
  int64_t tried = 0;
  for (uint64_t seed = 0; seed < kExamples; ++seed) {
    Example example = make_example(seed);
    if (std::ssize(example.answer) == example.selected) {
      continue;
    }
    const int64_t position = Draws(seed + 6000).below(example.selected);
    std::swap(example.answer[static_cast<size_t>(position)], example.answer.back());
    ASSERT_TRUE(judge_row(example.logits, example.answer, kSet).ok()) << seed;
    const RowJudgement judgement = judge_row(example.logits, example.answer, kModes);
    EXPECT_EQ(ContractModes{kPrefix}, judgement.broken) << seed;
    EXPECT_EQ(faults_of({FaultKind::kSentinelInside, FaultKind::kSentinelMissing}),
              judgement.faults);
    ++tried;
  }
  EXPECT_GT(tried, 20);
}

}  // namespace
}  // namespace exactk::oracle
