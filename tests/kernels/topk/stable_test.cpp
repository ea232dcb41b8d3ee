// What topk.stable and topk.prefill_stable promise beyond the set: index order, the smallest index
// of ties, the same bytes whatever the schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oracle/topk.h"
#include "tests/kernels/test_device.h"
#include "tests/kernels/topk/harness.h"
#include "tests/kernels/topk/patterns.h"

namespace exactk::kernels::test {
namespace {

class Stable : public testing::TestWithParam<int> {
 protected:
  // The slots of row 0, after they were judged.
  std::vector<int32_t> slots(const Problem& p, uint64_t schedule_seed = 0) const {
    Bench bench(kernel("topk.stable"), p,
                {.wave_width = GetParam(), .schedule_seed = schedule_seed});
    EXPECT_EQ("", bench.run());
    return bench.slots(0);
  }
};

// What the reference selects from row 0.
std::vector<int32_t> reference(const Problem& p) {
  std::vector<uint32_t> visible(static_cast<size_t>(p.width));
  for (size_t column = 0; column < visible.size(); ++column) {
    visible[column] = p.bits(0, static_cast<int64_t>(column));
  }
  return oracle::topk_reference(visible, p.k);
}

Problem row_of(int64_t width, int64_t k, Bits bits) {
  Problem p;
  p.width = width;
  p.k = k;
  p.bits = std::move(bits);
  return p;
}

TEST_P(Stable, TakesTheFirstColumnsWhenAllAreEqual) {
  const Problem p = row_of(5000, 1000, all_equal(kOne));
  EXPECT_EQ(reference(p), slots(p));
}

TEST_P(Stable, TakesTheFirstTiesAmongBetterColumns) {
  for (const int64_t k : {1, 2, 63, 64, 65, 1000, 2049, 4999}) {
    const Problem p = row_of(5000, k, one_of(1, {kOne, kOne, kOne + 1, 0x3f000000u, kMinusInf}));
    EXPECT_EQ(reference(p), slots(p)) << k;
  }
}

// Columns that win stand on both sides of the edges of waves and segments of 1,024 threads.
TEST_P(Stable, KeepsTheOrderAcrossSegments) {
  for (const int64_t width : {1023, 1024, 1025, 2048, 2049, 4097, 16 * 1024 + 1}) {
    const Problem p = row_of(width, width / 3, [](int64_t, int64_t column) {
      const int64_t place = column % 64;
      return place < 2 || place > 61 ? kOne + static_cast<uint32_t>(column % 2) : kOne - 1;
    });
    EXPECT_EQ(reference(p), slots(p)) << width;
  }
}

TEST_P(Stable, TakesTheLastColumnAlone) {
  for (const int64_t width : {2, 64, 1025, 4096}) {
    const Problem p =
        row_of(width, 1, [=](int64_t, int64_t column) { return column == width - 1 ? kOne : 0u; });
    EXPECT_EQ((std::vector<int32_t>{static_cast<int32_t>(width - 1)}), slots(p)) << width;
  }
}

TEST_P(Stable, TellsEveryBitOfTheKeyApart) {
  for (int bit = 0; bit < 32; ++bit) {
    const Problem p = row_of(300, 10, [=](int64_t, int64_t column) {
      return 0x3f900000u ^ (column % 29 == 0 ? 1u << bit : 0u);
    });
    EXPECT_EQ(reference(p), slots(p)) << bit;
  }
}

TEST_P(Stable, RanksNansByTheirBits) {
  const Problem p = row_of(2000, 700,
                           one_of(2, {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffffffffu,
                                      0x7f800000u, kMinusInf, kOne}));
  EXPECT_EQ(reference(p), slots(p));
}

TEST_P(Stable, GivesTheSameBytesUnderEverySchedule) {
  if (!kOnHost) GTEST_SKIP() << "only the host device has schedules to choose from";
  const Problem p = row_of(3000, 500, one_of(3, {kOne, kOne + 1, 0u}));
  for (const uint64_t seed : {1u, 2u, 3u, 4u}) {
    EXPECT_EQ(reference(p), slots(p, seed)) << seed;
  }
}

TEST_P(Stable, GivesTheSameBytesForEveryBlockSize) {
  for (const int64_t threads : {64, 128, 512, 960, 1024}) {
    Problem p = row_of(3000, 500, one_of(4, {kOne, kOne + 1, 0u}));
    p.tune.block_threads = threads;
    EXPECT_EQ(reference(p), slots(p)) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Topk, Stable, testing::ValuesIn(wave_widths()),
                         [](const auto& info) { return "wave" + std::to_string(info.param); });

TEST(TopkStable, PromisesWhatIsTestedHere) {
  constexpr uint32_t kOrderModes =
      EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_STABLE | EXACTK_MODE_REPEATABLE;
  EXPECT_EQ(kOrderModes | EXACTK_MODE_KERNELS_ONLY, kernel("topk.stable").modes);
  EXPECT_EQ(kOrderModes | EXACTK_MODE_KERNELS_ONLY | EXACTK_MODE_ABSOLUTE,
            kernel("topk.prefill_stable").modes);
  EXPECT_EQ(0u, kernel("topk.gated").modes & EXACTK_MODE_STABLE);
}

}  // namespace
}  // namespace exactk::kernels::test
