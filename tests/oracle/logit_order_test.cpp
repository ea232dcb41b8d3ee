#include "oracle/logit_order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

TEST(LogitOrder, RanksEveryClassOfFloatAsWrittenOut) {
  for (size_t i = 1; i < std::size(kAscendingBits); ++i) {
    EXPECT_LT(order_key(kAscendingBits[i - 1]), order_key(kAscendingBits[i])) << i;
  }
}

TEST(LogitOrder, SignedKeysRankLikeUnsignedOnes) {
  for (const uint32_t a : kAscendingBits) {
    for (const uint32_t b : kAscendingBits) {
      EXPECT_EQ(order_key(a) < order_key(b), signed_order_key(a) < signed_order_key(b));
    }
  }
}

TEST(LogitOrder, AgreesWithTheFloatOrderOfNumbersThatAreNotBothZero) {
  Draws draws(1);
  for (int i = 0; i < 100000; ++i) {
    const uint32_t a = draws.bits();
    const uint32_t b = i % 2 == 0 ? draws.bits() : a + 1;
    const float x = std::bit_cast<float>(a);
    const float y = std::bit_cast<float>(b);
    if (std::isnan(x) || std::isnan(y) || (x == 0 && y == 0)) {
      continue;
    }
    EXPECT_EQ(x < y, order_key(a) < order_key(b)) << a << " " << b;
  }
}

TEST(LogitOrder, KeysCanBeTurnedBackIntoBits) {
  for (const uint32_t bits : kAscendingBits) {
    EXPECT_EQ(bits, bits_of_order_key(order_key(bits)));
  }
}

TEST(LogitOrder, BestAndWorstKeysAreTheEndsOfTheRange) {
  EXPECT_EQ(0xffffffffu, order_key(0x7fffffffu));
  EXPECT_EQ(0u, order_key(0xffffffffu));
}

}  // namespace
}  // namespace exactk::oracle
