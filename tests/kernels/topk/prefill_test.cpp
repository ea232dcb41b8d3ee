// Prefill top-k over windows of rows, in both launches of topk.prefill_block and in
// topk.prefill_stable.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernels/test_device.h"
#include "tests/kernels/topk/harness.h"
#include "tests/kernels/topk/patterns.h"

namespace exactk::kernels::test {
namespace {

struct Launch {
  const char* kernel;
  const char* label;
  int64_t radix_rows;
};

class EveryPrefill : public testing::TestWithParam<std::tuple<Launch, int>> {
 protected:
  const Launch& launch() const { return std::get<0>(GetParam()); }

  // Row 0 is of the first launch, whatever radix_rows is.
  Problem problem(Bits bits) const {
    Problem p;
    p.rows = 4;
    p.width = 3000;
    p.k = 100;
    p.row_starts = {0, 1, 702, 1003};
    p.row_ends = {2999, 3000, 2801, 2806};
    p.tune.radix_rows = launch().radix_rows;
    p.bits = std::move(bits);
    return p;
  }
  void expect_exact(const Problem& p, const std::string& what) const {
    EXPECT_EQ("", run(launch().kernel, p, {.wave_width = std::get<1>(GetParam())})) << what;
  }
};

TEST_P(EveryPrefill, SelectsInsideTheWindow) {
  expect_exact(problem(any_bits(1)), "arbitrary");
  expect_exact(problem(ordinary(2)), "ordinary");
}

TEST_P(EveryPrefill, SelectsAmongTies) {
  for (const uint32_t bits : {kOne, 0x80000000u, kMinusInf, kLowest, 0x7fc00000u, 0xffffffffu}) {
    expect_exact(problem(all_equal(bits)), std::to_string(bits));
  }
  expect_exact(problem(one_of(3, {kOne, kOne + 1, 0x3f000000u})), "three values");
}

TEST_P(EveryPrefill, FillsUpWithMinusInf) {
  for (const int permille : {500, 970, 999}) {
    expect_exact(problem(masked(4, permille, ordinary(4))), std::to_string(permille));
  }
}

TEST_P(EveryPrefill, RanksNansByTheirBits) {
  expect_exact(problem(one_of(5, {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7f800000u,
                                  kMinusInf, kOne, kLowest})),
               "");
}

TEST_P(EveryPrefill, TakesEveryLengthNearKAtEveryAlignment) {
  Problem p = problem(any_bits(6));
  p.row_starts.clear();
  p.row_ends.clear();
  for (const int32_t length : {-3000, -3, -1, 0, 1, 2, 99, 100, 101, 200, 2000}) {
    for (const int32_t start : {0, 1, 2, 3, 1000}) {
      p.row_starts.push_back(start - std::min(length, 0));
      p.row_ends.push_back(start + std::max(length, 0));
    }
  }
  p.rows = static_cast<int64_t>(p.row_starts.size());
  expect_exact(p, "");
}

TEST_P(EveryPrefill, TakesWindowsAtTheEdgesOfTheBuffer) {
  Problem p = problem(any_bits(7));
  p.row_starts = {0, 2999, 3000, 3000, 1, 2900, 2899};
  p.row_ends = {3000, 3000, 3000, 0, 3000, 3000, 3000};
  p.rows = 7;
  expect_exact(p, "");
}

TEST_P(EveryPrefill, ClampsEndsBeyondTheWidth) {
  Problem p = problem(ordinary(8));
  p.row_ends = {3001, 4000, 3100, 3002};
  p.row_stride = 4100;
  expect_exact(p, "");
}

TEST_P(EveryPrefill, KeepsToStridesAndGaps) {
  for (const int64_t column_stride : {1, 3}) {
    Problem p = problem(any_bits(9));
    p.column_stride = column_stride;
    p.row_stride = p.width * column_stride + 5;
    p.out_stride = p.k + 3;
    p.misalign = 3;
    expect_exact(p, std::to_string(column_stride));
  }
}

TEST_P(EveryPrefill, TakesKOfOneAndKBeyondTheWidthAndTheList) {
  for (const int64_t k : {1, 2049, 2700, 3010}) {
    Problem p = problem(any_bits(10));
    p.k = k;
    expect_exact(p, std::to_string(k));
  }
}

TEST_P(EveryPrefill, DoesNotDependOnTheSchedule) {
  if (!kOnHost) GTEST_SKIP() << "only the host device has schedules to choose from";
  for (const uint64_t seed : {1u, 2u}) {
    EXPECT_EQ("", run(launch().kernel, problem(any_bits(11)),
                      {.wave_width = std::get<1>(GetParam()), .schedule_seed = seed}))
        << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Topk, EveryPrefill,
    testing::Combine(testing::Values(Launch{"topk.prefill_block", "first", 0},
                                     Launch{"topk.prefill_block", "second", 1},
                                     Launch{"topk.prefill_stable", "fullradix", 0}),
                     testing::ValuesIn(wave_widths())),
    [](const auto& info) {
      const Launch& launch = std::get<0>(info.param);
      return std::string(launch.label) + "_wave" + std::to_string(std::get<1>(info.param));
    });

// Two rows of three columns that start at column 5.
Problem short_windows() {
  Problem p;
  p.rows = 2;
  p.width = 16;
  p.k = 4;
  p.row_starts = {5, 5};
  p.row_ends = {8, 8};
  p.bits = ordinary(1);
  return p;
}

TEST(TopkPrefill, IndicesCountFromTheRowStart) {
  Bench bench(kernel("topk.prefill_block"), short_windows(), {});
  EXPECT_EQ("", bench.run());
  EXPECT_EQ((std::vector<int32_t>{0, 1, 2, -1}), bench.slots(1));
}

TEST(TopkPrefill, TheStableKernelGivesColumns) {
  Bench bench(kernel("topk.prefill_stable"), short_windows(), {});
  EXPECT_EQ("", bench.run());
  EXPECT_EQ((std::vector<int32_t>{5, 6, 7, -1}), bench.slots(1));
}

// What a launch of `rows` rows reports, after it was judged.
exactk_topk_report report_of(const char* name, int64_t rows, int64_t radix_rows) {
  Problem p;
  p.rows = rows;
  p.width = 8;
  p.k = 4;
  p.tune.radix_rows = radix_rows;
  p.tune.block_threads = 64;
  p.bits = ordinary(2);
  p.row_ends.assign(static_cast<size_t>(rows), 3);
  p.row_ends.back() = 8;
  Bench bench(kernel(name), p, {});
  EXPECT_EQ("", bench.run()) << rows;
  for (const int32_t active : bench.active_blocks()) {
    EXPECT_EQ(1, active);
  }
  return bench.report;
}

TEST(TopkPrefill, RowsFromTheGateOnAreASecondLaunch) {
  for (const int64_t rows : {1, 6, 7, 8, 9, 14}) {
    const exactk_topk_report report = report_of("topk.prefill_block", rows, 7);
    EXPECT_EQ(EXACTK_PATH_PREFILL, report.path);
    EXPECT_EQ(1, report.max_blocks);
    EXPECT_EQ(rows > 7 ? 2 : 1, report.launches) << rows;
  }
}

TEST(TopkPrefill, TheGateIsAtRow12288) {
  EXPECT_EQ(1, report_of("topk.prefill_block", 12288, 0).launches);
  EXPECT_EQ(2, report_of("topk.prefill_block", 12289, 0).launches);
}

TEST(TopkPrefill, TheStableKernelIsOneLaunch) {
  const exactk_topk_report report = report_of("topk.prefill_stable", 14, 7);
  EXPECT_EQ(EXACTK_PATH_FULL_RADIX, report.path);
  EXPECT_EQ(1, report.launches);
}

}  // namespace
}  // namespace exactk::kernels::test
