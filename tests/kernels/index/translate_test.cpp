// The index translation against the oracle: every variant at the boundaries of its numbers.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>

#include "kernels/registry.h"
#include "tests/kernels/index/problems.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

using oracle::TranslateVariant;

struct Form {
  TranslateVariant variant;
  int32_t slot_bytes;
};

std::string name_of(const testing::TestParamInfo<std::tuple<Form, int>>& info) {
  const auto& [form, width] = info.param;
  return std::string(oracle::name(form.variant)) + "_" + std::to_string(8 * form.slot_bytes) +
         "bit_wave" + std::to_string(width);
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const TranslateVariant variant :
       {TranslateVariant::kPositional, TranslateVariant::kCompact, TranslateVariant::kRagged,
        TranslateVariant::kPack, TranslateVariant::kFlat, TranslateVariant::kCapped}) {
    all.push_back({variant, 4});
    all.push_back({variant, 8});
  }
  return all;
}

const Batch kMixed{.query_lens = {3, 1, 9, 4}, .seq_lens = {200, 1, 9, 131}};

class Translate : public testing::TestWithParam<std::tuple<Form, int>> {
 protected:
  TranslateProblem problem(const Batch& batch, TranslateNumbers numbers) const {
    numbers.variant = std::get<0>(GetParam()).variant;
    numbers.slot_bytes = std::get<0>(GetParam()).slot_bytes;
    return translate_problem(batch, numbers);
  }
  std::string verdict(const Batch& batch, const TranslateNumbers& numbers) const {
    TranslateProblem p = problem(batch, numbers);
    return run("translate.rows", p, options());
  }
  Options options() const { return {.wave_width = std::get<1>(GetParam())}; }
};

TEST_P(Translate, TakesEveryBlockSize) {
  for (const int64_t block_size : {1, 2, 3, 64, 256, 1000, std::numeric_limits<int32_t>::max()}) {
    EXPECT_EQ("", verdict(kMixed, {.block_size = block_size, .cap = 16})) << block_size;
  }
}

// A block has 64 threads for each 4 KiB of slots; compact takes 4 indices per thread and turn.
TEST_P(Translate, TakesEveryK) {
  for (const int32_t k : {1, 3, 4, 63, 255, 256, 257, 1023, 1025, 2051}) {
    EXPECT_EQ("", verdict(kMixed, {.k = k, .block_size = 7, .ratio = 1, .cap = k})) << "k " << k;
  }
}

TEST_P(Translate, LeavesGapsAndReadsOverThem) {
  for (const int64_t pad : {1, 2, 3, 5}) {
    EXPECT_EQ(
        "",
        verdict(kMixed,
                {.block_size = 16, .cap = 9, .index_pad = pad, .table_pad = pad, .out_pad = pad}))
        << "pad " << pad;
  }
}

TEST_P(Translate, StartsAtAnySlot) {
  for (const int64_t misalign : {1, 2, 3}) {
    TranslateProblem p = problem(kMixed, {.cap = 16, .out_pad = 1});
    p.misalign = misalign;
    EXPECT_EQ("", run("translate.rows", p, options())) << misalign;
  }
}

TEST_P(Translate, GivesPaddingTokensNoSlots) {
  Batch batch = kMixed;
  batch.extra = 4;
  EXPECT_EQ("", verdict(batch, {.cap = 16}));
}

TEST_P(Translate, TakesExtremeIndices) {
  TranslateProblem p = problem(kMixed, {.block_size = 3, .cap = 16});
  const int32_t extremes[] = {std::numeric_limits<int32_t>::min(),
                              -1,
                              0,
                              static_cast<int32_t>(p.paged.table.columns * 3 - 1),
                              static_cast<int32_t>(p.paged.table.columns * 3),
                              std::numeric_limits<int32_t>::max()};
  for (size_t i = 0; i < p.indices.size(); ++i) {
    p.indices[i] = extremes[i % std::size(extremes)];
  }
  EXPECT_EQ("", run("translate.rows", p, options()));
}

TEST_P(Translate, DoesNotDependOnTheSchedule) {
  TranslateProblem p = problem(kMixed, {.k = 300, .cap = 200});
  for (const uint64_t seed : {1, 2, 3}) {
    Options shuffled = options();
    shuffled.schedule_seed = seed;
    EXPECT_EQ("", run("translate.rows", p, shuffled));
  }
}

TEST_P(Translate, ReplaysWithOtherValues) {
  TranslateProblem p = problem(kMixed, {.cap = 9});
  Bench bench(kernel("translate.rows"), p, options());
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  uint64_t seed = 2;
  for (const int32_t cap : {9, 0, 16, 5}) {
    Batch other{.query_lens = {4, 4, 4, 5}, .seq_lens = {100, 2, 200, 5}, .seed = seed++};
    p = problem(other, {.cap = cap});
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.replay());
    EXPECT_EQ("", bench.judge()) << "cap " << cap;
  }
}

TEST_P(Translate, StartsAnewAtEachLaunchOverOneWorkspace) {
  TranslateProblem p = problem(kMixed, {.cap = 9});
  for (const int byte : {0x00, 0x01, 0xff}) {
    Options other = options();
    other.workspace_byte = static_cast<uint8_t>(byte);
    Bench bench(kernel("translate.rows"), p, other);
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.launch());
    ASSERT_EQ("", bench.launch());
    EXPECT_EQ("", bench.judge()) << byte;
  }
}

INSTANTIATE_TEST_SUITE_P(Index, Translate,
                         testing::Combine(testing::ValuesIn(forms()),
                                          testing::ValuesIn(wave_widths())),
                         name_of);

class TranslateCapped : public testing::TestWithParam<int32_t> {};

TEST_P(TranslateCapped, LeavesTheSlotsFromTheCapOn) {
  const int32_t cap = GetParam();
  TranslateProblem p = translate_problem(
      kMixed, {.variant = TranslateVariant::kCapped, .k = 70, .ratio = 2, .cap = cap});
  EXPECT_EQ("", run("translate.rows", p));
}

TEST_P(TranslateCapped, GivesPositionsBelowZeroNoSlots) {
  const Batch batch{.query_lens = {8, 5}, .seq_lens = {3, 0}};
  TranslateProblem p = translate_problem(
      batch, {.variant = TranslateVariant::kCapped, .k = 70, .ratio = 1, .cap = GetParam()});
  EXPECT_EQ("", run("translate.rows", p));
}

// kMixed reaches 100 slots at ratio 2, and the last cap takes the whole row.
INSTANTIATE_TEST_SUITE_P(Index, TranslateCapped, testing::Values(0, 1, 3, 64, 69, 70));

TEST(TranslatePack, DropsWhatIsOutsideTheBound) {
  for (const int64_t bound : {-1, 0, 1, 100, 1 << 30}) {
    TranslateProblem p = translate_problem(
        kMixed, {.variant = TranslateVariant::kPack, .k = 40, .slots_bound = bound});
    EXPECT_EQ("", run("translate.rows", p)) << bound;
  }
}

class TranslateFlat : public testing::TestWithParam<std::tuple<TranslateVariant, int>> {};

// Rows are summed in chunks of 256 tokens.
TEST_P(TranslateFlat, SumsOverManyTokens) {
  for (const int32_t tokens : {255, 256, 257, 513}) {
    const Batch batch{.query_lens = {tokens / 2, tokens - tokens / 2}, .seq_lens = {90, 70}};
    TranslateProblem p =
        translate_problem(batch, {.variant = std::get<0>(GetParam()), .k = 3, .block_size = 8});
    EXPECT_EQ("", run("translate.rows", p, {.wave_width = std::get<1>(GetParam())})) << tokens;
  }
}

INSTANTIATE_TEST_SUITE_P(Index, TranslateFlat,
                         testing::Combine(testing::Values(TranslateVariant::kRagged,
                                                          TranslateVariant::kPack),
                                          testing::ValuesIn(wave_widths())),
                         [](const auto& info) {
                           return std::string(oracle::name(std::get<0>(info.param))) + "_wave" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(TranslateSlots, LieBeyond32Bits) {
  TranslateProblem p = translate_problem(kMixed, {.block_size = 256, .slot_bytes = 8});
  p.paged.block_table.assign(p.paged.block_table.size(), std::numeric_limits<int32_t>::max());
  ASSERT_GT(p.expected()[0].values[0], int64_t{1} << 32);
  EXPECT_EQ("", run("translate.rows", p));
}

}  // namespace
}  // namespace exactk::kernels::test
