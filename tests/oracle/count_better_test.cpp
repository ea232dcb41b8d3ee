#include <gtest/gtest.h>

#include "oracle/logit_order.h"
#include "oracle/topk_contract.h"
#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

int64_t count_one_by_one(std::span<const uint32_t> logit_bits, uint32_t bits) {
  int64_t better = 0;
  for (const uint32_t other : logit_bits) {
    better += order_key(other) > order_key(bits) ? 1 : 0;
  }
  return better;
}

TEST(CountBetter, CountsTheHigherClassesOfFloats) {
  const auto classes = static_cast<int64_t>(std::size(kAscendingBits));
  for (int64_t i = 0; i < classes; ++i) {
    EXPECT_EQ(classes - 1 - i, count_better(kAscendingBits, kAscendingBits[i])) << i;
  }
}

TEST(CountBetter, AgreesWithOneByOneAtEveryLengthAndMisalignment) {
  Draws draws(7);
  std::vector<uint32_t> logits(203);
  for (uint32_t& bits : logits) {
    bits = draws.below(2) == 0 ? kAscendingBits[draws.below(std::ssize(kAscendingBits))]
                               : draws.bits();
  }
  for (size_t first = 0; first < 9; ++first) {
    for (size_t length = 0; first + length <= logits.size(); ++length) {
      const auto part = std::span<const uint32_t>(logits).subspan(first, length);
      const uint32_t threshold = kAscendingBits[length % std::size(kAscendingBits)];
      ASSERT_EQ(count_one_by_one(part, threshold), count_better(part, threshold))
          << first << " " << length;
    }
  }
}

TEST(CountBetter, CountsRowsLongerThanOneLaneChunk) {
  const std::vector<uint32_t> logits((size_t{1} << 21) + 3, bits_of(2.0f));
  EXPECT_EQ(std::ssize(logits), count_better(logits, bits_of(1.0f)));
  EXPECT_EQ(0, count_better(logits, bits_of(2.0f)));
  EXPECT_EQ(std::ssize(logits), count_better(logits, bits_of(-1.0f)));
}

TEST(CountBetter, FindsNothingInAnEmptyRow) {
  EXPECT_EQ(0, count_better({}, kNegNaN));
}

}  // namespace
}  // namespace exactk::oracle
