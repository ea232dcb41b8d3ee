// Wave operations, at both wave widths.
#include <bit>

#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

class WaveOperations : public HostDeviceWave {
 protected:
  static int mark(int block, int thread) { return 1000 * (block + 1) + thread; }
  // What a shuffle kernel should give, from the source lane of each lane.
  template <class Source>
  std::vector<int> shuffled(int blocks, int threads, Source source) const {
    std::vector<int> want;
    for (int b = 0; b < blocks; ++b) {
      for (int t = 0; t < threads; ++t) {
        want.push_back(mark(b, t / wave() * wave() + source(t % wave())));
      }
    }
    return want;
  }
};

TEST_P(WaveOperations, BallotHasOneBitPerLaneOfTheWave) {
  const int threads = 192;
  DeviceArray<uint64_t> ballots(2 * threads);
  DeviceArray<int> any_all(2 * threads * 4);
  ballot({2, threads}, ballots.data(), any_all.data());
  const auto got = ballots.read();
  for (int t = 0; t < threads; ++t) {
    uint64_t want = 0;
    for (int lane = 0; lane < wave(); ++lane) {
      want |= uint64_t{(t / wave() * wave() + lane) % 3 == 0} << lane;
    }
    ASSERT_EQ(want, got[t]) << "thread " << t;
    ASSERT_EQ(want, got[threads + t]) << "second block, thread " << t;
  }
}

TEST_P(WaveOperations, AnyAndAllLookAtTheOwnWaveOnly) {
  const int threads = 128;
  DeviceArray<uint64_t> ballots(threads);
  DeviceArray<int> any_all(threads * 4);
  ballot({1, threads}, ballots.data(), any_all.data());
  const auto got = any_all.read();
  for (int t = 0; t < threads; ++t) {
    const bool with_40 = t / wave() == 40 / wave();
    ASSERT_EQ(with_40, got[4 * t + 0] != 0) << "any, thread " << t;
    ASSERT_EQ(0, got[4 * t + 1]) << "any of none, thread " << t;
    ASSERT_EQ(!with_40, got[4 * t + 2] != 0) << "all, thread " << t;
    ASSERT_NE(0, got[4 * t + 3]) << "all of all, thread " << t;
  }
}

TEST_P(WaveOperations, PartialLastWaveVotesWithTheLanesThatItHas) {
  const int threads = wave() + 7;
  DeviceArray<uint64_t> ballots(threads);
  DeviceArray<int> any_all(threads * 4);
  ballot({1, threads}, ballots.data(), any_all.data());
  const auto got = ballots.read();
  uint64_t want = 0;
  for (int lane = 0; lane < 7; ++lane) want |= uint64_t{(wave() + lane) % 3 == 0} << lane;
  for (int lane = 0; lane < 7; ++lane) EXPECT_EQ(want, got[wave() + lane]);
  EXPECT_NE(0, any_all.read()[4 * (threads - 1) + 3]) << "all over the lanes that exist";
}

TEST_P(WaveOperations, ReturnedLanesVoteNo) {
  DeviceArray<uint64_t> ballots(wave());
  ballot_after_return({1, wave()}, 5, ballots.data());
  const auto got = ballots.read();
  for (int t = 0; t < 5; ++t) EXPECT_EQ(0x1fu, got[t]);
}

TEST_P(WaveOperations, ShuffleWrapsTheSourceAroundTheWidth) {
  const int threads = 128;
  DeviceArray<int> out(2 * threads);
  for (int width : {8, wave()}) {
    for (int source : {0, 3, width - 1, width, width + 5, -1}) {
      shuffle({2, threads}, source, width, out.data());
      const auto want = shuffled(
          2, threads, [&](int lane) { return lane / width * width + (source & (width - 1)); });
      ASSERT_EQ(want, out.read()) << "width " << width << ", source " << source;
    }
  }
}

TEST_P(WaveOperations, ShuffleUpKeepsTheOwnValueBeforeTheSegment) {
  const int threads = 128;
  DeviceArray<int> out(threads);
  for (int width : {16, wave()}) {
    for (int delta : {0, 1, 5, width - 1, width, 1000}) {
      shuffle_up({1, threads}, delta, width, out.data());
      const auto want = shuffled(
          1, threads, [&](int lane) { return lane % width >= delta ? lane - delta : lane; });
      ASSERT_EQ(want, out.read()) << "width " << width << ", delta " << delta;
    }
  }
}

TEST_P(WaveOperations, ShuffleDownKeepsTheOwnValuePastTheSegment) {
  const int threads = 128;
  DeviceArray<int> out(threads);
  for (int width : {16, wave()}) {
    for (int delta : {0, 1, 5, width - 1, width, 1000}) {
      shuffle_down({1, threads}, delta, width, out.data());
      const auto want = shuffled(
          1, threads, [&](int lane) { return lane % width + delta < width ? lane + delta : lane; });
      ASSERT_EQ(want, out.read()) << "width " << width << ", delta " << delta;
    }
  }
}

TEST_P(WaveOperations, ShuffleXorKeepsTheOwnValuePastTheSegment) {
  const int threads = 128;
  DeviceArray<int> out(threads);
  for (int width : {8, wave()}) {
    for (int mask : {0, 1, 4, 7, 16, 31}) {
      shuffle_xor({1, threads}, mask, width, out.data());
      const auto want = shuffled(1, threads, [&](int lane) {
        const int source = lane ^ mask;
        return source < lane / width * width + width ? source : lane;
      });
      ASSERT_EQ(want, out.read()) << "width " << width << ", mask " << mask;
    }
  }
}

TEST_P(WaveOperations, ShuffleFromALaneThatDoesNotExistGivesPoison) {
  const int threads = wave() + 4;
  DeviceArray<int> out(threads);
  shuffle_down({1, threads}, 1, wave(), out.data());
  const auto got = out.read();
  EXPECT_EQ(mark(0, wave() + 3), got[wave() + 2]);
  EXPECT_LT(got[wave() + 3], 0) << "the fifth lane of the last wave does not exist";
}

TEST_P(WaveOperations, ShufflesCarryFloatsAndWideIntegers) {
  const int threads = 64;
  DeviceArray<float> floats(threads);
  DeviceArray<uint64_t> wide(threads);
  shuffle_types({1, threads}, floats.data(), wide.data());
  const auto got_floats = floats.read();
  const auto got_wide = wide.read();
  for (int t = 0; t < threads; ++t) {
    ASSERT_EQ(0.5f * static_cast<float>(t ^ 1), got_floats[t]);
    ASSERT_EQ(0x100000000u * static_cast<uint64_t>(t ^ 2) + 7, got_wide[t]);
  }
}

TEST_P(WaveOperations, ResultsOfConsecutiveOperationsDoNotMix) {
  for (uint64_t seed : {0, 1, 2}) {
    use({.wave_width = wave(), .schedule_seed = seed});
    DeviceArray<uint64_t> mismatches(3 * 256);
    many_ballots({3, 256}, 200, mismatches.data());
    for (uint64_t wrong : mismatches.read()) ASSERT_EQ(0u, wrong) << "seed " << seed;
  }
}

EXACTK_BOTH_WAVES(WaveOperations);

TEST(WaveIntrinsics, CountAndReverseBits) {
  DeviceArray<int> out(11);
  intrinsics({1, 1}, 0x00f01000u, uint64_t{0xf} << 36, out.data());
  const auto got = out.read();
  EXPECT_EQ(5, got[0]);
  EXPECT_EQ(4, got[1]);
  EXPECT_EQ(13, got[2]);
  EXPECT_EQ(37, got[3]);
  EXPECT_EQ(8, got[4]);
  EXPECT_EQ(24, got[5]);
  EXPECT_EQ(0x00080f00, got[6]);
  EXPECT_EQ(0x00f01000, got[7]);
  EXPECT_EQ(0xf0, got[8]);
  EXPECT_EQ(0, got[9]);
  EXPECT_EQ(96, got[10]);
}

}  // namespace
}  // namespace exactk::kernels::test
