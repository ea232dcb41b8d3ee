// The judge of sparse attention: right kernels pass, each planted fault is refused.
#include <gtest/gtest.h>

#include "oracle/sparse_attention.h"
#include "tests/oracle/sparse_attention_test_support.h"

namespace exactk::oracle {
namespace {

AttentionJudgement judge(const AttentionExample& example, const AnswerData& answer) {
  return judge_attention(example.input(), precision_of_kernel(example), answer.views(example));
}

std::string describe(const AttentionJudgement& judgement) {
  std::string text = judgement.invalid;
  for (const BadAttention& bad : judgement.bad) {
    text += "part " + std::to_string(static_cast<int>(bad.part)) + " token " +
            std::to_string(bad.token) + " head " + std::to_string(bad.head) + " column " +
            std::to_string(bad.column) + " want " + std::to_string(bad.want.low) + " .. " +
            std::to_string(bad.want.high) + " got " + std::to_string(bad.got) + "\n";
  }
  return text;
}

bool only(const AttentionJudgement& judgement, AttentionPart part) {
  return !judgement.ok() &&
         std::all_of(judgement.bad.begin(), judgement.bad.end(),
                     [part](const BadAttention& bad) { return bad.part == part; });
}

// 2,048 entries among 3,000 keys of the size that the models have; few values, to be quick.
AttentionExample long_row() {
  Draws draws(7);
  AttentionExample example;
  example.d_qk = 576;
  example.d_v = 16;
  example.keys = 3000;
  example.width = 2048;
  example.scale = 1 / 24.0;
  example.query = draw_values(draws, example.d_qk, 127, 64);
  example.key_data = draw_values(draws, example.keys * example.d_qk, 127, 64);
  for (int32_t slot = 0; slot < 2048; ++slot) {
    example.indices.push_back(slot * 1201 % 3000);  // distinct: 1201 and 3000 are coprime
  }
  return example;
}

TEST(AttentionJudge, AcceptsAKernelInFloat) {
  int64_t rows = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const AttentionExample example = random_attention(seed);
    const AttentionJudgement judgement = judge(example, run_kernel(example));
    ASSERT_TRUE(judgement.ok()) << seed << " " << describe(judgement);
    rows += judgement.rows;
  }
  EXPECT_GT(rows, 400);
}

TEST(AttentionJudge, AcceptsALongRowWithBothBases) {
  AttentionExample example = long_row();
  for (const LseBase base : {LseBase::kNatural, LseBase::kTwo}) {
    example.base = base;
    const AttentionJudgement judgement = judge(example, run_kernel(example));
    EXPECT_TRUE(judgement.ok()) << describe(judgement);
    EXPECT_EQ(2048, judgement.entries);
  }
}

TEST(AttentionJudge, CatchesOneWrongIndexAmong2048ByTheLogSumExp) {
  const AttentionExample example = long_row();
  int64_t caught = 0;
  int64_t caught_by_output = 0;
  constexpr int kTries = 12;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    AttentionExample wrong = example;
    wrong.indices[static_cast<size_t>(170 * attempt)] = (2048 + attempt) * 1201 % 3000;
    const AttentionJudgement judgement = judge(example, run_kernel(wrong));
    caught += judgement.faults.has(FaultKind::kWrongValue) ? 1 : 0;
    caught_by_output +=
        std::any_of(judgement.bad.begin(), judgement.bad.end(),
                    [](const BadAttention& bad) { return bad.part == AttentionPart::kOut; })
            ? 1
            : 0;
  }
  EXPECT_GE(caught, kTries * 3 / 4);
  EXPECT_LT(caught_by_output, caught);
}

TEST(AttentionJudge, CatchesEachLostEntryThatItDoesNotCountAsBlind) {
  const AttentionExample example = long_row();
  const AttentionJudgement right = judge(example, run_kernel(example));
  EXPECT_LT(right.blind_entries, 2048 / 2);
  int64_t missed = 0;
  constexpr int kTries = 12;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    AttentionExample wrong = example;
    wrong.indices[static_cast<size_t>(170 * attempt + 3)] = -1;
    missed += judge(example, run_kernel(wrong)).ok() ? 1 : 0;
  }
  EXPECT_LE(missed, kTries / 2);
}

TEST(AttentionJudge, CallsEveryEntryBlindWithoutALogSumExp) {
  const AttentionExample example = long_row();
  AnswerData answer = run_kernel(example);
  answer.lse.clear();
  const AttentionJudgement judgement = judge(example, answer);
  EXPECT_TRUE(judgement.ok());
  EXPECT_EQ(2048, judgement.blind_entries);
}

// Exact dots and scores of 2 apart: any one wrong index is caught, not most of them.
TEST(AttentionJudge, CatchesEveryWrongIndexWhereScoresAreExactAndDiffer) {
  AttentionExample example;
  example.d_qk = 2;
  example.d_v = 1;
  example.keys = 2050;
  example.width = 2048;
  example.query = {0, 1};
  for (int32_t key = 0; key < 2050; ++key) {
    example.key_data.push_back(1);
    example.key_data.push_back(key < 2048 ? static_cast<float>(key % 2) : 3);
    if (key < 2048) {
      example.indices.push_back(key);
    }
  }
  const AttentionJudgement right = judge(example, run_kernel(example));
  ASSERT_TRUE(right.ok()) << describe(right);
  EXPECT_EQ(0, right.blind_entries);
  for (size_t slot = 0; slot < 2048; slot += 31) {  // even and odd slots
    AttentionExample wrong = example;
    wrong.indices[slot] = 2049;
    EXPECT_FALSE(judge(example, run_kernel(wrong)).ok()) << slot;
  }
}

AttentionExample small_row() {
  AttentionExample example;
  example.d_qk = 4;
  example.d_v = 2;
  example.keys = 4;
  example.width = 5;
  example.scale = 0.5;
  example.query = {1, -2, 0.5f, 3};
  example.key_data = {1, 0, 2, 1, -1, 1, 0, 2, 3, 1, 1, 0, 0.5f, 0.5f, -1, 1};
  example.indices = {2, 0, 1, 1, 3};
  example.lengths = {4};
  example.sink = {0.75f};
  return example;
}

TEST(AttentionJudge, AcceptsTheSmallRow) {
  const AttentionJudgement judgement = judge(small_row(), run_kernel(small_row()));
  EXPECT_TRUE(judgement.ok()) << describe(judgement);
  EXPECT_EQ(4, judgement.entries);
}

TEST(AttentionJudge, RefusesAForgottenSinkInTheOutputOnly) {
  EXPECT_TRUE(only(judge(small_row(), run_kernel(small_row(), {.forget_sink = true})),
                   AttentionPart::kOut));
}

TEST(AttentionJudge, RefusesASinkInTheLogSumExpOnly) {
  EXPECT_TRUE(only(judge(small_row(), run_kernel(small_row(), {.sink_in_lse = true})),
                   AttentionPart::kLse));
}

TEST(AttentionJudge, RefusesAForgottenScale) {
  const AttentionJudgement judgement =
      judge(small_row(), run_kernel(small_row(), {.forget_scale = true}));
  EXPECT_GE(judgement.bad_elements, 3);
}

TEST(AttentionJudge, RefusesADuplicateThatIsCountedOnce) {
  EXPECT_FALSE(judge(small_row(), run_kernel(small_row(), {.drop_duplicates = true})).ok());
}

TEST(AttentionJudge, RefusesAnEntryThatIsCountedTwice) {
  AttentionExample twice = small_row();
  twice.lengths = {5};
  twice.indices[4] = 0;
  EXPECT_FALSE(judge(small_row(), run_kernel(twice)).ok());
}

TEST(AttentionJudge, RefusesATailThatIsRead) {
  EXPECT_FALSE(judge(small_row(), run_kernel(small_row(), {.forget_lengths = true})).ok());
}

TEST(AttentionJudge, RefusesTheOtherBaseOfTheLogarithmInTheLogSumExpOnly) {
  for (const LseBase base : {LseBase::kNatural, LseBase::kTwo}) {
    AttentionExample example = small_row();
    example.base = base;
    EXPECT_TRUE(judge(example, run_kernel(example)).ok());
    EXPECT_TRUE(
        only(judge(example, run_kernel(example, {.log_of_base_two = true})), AttentionPart::kLse));
  }
}

TEST(AttentionJudge, RefusesASlotOfNoKeyThatIsReadAsKeyZero) {
  AttentionExample example = small_row();
  example.indices[1] = -1;
  EXPECT_TRUE(judge(example, run_kernel(example)).ok());
  EXPECT_FALSE(judge(example, run_kernel(example, {.read_slots_of_no_key = true})).ok());
}

TEST(AttentionJudge, RefusesANaNOfAKeyThatNoEntryNames) {
  AttentionExample example = small_row();
  example.key_data[3 * 4] = kFloatNaN;  // key 3 stands beyond the length
  EXPECT_TRUE(judge(example, run_kernel(example)).ok());
  const AttentionJudgement judgement =
      judge(example, run_kernel(example, {.forget_lengths = true}));
  EXPECT_FALSE(judgement.ok());
  EXPECT_TRUE(std::isnan(judgement.bad[0].got));
}

TEST(AttentionJudge, RefusesASwallowedNaN) {
  AttentionExample example = small_row();
  example.key_data[2 * 4 + 3] = kFloatNaN;
  const AnswerData swallowed{.out = {0, 0}, .lse = {0}, .max_score = {0}};
  const AttentionJudgement judgement = judge(example, swallowed);
  EXPECT_EQ(3, judgement.bad_elements) << describe(judgement);
  const AnswerData kept{.out = {kFloatNaN, kFloatNaN}, .lse = {kFloatNaN}, .max_score = {0}};
  EXPECT_TRUE(judge(example, kept).ok());
}

TEST(AttentionJudge, RefusesEveryWrongPartOfAMaskedRow) {
  AttentionExample example = small_row();
  example.lengths = {0};
  const AnswerData right = run_kernel(example);
  EXPECT_TRUE(judge(example, right).ok()) << describe(judge(example, right));
  AnswerData wrong = right;
  wrong.out[1] = kFloatNaN;
  EXPECT_TRUE(only(judge(example, wrong), AttentionPart::kOut));
  wrong = right;
  wrong.lse[0] = -kFloatInfinity;
  EXPECT_TRUE(only(judge(example, wrong), AttentionPart::kLse));
  wrong = right;
  wrong.max_score[0] = -1e30f;
  EXPECT_TRUE(only(judge(example, wrong), AttentionPart::kMaxScore));
  example.empty_lse = -kFloatInfinity;
  EXPECT_FALSE(judge(example, right).ok());
}

TEST(AttentionJudge, AcceptsTheEndsOfEachBandAndRefusesTheNextValue) {
  const AttentionExample example = small_row();
  const AttentionRow row = attend(example.input(), precision_of_kernel(example), 0, 0);
  const auto answer_of = [&](bool high) {
    const auto end = [high](const Band& band) {
      return static_cast<float>(high ? band.high : band.low);
    };
    return AnswerData{.out = {end(row.out[0]), end(row.out[1])},
                      .lse = {end(row.lse)},
                      .max_score = {end(row.max_score)}};
  };
  for (const bool high : {false, true}) {
    const AnswerData inside = answer_of(high);
    EXPECT_TRUE(judge(example, inside).ok());
    const float outwards = high ? kFloatInfinity : -kFloatInfinity;
    AnswerData outside = inside;
    outside.out[1] = std::nextafter(outside.out[1], outwards);
    EXPECT_TRUE(only(judge(example, outside), AttentionPart::kOut));
    outside = inside;
    outside.lse[0] = std::nextafter(outside.lse[0], outwards);
    EXPECT_TRUE(only(judge(example, outside), AttentionPart::kLse));
    outside = inside;
    outside.max_score[0] = std::nextafter(outside.max_score[0], outwards);
    EXPECT_TRUE(only(judge(example, outside), AttentionPart::kMaxScore));
  }
}

TEST(AttentionJudge, FindsTheElementInStridedAnswers) {
  // Two requests of two tokens, two heads; lse as [request, head, token], gaps of NaN in the
  // output.
  AttentionExample example;
  example.tokens = 4;
  example.heads = 2;
  example.keys = 2;
  example.width = 1;
  example.query.assign(8, 0);
  example.key_data = {1, 2};
  example.indices = {0, 1, 0, 1};
  AttentionInput input = example.input();
  input.tokens_per_request = 2;
  std::vector<float> out(4 * 5, kFloatNaN);
  for (size_t token = 0; token < 4; ++token) {
    out[token * 5] = out[token * 5 + 3] = token % 2 == 0 ? 1 : 2;
  }
  std::vector<float> lse(8, 0);
  const AttentionOutView out_view{out, 5, 3};
  const AttentionStatView lse_view{lse, 4, 1, 2};
  EXPECT_TRUE(judge_attention(input, {}, {out_view, lse_view, {}}).ok());
  out[2 * 5 + 3] = 2;
  lse[4 + 2 + 1] = 1;  // request 1, head 1, token 1: token 3
  const AttentionJudgement judgement = judge_attention(input, {}, {out_view, lse_view, {}});
  ASSERT_EQ(2u, judgement.bad.size());
  EXPECT_EQ(2, judgement.failing_rows);
  EXPECT_EQ(2, judgement.bad[0].token);
  EXPECT_EQ(1, judgement.bad[0].head);
  EXPECT_EQ(AttentionPart::kLse, judgement.bad[1].part);
  EXPECT_EQ(3, judgement.bad[1].token);
  EXPECT_EQ(1, judgement.bad[1].head);
}

TEST(AttentionJudge, RefusesAnAnswerThatReachesBeyondItsDataOrIsEmpty) {
  const AttentionExample example = small_row();
  AnswerData answer = run_kernel(example);
  answer.out.pop_back();
  EXPECT_NE("", judge(example, answer).invalid);
  EXPECT_FALSE(judge(example, answer).ok());
  EXPECT_NE("", judge(example, {}).invalid);
}

}  // namespace
}  // namespace exactk::oracle
