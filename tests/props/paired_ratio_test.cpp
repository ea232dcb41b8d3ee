#include "props/paired_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fixtures/counter_hash.h"

namespace exactk::tests {
namespace {

using props::pairs_needed;
using props::ratio_interval;
using props::RatioInterval;

// Ratios 1, 2, ..., n.
RatioInterval of_ramp(int64_t n, double error_max) {
  std::vector<double> baseline(static_cast<size_t>(n), 2.0), candidate;
  for (int64_t i = 1; i <= n; ++i) candidate.push_back(2.0 * static_cast<double>(i));
  return ratio_interval(baseline, candidate, error_max);
}

// Made of bits alone, so that no library decides what is tested: in [0, 1).
double uniform(uint64_t draw, uint64_t stream) {
  return static_cast<double>(fixtures::hash_pair(stream, draw) >> 40) * 0x1p-24;
}

TEST(PairedRatio, TakesTheOrderStatisticsOfTheSignTestsTable) {
  // Published 95 % intervals for a median: n = 10 takes the 2nd and the 9th, n = 20 the 6th and the
  // 15th, n = 25 the 8th and the 18th.
  EXPECT_EQ(2, of_ramp(10, 0.05).lower);
  EXPECT_EQ(9, of_ramp(10, 0.05).upper);
  EXPECT_EQ(6, of_ramp(20, 0.05).lower);
  EXPECT_EQ(15, of_ramp(20, 0.05).upper);
  EXPECT_EQ(8, of_ramp(25, 0.05).lower);
  EXPECT_EQ(18, of_ramp(25, 0.05).upper);
  EXPECT_EQ(13, of_ramp(25, 0.05).median);
  EXPECT_EQ(10.5, of_ramp(20, 0.05).median);
}

TEST(PairedRatio, HasNoBoundWithTooFewPairsForTheLevel) {
  EXPECT_EQ(6, pairs_needed(0.05));
  const RatioInterval few = of_ramp(5, 0.05);
  EXPECT_EQ(0, few.lower);
  EXPECT_TRUE(std::isinf(few.upper));
  EXPECT_FALSE(few.slower());
  EXPECT_FALSE(few.faster());
  EXPECT_EQ(1, of_ramp(6, 0.05).lower);
}

TEST(PairedRatio, IsNotMovedByAFewWildTimes) {
  std::vector<double> baseline(25, 1.0), candidate(25, 1.1);
  candidate[3] = 1e6;
  candidate[9] = 1e-6;
  const RatioInterval interval = ratio_interval(baseline, candidate, 0.05);
  EXPECT_DOUBLE_EQ(1.1, interval.lower);
  EXPECT_DOUBLE_EQ(1.1, interval.upper);
  EXPECT_TRUE(interval.slower());
}

TEST(PairedRatio, SaysSlowerOrFasterOnlyWhenOneIsOutside) {
  const std::vector<double> one(25, 1.0), two(25, 2.0);
  EXPECT_EQ("slower", props::name_of(ratio_interval(one, two, 0.05)));
  EXPECT_EQ("faster", props::name_of(ratio_interval(two, one, 0.05)));
  EXPECT_EQ("no difference shown", props::name_of(ratio_interval(one, one, 0.05)));
}

TEST(PairedRatio, CallsEqualKernelsDifferentAsSeldomAsItPromises) {
  constexpr int kTrials = 2000;
  int wrong = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> baseline, candidate;
    for (uint64_t i = 0; i < 25; ++i) {
      const uint64_t draw = static_cast<uint64_t>(trial) * 25 + i;
      // Noise is one-sided and heavy, as of a machine that does other things as well.
      baseline.push_back(1 + 0.1 / (0.01 + uniform(draw, 1)));
      candidate.push_back(1 + 0.1 / (0.01 + uniform(draw, 2)));
    }
    const RatioInterval interval = ratio_interval(baseline, candidate, 0.05);
    wrong += interval.slower() || interval.faster() ? 1 : 0;
  }
  // 0.0433 is the exact chance at n = 25; 5 standard deviations are 0.023.
  EXPECT_LT(wrong, kTrials * 0.0665);
  EXPECT_GT(wrong, kTrials * 0.0205);
}

}  // namespace
}  // namespace exactk::tests
