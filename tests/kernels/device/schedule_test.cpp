// The order of blocks, waves and lanes.
#include <algorithm>
#include <numeric>
#include <set>

#include "kernels/device/host/schedule.h"
#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

class Schedule : public HostDeviceWave {
 protected:
  std::vector<int> order(uint64_t seed, int blocks, int threads, int workers = 1) {
    use({.wave_width = wave(), .schedule_seed = seed, .workers = workers});
    DeviceArray<unsigned> next(1, 0);
    DeviceArray<int> out(blocks * threads);
    arrival_order({blocks, threads}, next.data(), out.data());
    return out.read();
  }
};

TEST_P(Schedule, OfSeedZeroIsInOrder) {
  std::vector<int> want(600);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_EQ(want, order(0, 3, 200));
}

TEST_P(Schedule, OfOneSeedIsAlwaysTheSame) {
  for (uint64_t seed : {1, 2, 3, 4})
    EXPECT_EQ(order(seed, 4, 200), order(seed, 4, 200)) << "seed " << seed;
}

TEST_P(Schedule, OfDifferentSeedsDiffers) {
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < 8; ++seed) orders.insert(order(seed, 4, 200));
  EXPECT_EQ(8u, orders.size());
}

TEST_P(Schedule, RunsEveryThreadOnce) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    for (int workers : {1, 2, 3}) {
      auto got = order(seed, 7, 130, workers);
      std::sort(got.begin(), got.end());
      std::vector<int> want(7 * 130);
      std::iota(want.begin(), want.end(), 0);
      ASSERT_EQ(want, got) << "seed " << seed << ", workers " << workers;
    }
  }
}

TEST_P(Schedule, DrawsBlocksWavesAndLanes) {
  bool first_block_moved = false, first_lane_moved = false, waves_interleave = false;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const auto got = order(seed, 4, 256);
    first_block_moved |= got[0] / 256 != 0;
    first_lane_moved |= got[0] % wave() != 0;
    waves_interleave |= got[0] / wave() != got[1] / wave();
  }
  EXPECT_TRUE(first_block_moved);
  EXPECT_TRUE(first_lane_moved);
  EXPECT_TRUE(waves_interleave);
}

TEST_P(Schedule, DrawsAnewAfterEveryBarrier) {
  use({.wave_width = wave(), .schedule_seed = 3, .workers = 1});
  DeviceArray<unsigned> next(1, 0);
  DeviceArray<int> out(2 * 256);
  arrival_order_after_barrier({1, 256}, next.data(), out.data());
  const auto got = out.read();
  EXPECT_NE(std::vector<int>(got.begin(), got.begin() + 256),
            std::vector<int>(got.begin() + 256, got.end()));
}

TEST_P(Schedule, DoesNotChangeTheOrderInsideABlockWithTheWorkers) {
  const int blocks = 6, threads = 100;
  for (uint64_t seed : {0, 9}) {
    const auto per_block = [&](int workers) {
      std::vector<std::vector<int>> orders(blocks);
      for (int id : order(seed, blocks, threads, workers))
        orders[id / threads].push_back(id % threads);
      return orders;
    };
    EXPECT_EQ(per_block(1), per_block(2)) << "seed " << seed;
  }
}

TEST_P(Schedule, DoesNotChangeResults) {
  std::vector<int> in(1024, 3);
  const DeviceArray<int> device_in(in);
  std::set<std::vector<int>> results;
  for (uint64_t seed : {0, 1, 2, 3}) {
    for (int workers : {1, 2}) {
      use({.wave_width = wave(), .schedule_seed = seed, .workers = workers});
      DeviceArray<int> out(1024);
      inclusive_scan({1, 1024}, device_in.data(), out.data());
      results.insert(out.read());
    }
  }
  EXPECT_EQ(1u, results.size());
}

EXACTK_BOTH_WAVES(Schedule);

TEST(ScheduleOrder, IsAPermutationForHugeGridsToo) {
  const uint64_t count = (uint64_t{1} << 20) + 7;
  const host_device::ScheduleOrder order(count, 5);
  std::vector<bool> seen(count, false);
  uint64_t moved = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = order.at(i);
    ASSERT_LT(at, count);
    ASSERT_FALSE(seen[at]);
    seen[at] = true;
    moved += at != i;
  }
  EXPECT_GT(moved, count / 2);
}

}  // namespace
}  // namespace exactk::kernels::test
