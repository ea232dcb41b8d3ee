// The index combine against the oracle: every variant at the boundaries of its numbers.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "kernels/registry.h"
#include "tests/kernels/index/problems.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

using oracle::CombineVariant;

constexpr CombineVariant kVariants[] = {CombineVariant::kCommon, CombineVariant::kGathered,
                                        CombineVariant::kChecked, CombineVariant::kVision,
                                        CombineVariant::kRagged};

struct Form {
  const char* kernel;
  CombineVariant variant;
};

std::string name_of(const testing::TestParamInfo<std::tuple<Form, int>>& info) {
  const auto& [form, width] = info.param;
  return std::string(form.kernel + 8) + "_" + std::string(oracle::name(form.variant)) + "_wave" +
         std::to_string(width);
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const char* name : {"combine.fused", "combine.fill_first"}) {
    for (const CombineVariant variant : kVariants) {
      if (std::string(name) == "combine.fused" || variant != CombineVariant::kRagged) {
        all.push_back({name, variant});
      }
    }
  }
  return all;
}

class Combine : public testing::TestWithParam<std::tuple<Form, int>> {
 protected:
  // With the parameter's variant and wave width.
  std::string verdict(const Batch& batch, CombineNumbers numbers, int64_t misalign = 0) {
    numbers.variant = form().variant;
    numbers.images = form().variant == CombineVariant::kVision ? numbers.images : 0;
    CombineProblem problem = combine_problem(batch, numbers);
    problem.misalign = misalign;
    return run(form().kernel, problem, {.wave_width = std::get<1>(GetParam())});
  }
  const Form& form() const { return std::get<0>(GetParam()); }
};

const Batch kMixed{.query_lens = {3, 1, 9, 4}, .seq_lens = {200, 1, 9, 131}};

TEST_P(Combine, TakesEveryWindow) {
  for (const int64_t window : {1, 2, 96, 128, 130, 300}) {
    EXPECT_EQ("", verdict(kMixed, {.window = window, .images = 7})) << "window " << window;
  }
}

TEST_P(Combine, TakesEveryK) {
  for (const int64_t k : {0, 1, 3, 16, 49, 50, 51, 600}) {
    EXPECT_EQ("", verdict(kMixed, {.k = k, .images = 7})) << "k " << k;
  }
}

TEST_P(Combine, TakesEveryRatio) {
  for (const int64_t ratio : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{4}, int64_t{128},
                              int64_t{200}, int64_t{201}, int64_t{1} << 40}) {
    EXPECT_EQ("", verdict(kMixed, {.ratio = ratio, .images = 7})) << "ratio " << ratio;
  }
}

TEST_P(Combine, FollowsWindowsThatAreNotGathered) {
  EXPECT_EQ("", verdict(kMixed, {.window = 96, .images = 7, .gather_short = true}));
}

TEST_P(Combine, SkipsRequestsWithoutTokens) {
  const Batch batch{.query_lens = {0, 0, 3, 0, 0, 2, 0}, .seq_lens = {9, 0, 80, 7, 40, 5, 100}};
  EXPECT_EQ("", verdict(batch, {.images = 7}));
}

TEST_P(Combine, GivesPositionsBelowZeroNoEntries) {
  const Batch batch{.query_lens = {8, 5, 4, 6}, .seq_lens = {3, 0, -2, 7}};
  EXPECT_EQ("", verdict(batch, {.ratio = 1, .images = 7}));
}

TEST_P(Combine, LeavesRowsPastTheLastRequest) {
  Batch batch = kMixed;
  batch.extra = 5;
  EXPECT_EQ("", verdict(batch, {.images = 7}));
}

TEST_P(Combine, SubtractsTheFirstQueryStart) {
  Batch batch = kMixed;
  batch.extra = 3;
  for (const int32_t skip : {1, 3, 1000000}) {
    batch.skip = skip;
    EXPECT_EQ("", verdict(batch, {.images = 7})) << "skip " << skip;
  }
}

TEST_P(Combine, ReadsFewerRowsThanQueryStartLocClaims) {
  CombineNumbers numbers{.variant = form().variant};
  CombineProblem problem = combine_problem(kMixed, numbers);
  problem.query_start_loc.back() += 2;
  EXPECT_EQ("", run(form().kernel, problem));
}

TEST_P(Combine, LeavesGapsBetweenRows) {
  for (const int64_t pad : {1, 2, 3, 4, 128}) {
    EXPECT_EQ("", verdict(kMixed, {.images = 7, .width_pad = pad, .stride_pad = 3, .out_pad = pad}))
        << "pad " << pad;
  }
}

TEST_P(Combine, StartsAtAnyWord) {
  for (const int64_t misalign : {1, 2, 3}) {
    EXPECT_EQ("", verdict(kMixed, {.images = 7, .out_pad = 1}, misalign)) << misalign;
  }
}

TEST_P(Combine, FindsEachOfManyRequests) {
  Batch batch;
  for (int32_t b = 0; b < 100; ++b) {
    batch.query_lens.push_back(b % 3);
    batch.seq_lens.push_back(b % 3 + 2 * b);
  }
  EXPECT_EQ("", verdict(batch, {.k = 8, .window = 16, .images = 3}));
}

TEST_P(Combine, AddressesAWorkspaceOfManyRows) {
  CombineProblem problem = combine_problem(kMixed, {.variant = form().variant});
  problem.shape.workspace_rows = 700'000'000;  // three requests in front of the last
  EXPECT_EQ("", run(form().kernel, problem));
}

TEST_P(Combine, DoesNotDependOnTheSchedule) {
  CombineProblem problem = combine_problem(kMixed, {.variant = form().variant});
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ("", run(form().kernel, problem,
                      {.wave_width = std::get<1>(GetParam()), .schedule_seed = seed}));
  }
}

TEST_P(Combine, ReplaysWithOtherRequests) {
  const CombineNumbers numbers{.variant = form().variant, .images = 0};
  Batch batch{.query_lens = {3, 1, 9, 4}, .seq_lens = {200, 1, 9, 131}, .extra = 2};
  CombineProblem problem = combine_problem(batch, numbers);
  Bench bench(kernel(form().kernel), problem, {.wave_width = std::get<1>(GetParam())});
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  const std::vector<std::vector<int32_t>> steps[] = {{{3, 1, 9, 4}, {200, 1, 9, 131}},
                                                     {{4, 4, 4, 5}, {100, 2, 199, 5}},
                                                     {{0, 17, 0, 0}, {8, 33, 12, 100}},
                                                     {{1, 0, 1, 1}, {1, 0, 200, 7}}};
  uint64_t seed = 2;
  for (const auto& step : steps) {
    Batch other{.query_lens = step[0], .seq_lens = step[1], .seed = seed++};
    other.skip = static_cast<int32_t>(seed);
    other.extra = batch.tokens() - other.covered();
    const oracle::CombineShape captured = problem.shape;
    problem = combine_problem(other, numbers);
    problem.shape = captured;
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.replay());
    EXPECT_EQ("", bench.judge()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Index, Combine,
                         testing::Combine(testing::ValuesIn(forms()),
                                          testing::ValuesIn(wave_widths())),
                         name_of);

TEST(CombineLaunches, OneKernelFillsAllSlots) {
  CombineProblem problem = combine_problem(kMixed, {});
  Bench bench(kernel("combine.fused"), problem, {});
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  EXPECT_EQ(1, bench.captured_kernels());
}

TEST(CombineLaunches, FillFirstTakesTwo) {
  CombineProblem problem = combine_problem(kMixed, {});
  Bench bench(kernel("combine.fill_first"), problem, {});
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  EXPECT_EQ(2, bench.captured_kernels());
}

class CombineRagged : public testing::TestWithParam<int> {};

// Rows are summed in chunks of 256 tokens, and the chunks 256 at a time.
TEST_P(CombineRagged, SumsOverManyTokens) {
  for (const int32_t tokens : {255, 256, 257, 513, 65537}) {
    const Batch batch{.query_lens = {tokens / 2, tokens - tokens / 2},
                      .seq_lens = {tokens / 2 - 7, tokens}};
    CombineProblem problem = combine_problem(
        batch, {.variant = CombineVariant::kRagged, .k = 1, .window = 2, .ratio = 1});
    EXPECT_EQ("", run("combine.fused", problem, {.wave_width = GetParam()})) << tokens;
  }
}

TEST_P(CombineRagged, DoesNotReadWhatTheWorkspaceHeld) {
  CombineProblem problem = combine_problem(kMixed, {.variant = CombineVariant::kRagged});
  for (const int byte : {0x00, 0x01, 0x7f, 0xff}) {
    EXPECT_EQ("", run("combine.fused", problem,
                      {.wave_width = GetParam(), .workspace_byte = static_cast<uint8_t>(byte)}));
  }
}

TEST_P(CombineRagged, StartsAnewAtEachLaunchOverOneWorkspace) {
  CombineProblem problem = combine_problem(kMixed, {.variant = CombineVariant::kRagged});
  Bench bench(kernel("combine.fused"), problem, {.wave_width = GetParam()});
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.launch());
  ASSERT_EQ("", bench.launch());
  EXPECT_EQ("", bench.judge());
}

INSTANTIATE_TEST_SUITE_P(Index, CombineRagged, testing::ValuesIn(wave_widths()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace exactk::kernels::test
