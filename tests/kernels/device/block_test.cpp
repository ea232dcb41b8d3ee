// Barriers and shared memory, at both wave widths.
#include <numeric>
#include <set>

#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

class Blocks : public HostDeviceWave {};

TEST_P(Blocks, KnowTheirCoordinates) {
  DeviceArray<unsigned> out(2 * 3 * 2 * 5 * 4 * 3);
  coordinates({dim3(2, 3, 2), dim3(5, 4, 3)}, out.data());
  std::vector<unsigned> want;
  for (unsigned bz = 0; bz < 2; ++bz)
    for (unsigned by = 0; by < 3; ++by)
      for (unsigned bx = 0; bx < 2; ++bx)
        for (unsigned tz = 0; tz < 3; ++tz)
          for (unsigned ty = 0; ty < 4; ++ty)
            for (unsigned tx = 0; tx < 5; ++tx)
              want.push_back(tx + 10 * ty + 100 * tz + 1000 * bx + 10000 * by + 100000 * bz);
  EXPECT_EQ(want, out.read());
}

TEST_P(Blocks, ScanAThousandAndTwentyFourThreads) {
  std::vector<int> in(1024);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 97) - 40;
  const DeviceArray<int> device_in(in);
  DeviceArray<int> out(1024);
  for (uint64_t seed : {0, 1, 2, 3}) {
    use({.wave_width = wave(), .schedule_seed = seed});
    inclusive_scan({1, 1024}, device_in.data(), out.data());
    std::vector<int> want(1024);
    std::partial_sum(in.begin(), in.end(), want.begin());
    ASSERT_EQ(want, out.read()) << "seed " << seed;
  }
}

TEST_P(Blocks, HoldEveryThreadAtEveryBarrierOfALoop) {
  const int threads = 200, rounds = 50, blocks = 3;
  for (uint64_t seed : {0, 5, 6}) {
    use({.wave_width = wave(), .schedule_seed = seed});
    DeviceArray<int> out(threads * blocks);
    neighbour_rounds({blocks, threads}, rounds, out.data());
    const auto got = out.read();
    for (int i = 0; i < threads * blocks; ++i) {
      ASSERT_EQ((i % threads + rounds) % threads + rounds, got[i])
          << "seed " << seed << ", place " << i;
    }
  }
}

TEST_P(Blocks, CountVotesAtBarriers) {
  const int threads = 130;
  DeviceArray<int> out(3 * threads);
  for (int threshold : {0, 1, 129, 130}) {
    barrier_votes({1, threads}, threshold, out.data());
    const auto got = out.read();
    for (int t = 0; t < threads; ++t) {
      ASSERT_EQ(threshold, got[3 * t]) << "count";
      ASSERT_EQ(threshold == threads, got[3 * t + 1] != 0) << "and";
      ASSERT_EQ(threshold > 0, got[3 * t + 2] != 0) << "or";
    }
  }
}

TEST_P(Blocks, HaveStaticAndDynamicSharedMemoryApart) {
  const int threads = 256;
  DeviceArray<int> out(4 * threads);
  static_and_dynamic({4, threads}, threads * sizeof(int), out.data());
  const auto got = out.read();
  for (int i = 0; i < 4 * threads; ++i) ASSERT_EQ(11 * (threads - 1 - i % threads), got[i]);
}

TEST_P(Blocks, FindPoisonInSharedMemoryAndNothingOfEarlierBlocks) {
  const int blocks = 9, threads = 64;
  DeviceArray<uint32_t> out(2 * blocks * threads);
  read_fresh_shared({blocks, threads}, out.data());
  for (uint32_t word : out.read()) {
    ASSERT_LT(static_cast<int32_t>(word), 0) << "a negative index";
    const float as_float = __uint_as_float(word);
    ASSERT_NE(as_float, as_float) << "not a number";
  }
}

TEST_P(Blocks, FindAnotherPoisonForAnotherSeed) {
  std::set<uint32_t> words;
  for (uint64_t seed : {0, 1, 2}) {
    use({.wave_width = wave(), .schedule_seed = seed});
    DeviceArray<uint32_t> out(2 * 64);
    read_fresh_shared({1, 64}, out.data());
    words.insert(out.read()[0]);
  }
  EXPECT_EQ(3u, words.size());
}

EXACTK_BOTH_WAVES(Blocks);

}  // namespace
}  // namespace exactk::kernels::test
