#include "kernels/topk/key.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "oracle/logit_order.h"

namespace exactk::kernels::topk {
namespace {

// Calls f(key) for keys of every magnitude: all neighbours of every multiple of 2^12, NaNs
// included.
template <class F>
void for_many_keys(F f) {
  for (uint64_t base = 0; base <= (uint64_t{1} << 32); base += 1u << 12) {
    for (int64_t offset = -2; offset <= 2; ++offset) {
      const int64_t key = static_cast<int64_t>(base) + offset;
      if (key >= 0 && key < (int64_t{1} << 32)) {
        f(static_cast<uint32_t>(key));
      }
    }
  }
}

// fp16 bits of a finite magnitude, by rounding in double arithmetic to the nearest multiple of the
// fp16 step.
uint32_t fp16_magnitude(float value) {
  const int exponent = std::max(value > 0 ? std::ilogb(value) : -14, -14);
  const double steps = std::nearbyint(std::ldexp(static_cast<double>(value), 10 - exponent));
  return static_cast<uint32_t>(steps) + static_cast<uint32_t>(exponent + 14) * 1024u;
}

TEST(TopkKey, OrderKeyAgreesWithTheOracle) {
  for_many_keys([](uint32_t bits) { ASSERT_EQ(oracle::order_key(bits), order_key(bits)) << bits; });
}

TEST(TopkKey, CoarseBinIsMonotoneInTheKey) {
  uint32_t previous = 0;
  for_many_keys([&](uint32_t key) {
    const uint32_t bin = coarse_bin(key);
    ASSERT_LE(previous, bin) << key;
    ASSERT_LT(bin, static_cast<uint32_t>(kBins)) << key;
    previous = bin;
  });
}

TEST(TopkKey, CoarseBinIsTheUpperHalfOfTheValueRoundedToFp16) {
  for_many_keys([](uint32_t key) {
    const uint32_t bits = oracle::bits_of_order_key(key);
    const float magnitude = std::bit_cast<float>(bits & 0x7fffffffu);
    if (!std::isfinite(magnitude)) {
      return;
    }
    const uint32_t upper = std::min(fp16_magnitude(magnitude), 0x7c00u) >> 5;
    const uint32_t want = std::signbit(std::bit_cast<float>(bits)) ? 1023u - upper : 1024u + upper;
    ASSERT_EQ(want, coarse_bin(key)) << bits;
  });
}

TEST(TopkKey, CoarseRangesTileAllKeys) {
  uint64_t next = 0;
  for (uint32_t bin = 0; bin < kBins; ++bin) {
    const KeyRange range = coarse_range(bin);
    if (range.lo > range.hi) {
      continue;  // a bin without keys, between an infinity and the NaNs
    }
    ASSERT_EQ(next, uint64_t{range.lo}) << bin;
    ASSERT_EQ(bin, coarse_bin(range.lo));
    ASSERT_EQ(bin, coarse_bin(range.hi));
    next = uint64_t{range.hi} + 1;
  }
  EXPECT_EQ(uint64_t{1} << 32, next);
}

TEST(TopkKey, NansOfEitherSignLieBeyondTheInfinities) {
  EXPECT_EQ(2047u, coarse_bin(order_key(0x7f800001u)));
  EXPECT_EQ(2017u, coarse_bin(order_key(0x7f800000u)));
  EXPECT_EQ(kMinusInfBin, coarse_bin(order_key(0xff800000u)));
  EXPECT_EQ(0u, coarse_bin(order_key(0xff800001u)));
}

TEST(TopkKey, InfinitiesHaveBinsOfTheirOwn) {
  EXPECT_EQ(kMinusInfKey, order_key(0xff800000u));
  EXPECT_EQ(kMinusInfKey, coarse_range(kMinusInfBin).lo);
  EXPECT_EQ(kMinusInfKey, coarse_range(kMinusInfBin).hi);
  EXPECT_EQ(2016u, coarse_bin(order_key(0x7f7fffffu)));
}

}  // namespace
}  // namespace exactk::kernels::topk
