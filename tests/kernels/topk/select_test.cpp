// Every shipped kernel over the inputs on which such kernels break, at every wave width of the
// device.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/kernels/test_device.h"
#include "tests/kernels/topk/harness.h"
#include "tests/kernels/topk/patterns.h"

namespace exactk::kernels::test {
namespace {

// A kernel, and the small problem that leads it to one of its paths.
struct Path {
  const char* kernel;
  const char* label;
  int64_t width;
  int64_t k;
  int64_t radix_width, split_width, split_blocks, policy_shift, min_chunk;
};

constexpr Path kPaths[] = {
    {"topk.block", "insertion", 3000, 100, 0, 0, 0, 0, 0},
    {"topk.block", "radix", 3000, 100, 64, 0, 0, 0, 0},
    {"topk.split_merge", "split", 3000, 100, 64, 256, 7, 0, 0},
    {"topk.split_merge", "shortchunks", 3000, 1200, 64, 256, 10, 0, 0},
    {"topk.k512", "many", 3000, 512, 0, 0, 0, 7, 100},
    {"topk.k512", "longchunks", 9000, 512, 0, 0, 0, 6, 0},
    {"topk.k512", "single", 3000, 512, 0, 0, 0, 0, 0},
    {"topk.k1024", "eight", 3000, 1024, 0, 256, 0, 5, 0},
    {"topk.auto", "generic", 3000, 37, 64, 256, 3, 0, 0},
    {"topk.stable", "fullradix", 3000, 100, 0, 0, 0, 0, 0},
    {"topk.stable", "large_k", 3000, 2500, 0, 0, 0, 0, 0},
};

Problem problem_of(const Path& path) {
  Problem p;
  p.rows = 2;
  p.width = path.width;
  p.k = path.k;
  p.tune.radix_width = path.radix_width;
  p.tune.split_width = path.split_width;
  p.tune.split_blocks = path.split_blocks;
  p.tune.policy_shift = path.policy_shift;
  p.tune.min_chunk = path.min_chunk;
  return p;
}

class EveryPath : public testing::TestWithParam<std::tuple<Path, int>> {
 protected:
  const Path& path() const { return std::get<0>(GetParam()); }
  Options options() const { return {.wave_width = std::get<1>(GetParam())}; }
  Problem problem(Bits bits) const {
    Problem p = problem_of(path());
    p.bits = std::move(bits);
    return p;
  }
  void expect_exact(const Problem& p, const std::string& what) const {
    EXPECT_EQ("", run(path().kernel, p, options())) << what;
  }
};

TEST_P(EveryPath, SelectsAmongArbitraryBits) {
  expect_exact(problem(any_bits(3)), "");
}

TEST_P(EveryPath, SelectsAmongOrdinaryLogits) {
  expect_exact(problem(ordinary(4)), "");
}

TEST_P(EveryPath, SelectsAnyColumnsWhenAllAreEqual) {
  for (const uint32_t bits :
       {kOne, 0u, 0x80000000u, kMinusInf, kLowest, 0x7fc00000u, 0xffc00000u}) {
    expect_exact(problem(all_equal(bits)), std::to_string(bits));
  }
}

TEST_P(EveryPath, SelectsAmongTies) {
  expect_exact(problem(one_of(5, {kOne, kOne + 1, 0x3f000000u})), "three values");
}

TEST_P(EveryPath, TellsLowBitsApart) {
  for (const int bits : {1, 5, 10, 17}) {
    expect_exact(problem(low_bits(6, 0x3f900000u, bits)), std::to_string(bits));
    expect_exact(problem(low_bits(6, 0xbf900000u, bits)), "negative " + std::to_string(bits));
  }
}

TEST_P(EveryPath, TellsDenormalsAndSignedZerosApart) {
  expect_exact(problem(one_of(7, {0u, 0x80000000u, 1u, 0x80000001u, 0x007fffffu, 0x00800000u})),
               "");
  expect_exact(problem(one_of(8, {0u, 0x80000000u})), "zeros only");
}

TEST_P(EveryPath, FillsUpWithMinusInf) {
  for (const int permille : {500, 970, 999}) {
    expect_exact(problem(masked(9, permille, ordinary(9))), std::to_string(permille));
  }
  const int64_t few = path().k / 2;
  expect_exact(problem([=](int64_t row, int64_t column) {
                 return column < few ? ordinary(10)(row, column) : kMinusInf;
               }),
               "a short prefix is finite");
}

TEST_P(EveryPath, PrefersTheLowestFiniteToMinusInf) {
  expect_exact(problem(one_of(11, {kMinusInf, kMinusInf, kMinusInf, kLowest, kLowest + 1})), "");
}

TEST_P(EveryPath, RanksNansByTheirBits) {
  expect_exact(problem(one_of(12, {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7f800000u,
                                   kMinusInf, kOne, kLowest})),
               "mixed");
  expect_exact(problem(one_of(13, {0xffffffffu, 0xff800001u, 0xffc00000u})), "negative NaNs only");
  expect_exact(problem(one_of(14, {0xffffffffu, 0xff800001u, kMinusInf})), "and -inf");
}

TEST_P(EveryPath, TakesThresholdBinsOfEverySize) {
  const int64_t better = path().k / 3;
  for (const int64_t capacity : {64, 128}) {
    for (const int64_t members : {capacity - 1, capacity, capacity + 1, 2 * capacity}) {
      Problem p = problem(coarse_population(path().width, better, std::max(members, path().k)));
      p.tune.final_items = capacity;
      p.tune.insertion_items = 16;
      expect_exact(p, std::to_string(members));
    }
  }
}

TEST_P(EveryPath, TakesThresholdBinsAtTheCompiledCapacities) {
  for (const int64_t members : {1023, 1024, 1025, 2047, 2048, 2049, 2900}) {
    // Fewer than all members are needed, so that they have to be ranked.
    Problem p = problem(
        coarse_population(path().width, path().k - std::min<int64_t>(path().k, 40), members));
    p.rows = 1;
    expect_exact(p, std::to_string(members));
  }
}

TEST_P(EveryPath, TakesEveryLengthNearK) {
  const auto k = static_cast<int32_t>(path().k);
  const auto width = static_cast<int32_t>(path().width);
  Problem p = problem(any_bits(15));
  p.seq_lens = {-3, 0, 1, 2, k - 1, k, k + 1, std::min(2 * k, width), width - 1, width};
  p.rows = static_cast<int64_t>(p.seq_lens.size());
  expect_exact(p, "");
}

TEST_P(EveryPath, DerivesTheLengthsOfDrafts) {
  const auto k = static_cast<int32_t>(path().k);
  Problem p = problem(ordinary(16));
  p.seq_lens_dim = 1;
  p.next_n = 3;
  p.rows = 9;
  p.seq_lens = {1, k + 1, 2000};
  expect_exact(p, "");
}

TEST_P(EveryPath, ReadsMisalignedRows) {
  for (const int64_t misalign : {1, 2, 3}) {
    Problem p = problem(any_bits(17));
    p.misalign = misalign;
    p.rows = 3;
    p.row_stride = p.width + 5;
    p.out_stride = p.k + 3;
    p.seq_lens = {2999, 2998, static_cast<int32_t>(p.k + 1)};
    expect_exact(p, std::to_string(misalign));
  }
}

TEST_P(EveryPath, ReadsRowsThatShareTheirLogits) {
  Problem p = problem([](int64_t, int64_t column) { return any_bits(18)(0, column); });
  p.row_stride = 0;
  expect_exact(p, "");
}

TEST_P(EveryPath, RunsWithFewThreads) {
  Problem p = problem(any_bits(19));
  p.tune.block_threads = 64;
  expect_exact(p, "");
}

TEST_P(EveryPath, DoesNotDependOnTheSchedule) {
  if (!kOnHost) GTEST_SKIP() << "only the host device has schedules to choose from";
  for (const uint64_t seed : {1u, 2u, 3u}) {
    EXPECT_EQ("", run(path().kernel, problem(any_bits(20)),
                      {.wave_width = options().wave_width, .schedule_seed = seed}))
        << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Topk, EveryPath,
                         testing::Combine(testing::ValuesIn(kPaths),
                                          testing::ValuesIn(wave_widths())),
                         [](const auto& info) {
                           const Path& path = std::get<0>(info.param);
                           std::string name = std::string(path.kernel) + "_" + path.label +
                                              "_wave" + std::to_string(std::get<1>(info.param));
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(TopkBlock, ReadsStridedColumns) {
  for (const char* name : {"topk.block", "topk.split_merge", "topk.auto", "topk.stable"}) {
    Problem p = problem_of(kPaths[2]);
    p.bits = any_bits(21);
    p.column_stride = 3;
    p.row_stride = p.width * 3 + 1;
    EXPECT_EQ("", run(name, p)) << name;
  }
}

TEST(TopkBlock, TakesKBeyondTheWidth) {
  for (const char* name : {"topk.block", "topk.split_merge", "topk.stable"}) {
    Problem p = problem_of(kPaths[2]);
    p.bits = any_bits(22);
    p.k = p.width + 10;
    EXPECT_EQ("", run(name, p)) << name;
  }
}

TEST(TopkBlock, TakesKOfOneAndOneColumn) {
  for (const char* name : {"topk.block", "topk.split_merge", "topk.stable"}) {
    Problem p = problem_of(kPaths[2]);
    p.bits = any_bits(23);
    p.k = 1;
    p.rows = 6;
    p.seq_lens = {0, 1, 2, 5, 11, 3000};
    EXPECT_EQ("", run(name, p)) << name;
  }
}

TEST(TopkBlock, ClampsLengthsBeyondTheWidth) {
  Problem p = problem_of(kPaths[0]);
  p.bits = ordinary(24);
  p.rows = 1;
  p.seq_lens = {static_cast<int32_t>(p.width + 100)};
  EXPECT_EQ("", run("topk.block", p));
}

}  // namespace
}  // namespace exactk::kernels::test
