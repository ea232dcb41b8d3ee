// The sliding windows of a decode step against the oracle.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "kernels/registry.h"
#include "tests/kernels/index/problems.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

const Batch kMixed{.query_lens = {3, 1, 9, 4}, .seq_lens = {200, 1, 9, 131}, .extra = 2};

class Swa : public testing::TestWithParam<std::tuple<int32_t, int>> {
 protected:
  std::string verdict(const Batch& batch, SwaNumbers numbers, int64_t misalign = 0) const {
    numbers.slot_bytes = std::get<0>(GetParam());
    SwaProblem p = swa_problem(batch, numbers);
    p.misalign = misalign;
    return run("swa.rows", p, {.wave_width = std::get<1>(GetParam())});
  }
};

// Columns fewer than, as many as and more than the window.
TEST_P(Swa, TakesEveryWindow) {
  for (const int64_t window : {1, 2, 39, 40, 41, 128, 200, 300}) {
    EXPECT_EQ("", verdict(kMixed, {.window = window})) << window;
    EXPECT_EQ("", verdict(kMixed, {.window = window, .images = 20})) << window << " with images";
  }
}

TEST_P(Swa, FollowsAWindowThatJustBecameFull) {
  const Batch batch{.query_lens = {1, 1, 1, 1}, .seq_lens = {31, 32, 33, 34}};
  EXPECT_EQ("", verdict(batch, {.window = 32}));
}

TEST_P(Swa, TakesEveryBlockSize) {
  for (const int64_t block_size : {1, 2, 3, 64, 256}) {
    EXPECT_EQ("", verdict(kMixed, {.block_size = block_size, .images = 9, .table_pad = 3}));
  }
}

TEST_P(Swa, LeavesGapsBetweenRowsAndStartsAtAnySlot) {
  for (const int64_t pad : {1, 2, 3}) {
    EXPECT_EQ("", verdict(kMixed, {.columns = 41, .out_pad = pad}, pad)) << pad;
  }
}

TEST_P(Swa, GivesPositionsBelowZeroNoSlots) {
  EXPECT_EQ("", verdict({.query_lens = {8, 5}, .seq_lens = {3, 0}}, {.images = 9}));
}

TEST_P(Swa, ReplaysWithOtherTokens) {
  const SwaNumbers numbers{.images = 5, .slot_bytes = std::get<0>(GetParam())};
  SwaProblem p = swa_problem(kMixed, numbers);
  Bench bench(kernel("swa.rows"), p, {.wave_width = std::get<1>(GetParam())});
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  EXPECT_EQ(1, bench.captured_kernels());
  for (const uint64_t seed : {2, 3}) {
    p = swa_problem(
        {.query_lens = {4, 4, 4, 5}, .seq_lens = {100, 2, 200, 5}, .extra = 2, .seed = seed},
        numbers);
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.replay());
    EXPECT_EQ("", bench.judge()) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Index, Swa,
                         testing::Combine(testing::Values(4, 8), testing::ValuesIn(wave_widths())),
                         [](const auto& info) {
                           return std::to_string(8 * std::get<0>(info.param)) + "bit_wave" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace exactk::kernels::test
