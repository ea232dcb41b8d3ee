#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

class Atomics : public HostDeviceWave {};

TEST_P(Atomics, OnGlobalMemoryOfTwoWorkersLoseNothing) {
  const int blocks = 40, threads = 250, n = blocks * threads;
  DeviceArray<int> out(std::vector<int>{0, 0, -5, 5, 0, 0});
  DeviceArray<unsigned> uout(std::vector<unsigned>{0, ~0u, 0, 0, 0, ~0u});
  DeviceArray<uint64_t> wide(2, 0);
  DeviceArray<float> fout(1, 0.0f);
  atomics_global({blocks, threads}, out.data(), uout.data(), wide.data(), fout.data());
  const auto got = out.read();
  EXPECT_EQ(n, got[0]);
  EXPECT_EQ(-2 * n, got[1]);
  EXPECT_EQ(n - 1, got[2]);
  EXPECT_EQ(1 - n, got[3]);
  EXPECT_EQ(77, got[4]);
  EXPECT_GE(got[5], 1) << "thread 0 always finds its value";
  const auto ugot = uout.read();
  EXPECT_EQ(3u * n, ugot[0]);
  EXPECT_EQ(0u, ugot[1]);
  EXPECT_EQ(0xffffu, ugot[2]);
  unsigned parity = 0;
  for (int t = 0; t < n; ++t) parity ^= 1u << (t % 32);
  EXPECT_EQ(parity, ugot[3]);
  EXPECT_EQ(0x80000000u + n - 1, ugot[4]);
  EXPECT_EQ(0x80000000u, ugot[5]);
  EXPECT_EQ(0x100000001u * static_cast<uint64_t>(n), wide.read()[0]);
  EXPECT_EQ((uint64_t{1} << 40) + n - 1, wide.read()[1]);
  EXPECT_EQ(0.5f * n, fout.read()[0]);
}

TEST_P(Atomics, OnSharedMemoryBelongToOneBlock) {
  const int blocks = 6, threads = 300;
  DeviceArray<int> out(4 * blocks);
  atomics_shared({blocks, threads}, out.data());
  const auto got = out.read();
  for (int b = 0; b < blocks; ++b) {
    EXPECT_EQ(threads, got[4 * b]);
    EXPECT_EQ(threads - 1, got[4 * b + 1]);
    EXPECT_EQ(-threads, got[4 * b + 2]);
    EXPECT_EQ(1023, got[4 * b + 3]);
  }
}

TEST_P(Atomics, IncAndDecWrapAtTheirLimit) {
  DeviceArray<unsigned> counters(std::vector<unsigned>{0, 0});
  wrapping({5, 100}, 6, counters.data());
  const auto got = counters.read();
  EXPECT_EQ(500u % 7, got[0]);
  EXPECT_EQ(7 - 500u % 7, got[1]);
}

TEST_P(Atomics, IncAndDecOfAValuePastTheLimitReturnToIt) {
  DeviceArray<unsigned> counters(std::vector<unsigned>{9, 9});
  wrapping({1, 1}, 6, counters.data());
  EXPECT_EQ((std::vector<unsigned>{0, 6}), counters.read());
}

TEST_P(Atomics, TheLastBlockSeesWhatAllOthersWrote) {
  const int blocks = 33;
  for (int round = 0; round < 10; ++round) {
    DeviceArray<int> partial(blocks);
    DeviceArray<unsigned> tickets(1, 0);
    DeviceArray<int> sum(1, 0);
    last_block_sum({blocks, 64}, partial.data(), tickets.data(), sum.data());
    ASSERT_EQ(blocks * (blocks + 1) / 2, sum.read()[0]);
    ASSERT_EQ(0u, tickets.read()[0]) << "the counter is ready for the next launch";
  }
}

EXACTK_BOTH_WAVES(Atomics);

}  // namespace
}  // namespace exactk::kernels::test
