#include "oracle/band.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace exactk::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Band, HoldsItsEndsAndNothingBeyondThem) {
  const Band band{.low = -1, .high = 2};
  EXPECT_TRUE(band.holds(-1));
  EXPECT_TRUE(band.holds(2));
  EXPECT_FALSE(band.holds(std::nextafter(-1.0, -2.0)));
  EXPECT_FALSE(band.holds(std::nextafter(2.0, 3.0)));
  EXPECT_FALSE(band.holds(kNaN));
}

TEST(Band, OfOneInfinityHoldsThatOneOnly) {
  EXPECT_TRUE(Band::exactly(kInfinity).holds(kInfinity));
  EXPECT_FALSE(Band::exactly(kInfinity).holds(-kInfinity));
  EXPECT_FALSE(Band::exactly(kInfinity).holds(kNaN));
}

TEST(Band, ThatIsNotFiniteHoldsNoNumber) {
  EXPECT_TRUE(Band::not_finite().holds(kNaN));
  EXPECT_TRUE(Band::not_finite().holds(-kInfinity));
  EXPECT_FALSE(Band::not_finite().holds(0));
}

TEST(RoundedBand, IsOneValueAroundARepresentableOne) {
  const Band band = rounded({.low = 1.5 - 0x1p-20, .high = 1.5 + 0x1p-20}, kBfloat16);
  EXPECT_TRUE(band.is_one_value());
  EXPECT_EQ(1.5, band.low);
}

TEST(RoundedBand, RoundsTiesToEven) {
  EXPECT_EQ(1.0, rounded(Band::exactly(1 + 0x1p-8), kBfloat16).low);
  EXPECT_EQ(1 + 0x1p-6, rounded(Band::exactly(1 + 3 * 0x1p-8), kBfloat16).low);
}

TEST(RoundedBand, AgreesWithTheConversionToFloat) {
  for (const double value : {0.1, -3.3333, 1e30, -1e-30, 16777217.0, 16777219.0}) {
    EXPECT_EQ(static_cast<double>(static_cast<float>(value)),
              rounded(Band::exactly(value), kFloat32).low);
  }
}

TEST(RoundedBand, AllowsZeroForWhatMayBeFlushed) {
  const Band band = rounded({.low = 1e-40, .high = 2e-40}, kBfloat16);
  EXPECT_TRUE(band.holds(0));
  EXPECT_FALSE(band.holds(-1e-40));
  EXPECT_TRUE(rounded(Band::exactly(0), kBfloat16).is_one_value());
}

TEST(RoundedBand, EndsInInfinityBeyondTheLargest) {
  EXPECT_TRUE(rounded({.low = 65000, .high = 65520}, kFloat16).holds(kInfinity));
  EXPECT_FALSE(rounded({.low = 65000, .high = 65519}, kFloat16).holds(kInfinity));
}

TEST(Gamma, GrowsWithTheRoundings) {
  EXPECT_EQ(0, gamma(0, 0x1p-24));
  EXPECT_EQ(0.25 / 0.75, gamma(1, 0.25));
  EXPECT_EQ(kInfinity, gamma(4, 0.25));
}

TEST(SumsExactly, UpToTheLastIntegerOfTheFormatAndNotBeyond) {
  EXPECT_TRUE(sums_exactly(std::vector<double>{16777215, -1}, 0x1p-24));
  EXPECT_FALSE(sums_exactly(std::vector<double>{16777215, -2, 1}, 0x1p-24));
  EXPECT_TRUE(sums_exactly(std::vector<double>{0.5, 0.25, -3}, 0x1p-24));
  EXPECT_FALSE(sums_exactly(std::vector<double>{1, 0x1p-24}, 0x1p-24));
  EXPECT_FALSE(sums_exactly(std::vector<double>{0x1p-127}, 0x1p-24));
  EXPECT_FALSE(sums_exactly(std::vector<double>{kNaN}, 0x1p-24));
  EXPECT_TRUE(sums_exactly({}, 0x1p-24));
}

}  // namespace
}  // namespace exactk::oracle
