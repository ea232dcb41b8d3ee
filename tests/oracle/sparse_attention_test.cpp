// The bands of sparse attention: small cases by hand, and a dense masked softmax as another route.
#include "oracle/sparse_attention.h"

#include <gtest/gtest.h>

#include "tests/oracle/sparse_attention_test_support.h"

namespace exactk::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One query of 1, keys of one column: scores and values are the keys.
AttentionExample row_of(std::vector<float> keys, std::vector<int32_t> indices) {
  AttentionExample example;
  example.keys = std::ssize(keys);
  example.width = std::ssize(indices);
  example.query = {1};
  example.key_data = std::move(keys);
  example.indices = std::move(indices);
  return example;
}

AttentionRow attend_one(const AttentionExample& example, const AttentionPrecision& precision = {}) {
  EXPECT_EQ("", problem_of(example.input()));
  return attend(example.input(), precision, 0, 0);
}

void expect_near(double want, const Band& band, double width) {
  EXPECT_TRUE(band.holds(want)) << band.low << " " << band.high << " want " << want;
  EXPECT_LE(band.high - band.low, width);
}

TEST(SparseAttention, OfTwoKeysIsTheWeightedMean) {
  const AttentionRow row = attend_one(row_of({1, 2}, {1, 0}), {.output = kFloat32});
  const double e1 = std::exp(1.0);
  const double e2 = std::exp(2.0);
  EXPECT_EQ(2, row.entries);
  expect_near((e1 + 2 * e2) / (e1 + e2), row.out[0], 1e-4);
  expect_near(std::log(e1 + e2), row.lse, 1e-5);
  expect_near(2, row.max_score, 2e-6);
}

TEST(SparseAttention, MultipliesTheScale) {
  AttentionExample example = row_of({1, 2}, {0, 1});
  example.scale = 0.5;
  expect_near(std::log(std::exp(0.5) + std::exp(1.0)), attend_one(example).lse, 1e-5);
}

TEST(SparseAttention, CountsADuplicateTwice) {
  const AttentionRow row = attend_one(row_of({0, 1}, {0, 1, 1}), {.output = kFloat32});
  expect_near(2 * std::exp(1.0) / (1 + 2 * std::exp(1.0)), row.out[0], 1e-4);
  expect_near(std::log(1 + 2 * std::exp(1.0)), row.lse, 1e-5);
}

TEST(SparseAttention, AddsTheSinkToTheDenominatorOnly) {
  AttentionExample example = row_of({1}, {0});
  example.sink = {2};
  const AttentionRow row = attend_one(example, {.output = kFloat32});
  expect_near(std::exp(1.0) / (std::exp(1.0) + std::exp(2.0)), row.out[0], 1e-5);
  expect_near(1, row.lse, 1e-5);
  expect_near(1, row.max_score, 2e-6);
}

TEST(SparseAttention, TakesASinkOfMinusInfinityAsNoneAndOfInfinityAsAll) {
  AttentionExample example = row_of({1, 2}, {0, 1});
  const AttentionRow none = attend_one(example);
  example.sink = {-kFloatInfinity};
  EXPECT_EQ(none.out[0].low, attend_one(example).out[0].low);
  EXPECT_EQ(none.out[0].high, attend_one(example).out[0].high);
  example.sink = {kFloatInfinity};
  const AttentionRow all = attend_one(example);
  EXPECT_TRUE(all.out[0].is_one_value());
  EXPECT_EQ(0, all.out[0].low);
  EXPECT_EQ(none.lse.low, all.lse.low);
}

TEST(SparseAttention, OfASinkFarAboveTheScoresMayUnderflowToZero) {
  AttentionExample example = row_of({1}, {0});
  example.sink = {200};
  const AttentionRow row = attend_one(example, {.output = kFloat32});
  EXPECT_TRUE(row.out[0].holds(0));
  EXPECT_FALSE(row.out[0].holds(1e-36));
}

TEST(SparseAttention, OfNoValidEntryIsZeroWithTheLseOfTheContract) {
  for (const double empty_lse : {kInfinity, -kInfinity}) {
    AttentionExample example = row_of({1}, {-1, 1, INT32_MAX, INT32_MIN});
    example.empty_lse = empty_lse;
    example.sink = {3};
    const AttentionRow row = attend_one(example);
    EXPECT_EQ(0, row.entries);
    EXPECT_TRUE(row.out[0].is_one_value());
    EXPECT_EQ(0, row.out[0].low);
    EXPECT_EQ(empty_lse, row.lse.low);
    EXPECT_EQ(empty_lse, row.lse.high);
    EXPECT_EQ(-kInfinity, row.max_score.high);
  }
}

TEST(SparseAttention, OfOneKeyIsItsValueInBfloat16) {
  const AttentionRow row = attend_one(row_of({3}, {-1, 0}), {.probability_unit = 0x1p-8});
  EXPECT_TRUE(row.out[0].is_one_value());
  EXPECT_EQ(3, row.out[0].low);
}

TEST(SparseAttention, OfScoresOfZeroIsExactEvenInFloat) {
  AttentionExample example = row_of({1, 2, 4, 8}, {0, 1, 2, 3});
  example.query = {0};
  const AttentionRow row = attend_one(example, {.output = kFloat32});
  EXPECT_TRUE(row.out[0].is_one_value());
  EXPECT_EQ(3.75, row.out[0].low);
  example.indices.pop_back();
  example.width = 3;
  EXPECT_FALSE(attend_one(example, {.output = kFloat32}).out[0].is_one_value());
}

TEST(SparseAttention, OfEqualScoresIsTheMeanInBfloat16) {
  AttentionExample example = row_of({}, {0, 1, 2, 3});
  example.d_qk = 2;
  example.keys = 4;
  example.query = {0, 1};
  example.key_data = {1, 3, 2, 3, 4, 3, 8, 3};  // the first column is the value, the second scores
  const AttentionRow row = attend_one(example, {.probability_unit = 0x1p-8});
  EXPECT_TRUE(row.out[0].is_one_value());
  EXPECT_EQ(3.75, row.out[0].low);
}

TEST(SparseAttention, ReadsNoKeyThatNoValidEntryNames) {
  AttentionExample example = row_of({kFloatNaN, 2, kFloatNaN}, {1, -1, 3, INT32_MIN, 0, 2});
  example.lengths = {4};
  const AttentionRow row = attend_one(example);
  EXPECT_EQ(1, row.entries);
  EXPECT_EQ(2, row.out[0].low);
}

TEST(SparseAttention, ClampsTheLengthsToTheWidth) {
  AttentionExample example = row_of({1, 2}, {0, 1});
  for (const auto& [length, entries] : {std::pair{-5, 0}, {0, 0}, {1, 1}, {2, 2}, {99, 2}}) {
    example.lengths = {length};
    EXPECT_EQ(entries, attend_one(example).entries) << length;
  }
}

TEST(SparseAttention, LeavesARowOpenWhoseIndexTheContractDoesNotAllow) {
  AttentionExample example = row_of({1, 2}, {0, -1});
  example.rule = IndexRule::kNegativeOneOnly;
  EXPECT_FALSE(attend_one(example).open);
  for (const int32_t hostile : {-2, 2, INT32_MAX, INT32_MIN}) {
    example.indices[1] = hostile;
    EXPECT_TRUE(attend_one(example).open) << hostile;
  }
}

TEST(SparseAttention, WantsNoNumberOfANaNThatAnEntryNames) {
  const AttentionRow row = attend_one(row_of({1, kFloatNaN}, {0, 1}));
  EXPECT_EQ(BandKind::kNotFinite, row.out[0].kind);
  EXPECT_EQ(BandKind::kNotFinite, row.lse.kind);
  EXPECT_EQ(BandKind::kAny, row.max_score.kind);
}

TEST(SparseAttention, GivesAScoreOfMinusInfinityNoWeight) {
  AttentionExample example = row_of({}, {0, 1});
  example.d_qk = 2;
  example.keys = 2;
  example.query = {0, 1};
  example.key_data = {1, 1, 5, -kFloatInfinity};
  EXPECT_EQ(1, attend_one(example).out[0].low);
  EXPECT_EQ(1, attend_one(example).out[0].high);
  example.indices = {1, 1};
  EXPECT_TRUE(attend_one(example).open);
}

TEST(SparseAttention, LeavesARowOpenWhoseScoresMayOverflow) {
  AttentionExample example = row_of({1e20f, 1}, {0, 1});
  example.query = {1e20f};
  EXPECT_TRUE(attend_one(example).open);
}

TEST(SparseAttention, OfAHugeSpreadOfScoresHasBandsThatHoldTheValue) {
  AttentionExample example = row_of({1e6f, -1e6f}, {0, 1});
  example.scale = 1000.3;
  const AttentionRow row = attend_one(example);
  EXPECT_TRUE(row.out[0].holds(to_bfloat16(1e6f)));
  EXPECT_TRUE(row.lse.holds(static_cast<float>(1e6 * 1000.3)));
}

TEST(SparseAttention, IsOneSoftmaxOverBothLists) {
  AttentionExample split = row_of({1, 2}, {0, 1});
  split.extra_keys = {3, 4};
  split.extra_indices = {1, -1, 0, 2};
  const AttentionRow both = attend_one(split);
  const AttentionRow one = attend_one(row_of({1, 2, 3, 4}, {0, 1, 3, 2}));
  EXPECT_EQ(one.lse.low, both.lse.low);
  EXPECT_EQ(one.lse.high, both.lse.high);
  EXPECT_EQ(one.out[0].low, both.out[0].low);
}

TEST(SparseAttention, ReadsRaggedListsByTheirOffsets) {
  AttentionExample example = row_of({1, 2, 3}, {});
  example.tokens = 3;
  example.query = {1, 1, 1};
  const std::vector<int32_t> flat{9, 2, 0, 1};
  const std::vector<int32_t> indptr{1, 3, 3, 4};
  AttentionInput input = example.input();
  input.main.indices = {.data = flat, .indptr = indptr};
  ASSERT_EQ("", problem_of(input));
  EXPECT_EQ(2, attend(input, {}, 0, 0).entries);
  EXPECT_EQ(0, attend(input, {}, 1, 0).entries);
  EXPECT_EQ(2, attend(input, {}, 2, 0).out[0].low);
}

TEST(SparseAttention, GivesAllQueryRowsOfARequestItsLength) {
  AttentionExample example = row_of({1, 2}, {0, 1, 0, 1, 0, 1, 0, 1});
  example.tokens = 4;
  example.width = 2;
  example.query = {1, 1, 1, 1};
  const std::vector<int32_t> lengths{1, 2};
  AttentionInput input = example.input();
  input.tokens_per_request = 2;
  input.main.indices.lengths = lengths;
  ASSERT_EQ("", problem_of(input));
  EXPECT_EQ(1, attend(input, {}, 1, 0).entries);
  EXPECT_EQ(2, attend(input, {}, 2, 0).entries);
}

TEST(SparseAttention, RefusesViewsThatDoNotFit) {
  const AttentionExample example = row_of({1, 2}, {0, 1});
  const std::vector<int32_t> two{0, 0};
  const std::vector<int32_t> falling{1, 0};
  AttentionInput input = example.input();
  input.main.keys.keys = 3;
  EXPECT_NE("", problem_of(input));
  input = example.input();
  input.main.indices.width = 3;
  EXPECT_NE("", problem_of(input));
  input = example.input();
  input.main.indices.lengths = two;
  EXPECT_NE("", problem_of(input));
  input = example.input();
  input.main.indices.indptr = falling;
  EXPECT_NE("", problem_of(input));
  input = example.input();
  input.d_v = 2;
  EXPECT_NE("", problem_of(input));
  input = example.input();
  input.query.tokens = 2;
  input.query.token_stride = 1;
  EXPECT_NE("", problem_of(input));
}

// Another route: one softmax over all keys, each weighted by how often it is named.
struct DenseRow {
  std::vector<long double> out;
  long double lse = 0;
};

DenseRow dense_row(const AttentionExample& example, int64_t token, int64_t head) {
  const int64_t extra_keys = std::ssize(example.extra_keys) / example.d_qk;
  std::vector<int> counts(static_cast<size_t>(example.keys + extra_keys), 0);
  for (const int32_t entry : entries_of_kernel(example, token, {})) {
    ++counts[static_cast<size_t>(entry)];
  }
  const float* query =
      &example.query[static_cast<size_t>((token * example.heads + head) * example.d_qk)];
  DenseRow row{.out = std::vector<long double>(static_cast<size_t>(example.d_v), 0)};
  long double sum = 0;
  for (size_t entry = 0; entry < counts.size(); ++entry) {
    const float* key = key_of(example, static_cast<int32_t>(entry));
    long double dot = 0;
    for (int64_t i = 0; i < example.d_qk; ++i) {
      dot += static_cast<long double>(query[i]) * key[i];
    }
    const long double weight = counts[entry] * std::exp(dot * example.scale);
    sum += weight;
    for (size_t c = 0; c < row.out.size(); ++c) {
      row.out[c] += weight * key[c];
    }
  }
  row.lse = std::log(sum);
  if (!example.sink.empty()) {
    sum += std::exp(static_cast<long double>(example.sink[static_cast<size_t>(head)]));
  }
  for (long double& value : row.out) {
    value /= sum;
  }
  return row;
}

TEST(SparseAttention, AgreesWithADenseMaskedSoftmax) {
  int64_t rows = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const AttentionExample example = random_attention(seed);
    ASSERT_EQ("", problem_of(example.input())) << seed;
    for (int64_t token = 0; token < example.tokens; ++token) {
      for (int64_t head = 0; head < example.heads; ++head) {
        const AttentionRow row = attend(example.input(), {.output = kFloat32}, token, head);
        if (row.entries == 0) {
          continue;
        }
        const DenseRow dense = dense_row(example, token, head);
        expect_near(static_cast<float>(dense.lse), row.lse, 1e-3);
        for (size_t c = 0; c < dense.out.size(); ++c) {
          expect_near(static_cast<float>(dense.out[c]), row.out[c], 5e-3);
        }
        ++rows;
      }
    }
  }
  EXPECT_GT(rows, 300);
}

void expect_same(const Band& want, const Band& got, double slack) {
  EXPECT_EQ(want.kind, got.kind);
  EXPECT_TRUE(want.low == got.low || std::abs(want.low - got.low) <= slack);
  EXPECT_TRUE(want.high == got.high || std::abs(want.high - got.high) <= slack);
}

void expect_same(const AttentionRow& want, const AttentionRow& got, double slack) {
  expect_same(want.lse, got.lse, slack);
  expect_same(want.max_score, got.max_score, slack);
  EXPECT_EQ(want.entries, got.entries);
  ASSERT_EQ(want.out.size(), got.out.size());
  for (size_t c = 0; c < want.out.size(); ++c) {
    expect_same(want.out[c], got.out[c], slack);
  }
}

TEST(SparseAttention, DoesNotDependOnTheOrderOfTheIndices) {
  for (uint64_t seed = 1; seed < 60; seed += 2) {  // odd ones have no lengths
    const AttentionExample example = random_attention(seed);
    AttentionExample reversed = example;
    const auto first_row = reversed.indices.begin();
    std::reverse(first_row, first_row + example.width);
    expect_same(attend(example.input(), {.output = kFloat32}, 0, 0),
                attend(reversed.input(), {.output = kFloat32}, 0, 0), 1e-6);
  }
}

TEST(SparseAttention, DoesNotDependOnWhatTheTailHolds) {
  for (uint64_t seed = 0; seed < 60; seed += 2) {  // even ones have lengths
    const AttentionExample example = random_attention(seed);
    for (const int32_t tail : {-1, 0, INT32_MAX}) {
      AttentionExample stale = example;
      for (int64_t slot = example.lengths[0]; slot < example.width; ++slot) {
        stale.indices[static_cast<size_t>(slot)] = tail;
      }
      expect_same(attend(example.input(), {}, 0, 0), attend(stale.input(), {}, 0, 0), 0);
    }
  }
}

}  // namespace
}  // namespace exactk::oracle
