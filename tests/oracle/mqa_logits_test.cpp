// Indexer logits: the definition by hand and by another order of loops, and the judge with a kernel
// in float32 that is right in every order and wrong with every fault.
#include "oracle/mqa_logits.h"

#include <gtest/gtest.h>

#include <string>

#include "oracle/expected.h"
#include "tests/oracle/mqa_logits_test_support.h"

namespace exactk::oracle {
namespace {

constexpr MqaContract kClean{.outside = Outside::kMinusInfinity};
constexpr MqaContract kUnclean{.outside = Outside::kAny};
constexpr MqaContract kStoresOnlyItsRow{.outside = Outside::kUntouched};

uint8_t fp8(double value) {
  return static_cast<uint8_t>(encode(kFp8E4m3Fn, value, Overflow::kSpecial));
}

RaggedData draw(uint64_t seed, Fill fill, int64_t rows = 3, int64_t heads = 5, int64_t dim = 16,
                int64_t keys = 11, const FloatFormat& format = kFp8E4m3Fn) {
  Draws draws(seed);
  const QueryData queries = draw_queries(rows, heads, dim, fill, draws, format);
  return draw_ragged(queries, keys, fill, draws);
}

// Two heads of two elements, one key [3, -1] with the scale 0.5. Head 0 is [1, 2]: 3 - 2 = 1. Head
// 1 is [-1, 0.5]: -3 - 0.5 = -3.5.
RaggedData hand_case() {
  RaggedData data = draw(1, Fill::kIntegers, 1, 2, 2, 1);
  const double q[2][2] = {{1, 2}, {-1, 0.5}};
  for (int head = 0; head < 2; ++head) {
    for (int d = 0; d < 2; ++d) {
      data.queries.byte(0, head, d) = fp8(q[head][d]);
    }
  }
  data.key_byte(0, 0) = fp8(3);
  data.key_byte(0, 1) = fp8(-1);
  data.scales[0] = 0.5f;
  data.queries.weight(0, 0) = 7;
  data.queries.weight(0, 1) = 100;
  return data;
}

ExpectedLogit only_logit(const RaggedData& data, const MqaContract& contract = kClean) {
  return expected_logits(data.view(), contract, 0, 1)[0];
}

TEST(MqaLogits, AreTheWeightedPositiveDotsTimesTheScale) {
  EXPECT_EQ(3.5, only_logit(hand_case()).value);  // 0.5 * (7 * 1 + 100 * 0)
}

TEST(MqaLogits, TakeNegativeWeightsAndNegativeScalesAfterTheRelu) {
  RaggedData data = hand_case();
  data.queries.weight(0, 0) = -7;
  EXPECT_EQ(-3.5, only_logit(data).value);
  data.scales[0] = -0.5f;
  EXPECT_EQ(3.5, only_logit(data).value);
}

TEST(MqaLogits, HaveAQuarterOfTheValueInTheFlavourThatHalvesEachOperand) {
  RaggedData data = hand_case();
  data.queries.format = kFp8E4m3Fnuz;
  EXPECT_EQ(3.5 / 2, only_logit(data).value);
  data.key_format = kFp8E4m3Fnuz;
  EXPECT_EQ(3.5 / 4, only_logit(data).value);
}

TEST(MqaLogits, StateTheBoundOfTheHeader) {
  const ExpectedLogit logit = only_logit(hand_case());
  // M = 0.5 * (7 * (3 + 2) + 100 * (3 + 0.5)), n + 1 = 2 + 2 + 2.
  const double lost = 6 * 0x1p-24;
  EXPECT_NEAR(192.5 * lost / (1 - lost), logit.bound, 1e-15);
}

// The same sums with the elements outermost, last to first, in long double.
double brute_force(RaggedData& data, int64_t row, int64_t key) {
  std::vector<long double> dots(static_cast<size_t>(data.queries.heads), 0);
  for (int64_t d = data.queries.dim - 1; d >= 0; --d) {
    for (int64_t head = data.queries.heads - 1; head >= 0; --head) {
      dots[static_cast<size_t>(head)] +=
          decode(data.queries.format, data.queries.byte(row, head, d)) *
          static_cast<long double>(decode(data.key_format, data.key_byte(key, d)));
    }
  }
  long double sum = 0;
  for (int64_t head = data.queries.heads - 1; head >= 0; --head) {
    const long double dot = dots[static_cast<size_t>(head)];
    sum += dot > 0 ? dot * data.queries.weight(row, head) : 0;
  }
  return static_cast<double>(sum * data.scales[static_cast<size_t>(key)]);
}

TEST(MqaLogits, EqualTheSumsInAnotherOrderOfLoops) {
  for (const FloatFormat& format : {kFp8E4m3Fn, kFp8E4m3Fnuz}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      RaggedData data = draw(seed, Fill::kWide, 3, 5, 16, 11, format);
      for (int64_t row = 0; row < 3; ++row) {
        const auto expected = expected_logits(data.view(), kClean, row, 11);
        for (int64_t key = row; key < 9 + row; ++key) {
          const ExpectedLogit& logit = expected[static_cast<size_t>(key)];
          ASSERT_EQ(WantLogit::kNumber, logit.want);
          ASSERT_NEAR(brute_force(data, row, key), logit.value, logit.bound * 0x1p-26);
        }
      }
    }
  }
}

std::string wants(const std::vector<ExpectedLogit>& expected) {
  std::string text;
  for (const ExpectedLogit& logit : expected) {
    text += "n-u?"[static_cast<int>(logit.want)];
  }
  return text;
}

std::string wants_of_window(int32_t start, int32_t end, const MqaContract& contract,
                            bool compressed = false) {
  RaggedData data = draw(1, Fill::kIntegers, 1, 1, 2, 5);
  data.starts[0] = start;
  data.ends[0] = end;
  RaggedMqa in = data.view();
  in.compressed = compressed;
  return wants(expected_logits(in, contract, 0, 6));
}

TEST(RaggedLogits, CoverTheWindowOfTheRowAndWantTheContractOutside) {
  EXPECT_EQ("-nnn--", wants_of_window(1, 4, kClean));
  EXPECT_EQ("?nnn??", wants_of_window(1, 4, kUnclean));
  EXPECT_EQ("unnnuu", wants_of_window(1, 4, kStoresOnlyItsRow));
}

TEST(RaggedLogits, CutTheWindowAtTheKeysAndReadNegativeBoundsAsBeyondThem) {
  EXPECT_EQ("---nn-", wants_of_window(3, 100, kClean));
  EXPECT_EQ("---nn-", wants_of_window(3, -1, kClean));
  EXPECT_EQ("------", wants_of_window(-1, 4, kClean));
}

TEST(RaggedLogits, LeaveAnEmptyRowUntouchedUnlessItIsCleanedOrFree) {
  EXPECT_EQ("uuuuuu", wants_of_window(2, 2, kUnclean));
  EXPECT_EQ("uuuuuu", wants_of_window(4, 2, kStoresOnlyItsRow));
  EXPECT_EQ("------", wants_of_window(2, 2, kClean));
  EXPECT_EQ("??????", wants_of_window(2, 2, {.empty_rows_untouched = false}));
}

TEST(RaggedLogits, StartAtColumnZeroWhenCompressed) {
  EXPECT_EQ("nnn???", wants_of_window(1, 4, kUnclean, true));
  RaggedData data = draw(2, Fill::kIntegers);
  RaggedMqa in = data.view();
  in.compressed = true;
  const auto expected = expected_logits(in, kUnclean, 2, 11);
  for (int64_t column = 0; column < 9; ++column) {
    EXPECT_EQ(brute_force(data, 2, column + 2), expected[static_cast<size_t>(column)].value);
  }
}

TEST(JudgeLogits, AcceptsEveryOrderBitwiseOnIntegers) {
  for (const FloatFormat& format : {kFp8E4m3Fn, kFp8E4m3Fnuz}) {
    RaggedData data = draw(3, Fill::kIntegers, 3, 64, 128, 40, format);
    for (const Order order : kOrders) {
      const Logits logits = run_ragged(data, Outside::kMinusInfinity, order);
      const auto judgement =
          judge_logits(data.view(), kClean, logits.view(), CompareLogits::kBitwise);
      EXPECT_TRUE(judgement.ok()) << static_cast<int>(order) << " " << judgement.bad_elements;
      EXPECT_EQ(3 * 38, judgement.numbers);
    }
  }
}

TEST(JudgeLogits, AcceptsEveryOrderWithinTheBoundOnAnyNumbers) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    RaggedData data = draw(seed, Fill::kWide, 2, 8, 64, 20);
    for (const Order order : kOrders) {
      const Logits logits = run_ragged(data, Outside::kUntouched, order);
      EXPECT_TRUE(
          judge_logits(data.view(), kStoresOnlyItsRow, logits.view(), CompareLogits::kBound).ok())
          << seed << " " << static_cast<int>(order);
    }
  }
}

TEST(JudgeLogits, RefusesEveryFaultInBothWaysOfComparing) {
  for (const Fault fault :
       {Fault::kScaleTwice, Fault::kOtherFlavour, Fault::kWeightOfNextHead, Fault::kNoRelu}) {
    RaggedData integers = draw(4, Fill::kIntegers);
    const Logits exact = run_ragged(integers, Outside::kAny, Order::kForward, fault);
    const auto bitwise =
        judge_logits(integers.view(), kUnclean, exact.view(), CompareLogits::kBitwise);
    EXPECT_EQ(faults_of({FaultKind::kWrongValue}), bitwise.faults) << static_cast<int>(fault);
    EXPECT_EQ(0, bitwise.unjudged);

    RaggedData wide = draw(5, Fill::kWide);
    const Logits rounded = run_ragged(wide, Outside::kAny, Order::kForward, fault);
    const auto bound = judge_logits(wide.view(), kUnclean, rounded.view(), CompareLogits::kBound);
    EXPECT_EQ(faults_of({FaultKind::kWrongValue}), bound.faults) << static_cast<int>(fault);
  }
}

TEST(JudgeLogits, RefusesAFutureColumnWhereItMustNotBeStored) {
  RaggedData data = draw(6, Fill::kIntegers);
  const auto judged = [&](Outside outside) {
    const Logits logits = run_ragged(data, outside, Order::kForward, Fault::kFutureColumn);
    return judge_logits(data.view(), {.outside = outside}, logits.view(), CompareLogits::kBitwise);
  };
  const LogitsJudgement clean = judged(Outside::kMinusInfinity);
  EXPECT_EQ(faults_of({FaultKind::kSentinelMissing}), clean.faults);
  ASSERT_EQ(2u, clean.bad.size());  // the last row ends with the keys
  EXPECT_EQ(0, clean.bad[0].row);
  EXPECT_EQ(9, clean.bad[0].column);
  EXPECT_EQ(kMinusInfinity, clean.bad[0].want);
  EXPECT_EQ((std::vector<int64_t>{0, 1}), clean.failing_rows);
  EXPECT_EQ(faults_of({FaultKind::kGuardBroken}), judged(Outside::kUntouched).faults);
  EXPECT_TRUE(judged(Outside::kAny).ok());
}

TEST(JudgeLogits, RefusesOneUlpBitwise) {
  RaggedData data = draw(7, Fill::kIntegers);
  Logits logits = run_ragged(data, Outside::kAny);
  ASSERT_NE(0.0f, logits.at(1, 4));
  for (const float towards : {kMinusInfinity, -kMinusInfinity}) {
    Logits off = logits;
    off.at(1, 4) = std::nextafter(off.at(1, 4), towards);
    const auto judgement = judge_logits(data.view(), kUnclean, off.view(), CompareLogits::kBitwise);
    EXPECT_EQ(faults_of({FaultKind::kWrongValue}), judgement.faults);
    ASSERT_EQ(1u, judgement.bad.size());
    EXPECT_EQ(1, judgement.bad[0].row);
    EXPECT_EQ(4, judgement.bad[0].column);
    EXPECT_EQ(0, judgement.bad[0].bound);
    EXPECT_TRUE(judge_logits(data.view(), kUnclean, off.view(), CompareLogits::kBound).ok());
  }
}

// The last float within the bound of the value, going towards infinity or minus infinity.
float last_inside(const ExpectedLogit& logit, float towards) {
  const double edge = logit.value + (towards > 0 ? logit.bound : -logit.bound);
  auto inside = static_cast<float>(edge);
  while (std::fabs(inside - logit.value) > logit.bound) {
    inside = std::nextafter(inside, -towards);
  }
  return inside;
}

TEST(JudgeLogits, AcceptsJustInsideTheBoundAndRefusesJustOutside) {
  RaggedData data = draw(8, Fill::kWide);
  const Logits logits = run_ragged(data, Outside::kAny);
  for (int64_t key = 0; key < 9; ++key) {
    const ExpectedLogit logit =
        expected_logits(data.view(), kUnclean, 0, 11)[static_cast<size_t>(key)];
    for (const float towards : {kMinusInfinity, -kMinusInfinity}) {
      Logits moved = logits;
      moved.at(0, key) = last_inside(logit, towards);
      EXPECT_TRUE(judge_logits(data.view(), kUnclean, moved.view(), CompareLogits::kBound).ok());
      moved.at(0, key) = std::nextafter(moved.at(0, key), towards);
      const auto outside = judge_logits(data.view(), kUnclean, moved.view(), CompareLogits::kBound);
      EXPECT_EQ(faults_of({FaultKind::kWrongValue}), outside.faults);
      ASSERT_EQ(1u, outside.bad.size());
      EXPECT_EQ(logit.bound, outside.bad[0].bound);
    }
  }
}

TEST(JudgeLogits, NeverPassesInputsBitwiseThatAnOrderCouldRound) {
  RaggedData data = draw(9, Fill::kWide);
  const Logits logits = run_ragged(data, Outside::kAny);
  const auto judgement =
      judge_logits(data.view(), kUnclean, logits.view(), CompareLogits::kBitwise);
  EXPECT_TRUE(judgement.faults.empty());
  EXPECT_EQ(27, judgement.numbers);
  EXPECT_EQ(27, judgement.unjudged);
  EXPECT_FALSE(judgement.ok());
}

TEST(MqaLogits, AreExactUpToTwoToThe24StepsAndNotBeyond) {
  RaggedData data = draw(1, Fill::kIntegers, 1, 1, 2, 1);
  data.queries.byte(0, 0, 0) = fp8(256);
  data.queries.byte(0, 0, 1) = fp8(1);
  data.key_byte(0, 0) = fp8(256);
  data.key_byte(0, 1) = fp8(1);
  data.scales[0] = 1;
  data.queries.weight(0, 0) = 255;  // 255 * 65537 < 2^24
  EXPECT_TRUE(only_logit(data).exact);
  data.queries.weight(0, 0) = 257;
  EXPECT_FALSE(only_logit(data).exact);
  data.queries.byte(0, 0, 1) = fp8(256);  // steps of 256
  EXPECT_TRUE(only_logit(data).exact);
}

TEST(JudgeLogits, NeverPassesWhatMayOverflow) {
  RaggedData data = hand_case();
  data.scales[0] = 3e38f;
  const ExpectedLogit logit = only_logit(data);
  EXPECT_EQ(INFINITY, logit.bound);
  EXPECT_FALSE(logit.exact);
  const Logits logits = run_ragged(data, Outside::kAny);
  for (const CompareLogits compare : {CompareLogits::kBitwise, CompareLogits::kBound}) {
    const auto judgement = judge_logits(data.view(), kUnclean, logits.view(), compare);
    EXPECT_EQ(1, judgement.unjudged);
    EXPECT_FALSE(judgement.ok());
  }
}

TEST(JudgeLogits, RefusesASwallowedNaNAndAcceptsItWhereReluGivesZero) {
  RaggedData data = draw(10, Fill::kIntegers);
  data.key_byte(4, 3) = 0x7f;
  const Logits swallowed = run_ragged(data, Outside::kAny, Order::kForward, Fault::kNaNSwallowed);
  const Logits kept = run_ragged(data, Outside::kAny);
  const MqaContract zero{.relu_of_nan = ReluOfNaN::kZero};
  for (const CompareLogits compare : {CompareLogits::kBitwise, CompareLogits::kBound}) {
    const auto refused = judge_logits(data.view(), kUnclean, swallowed.view(), compare);
    EXPECT_EQ(faults_of({FaultKind::kWrongValue}), refused.faults);
    EXPECT_EQ(3, refused.bad_elements);  // one column of three rows
    EXPECT_TRUE(std::isnan(refused.bad[0].want));
    EXPECT_TRUE(judge_logits(data.view(), kUnclean, kept.view(), compare).ok());
    EXPECT_TRUE(judge_logits(data.view(), zero, swallowed.view(), compare).ok());
    EXPECT_FALSE(judge_logits(data.view(), zero, kept.view(), compare).ok());
  }
}

TEST(JudgeLogits, ReadsByte0x80AsNaNInFnuzOnly) {
  RaggedData data = draw(11, Fill::kIntegers);
  data.key_byte(4, 3) = 0x80;
  EXPECT_FALSE(std::isnan(expected_logits(data.view(), kUnclean, 0, 11)[4].value));
  data.key_format = kFp8E4m3Fnuz;
  EXPECT_TRUE(std::isnan(expected_logits(data.view(), kUnclean, 0, 11)[4].value));
}

TEST(JudgeLogits, WantsTheInfinityOfAnInfiniteWeight) {
  RaggedData data = hand_case();
  data.queries.weight(0, 0) = kMinusInfinity;
  Logits logits = run_ragged(data, Outside::kAny);
  EXPECT_EQ(kMinusInfinity, only_logit(data).value);
  EXPECT_TRUE(judge_logits(data.view(), kUnclean, logits.view(), CompareLogits::kBound).ok());
  logits.at(0, 0) = -3e38f;
  EXPECT_FALSE(judge_logits(data.view(), kUnclean, logits.view(), CompareLogits::kBound).ok());
}

TEST(JudgeLogits, AcceptsEitherZeroAndNothingElseWhereNoTermIsLeft) {
  RaggedData data = hand_case();
  data.key_byte(0, 0) = fp8(0);
  data.key_byte(0, 1) = fp8(0);
  for (const CompareLogits compare : {CompareLogits::kBitwise, CompareLogits::kBound}) {
    for (const float zero : {0.0f, -0.0f}) {
      Logits logits = poisoned_logits(1, 1);
      logits.at(0, 0) = zero;
      EXPECT_TRUE(judge_logits(data.view(), kUnclean, logits.view(), compare).ok());
    }
    Logits logits = poisoned_logits(1, 1);
    logits.at(0, 0) = 1e-45f;
    EXPECT_FALSE(judge_logits(data.view(), kUnclean, logits.view(), compare).ok());
  }
}

TEST(JudgeLogits, NamesWhatWasNotWrittenWhatIsMaskedAndWhatBrokeAGap) {
  RaggedData data = draw(12, Fill::kIntegers);
  Logits logits = run_ragged(data, Outside::kMinusInfinity);
  logits.at(0, 2) = kPoison;
  logits.at(0, 10) = kPoison;
  logits.at(1, 3) = kMinusInfinity;
  logits.at(1, 12) = 0;  // the gap behind row 1
  const auto judgement = judge_logits(data.view(), kClean, logits.view(), CompareLogits::kBitwise);
  ASSERT_EQ(4u, judgement.bad.size());
  EXPECT_EQ(FaultKind::kNeverWritten, judgement.bad[0].kind);
  EXPECT_EQ(FaultKind::kNeverWritten, judgement.bad[1].kind);
  EXPECT_EQ(FaultKind::kSentinelInside, judgement.bad[2].kind);
  EXPECT_EQ(FaultKind::kGuardBroken, judgement.bad[3].kind);
  EXPECT_EQ(12, judgement.bad[3].column);
  EXPECT_EQ(2, judgement.failing_row_count);
}

TEST(JudgeLogits, LeavesGapsAloneWhereTheContractDoes) {
  RaggedData data = draw(12, Fill::kIntegers);
  Logits logits = run_ragged(data, Outside::kAny);
  logits.at(1, 12) = 0;
  EXPECT_FALSE(judge_logits(data.view(), kUnclean, logits.view(), CompareLogits::kBitwise).ok());
  EXPECT_TRUE(
      judge_logits(data.view(), {.gaps_untouched = false}, logits.view(), CompareLogits::kBitwise)
          .ok());
}

TEST(JudgeLogits, RefusesAWrittenEmptyRowWhateverItsBits) {
  RaggedData data = draw(13, Fill::kIntegers);
  data.ends[1] = data.starts[1];
  Logits logits = run_ragged(data, Outside::kAny);
  logits.before[static_cast<size_t>(logits.row_stride)] = NAN;  // kept: the same bits
  logits.at(1, 0) = NAN;
  EXPECT_TRUE(judge_logits(data.view(), kUnclean, logits.view(), CompareLogits::kBitwise).ok());
  logits.at(1, 0) = -NAN;
  EXPECT_EQ(faults_of({FaultKind::kGuardBroken}),
            judge_logits(data.view(), kUnclean, logits.view(), CompareLogits::kBitwise).faults);
}

TEST(JudgeLogits, KeepsTheFirstAndTheLastBadElementsAndCountsAll) {
  RaggedData data = draw(14, Fill::kIntegers, 3, 2, 4, 60);
  const Logits logits = poisoned_logits(3, 60);
  const auto judgement = judge_logits(data.view(), kClean, logits.view(), CompareLogits::kBitwise);
  EXPECT_EQ(180, judgement.bad_elements);
  EXPECT_EQ(static_cast<size_t>(kBadElementsMax), judgement.bad.size());
  EXPECT_EQ(0, judgement.bad.front().column);
  EXPECT_EQ(59, judgement.bad.back().column);
  EXPECT_EQ(3, judgement.failing_row_count);
}

TEST(JudgeLogits, AllowsTwiceTheErrorForAUnitThatTruncates) {
  const RaggedData data = hand_case();
  EXPECT_NEAR(2 * only_logit(data).bound, only_logit(data, {.unit_roundoff = 0x1p-23}).bound, 1e-9);
}

}  // namespace
}  // namespace exactk::oracle
