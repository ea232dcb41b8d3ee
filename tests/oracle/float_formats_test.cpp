// The number formats against values that come about in other ways: ladders of steps, literals, the
// compiler's own conversions and the bits of float.
#include "oracle/float_formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<FloatFormat> kSmallFormats{kFp8E4m3Fn, kFp8E4m3Fnuz, kFloat16, kBfloat16};

// The values of the patterns 0, 1, 2, ... by addition alone: the first two rungs climb by the
// smallest value, and from then on each rung by twice the step of the one before.
std::vector<double> ladder(double smallest, size_t rung, size_t count) {
  std::vector<double> values;
  double value = 0;
  double step = smallest;
  for (size_t pattern = 0; pattern < count; ++pattern) {
    if (pattern >= 2 * rung && pattern % rung == 0) {
      step *= 2;
    }
    values.push_back(value);
    value += step;
  }
  return values;
}

// How many of the patterns, and of those with the sign bit, a format reads as something else.
int mismatches(const FloatFormat& format, const std::vector<double>& positive) {
  int wrong = 0;
  for (size_t pattern = 0; pattern < positive.size(); ++pattern) {
    const auto bits = static_cast<uint32_t>(pattern);
    const uint32_t sign = 1u << (format.width() - 1);
    wrong += decode(format, bits) == positive[pattern] ? 0 : 1;
    wrong += decode(format, sign | bits) == -positive[pattern] ? 0 : 1;
  }
  return wrong;
}

bool is_finite_pattern(const FloatFormat& format, uint32_t bits) {
  return std::isfinite(decode(format, bits));
}

uint32_t patterns(const FloatFormat& format) {
  return 1u << format.width();
}

TEST(FloatFormats, ReadEveryByteOfFnAsTheLadderFromTwoToTheMinusNine) {
  const std::vector<double> values = ladder(0x1p-9, 8, 127);
  EXPECT_EQ(448.0, values.back());
  EXPECT_EQ(0, mismatches(kFp8E4m3Fn, values));
  EXPECT_TRUE(std::isnan(decode(kFp8E4m3Fn, 0x7f)));
  EXPECT_TRUE(std::isnan(decode(kFp8E4m3Fn, 0xff)));
}

TEST(FloatFormats, ReadEveryByteOfFnuzAsTheLadderFromTwoToTheMinusTen) {
  const std::vector<double> values = ladder(0x1p-10, 8, 128);
  EXPECT_EQ(240.0, values.back());
  // The pattern of -0 is the one byte that is no number.
  EXPECT_EQ(1, mismatches(kFp8E4m3Fnuz, values));
  EXPECT_TRUE(std::isnan(decode(kFp8E4m3Fnuz, 0x80)));
}

TEST(FloatFormats, ReadNoByteButZeroTheSameInTheOtherFlavour) {
  EXPECT_EQ(252, mismatches(kFp8E4m3Fnuz, ladder(0x1p-9, 8, 127)) - 1);
  EXPECT_EQ(252 + 2, mismatches(kFp8E4m3Fn, ladder(0x1p-10, 8, 128)));
  for (uint32_t bits = 1; bits < 0x7f; ++bits) {
    EXPECT_EQ(decode(kFp8E4m3Fn, bits), 2 * decode(kFp8E4m3Fnuz, bits)) << bits;
    EXPECT_EQ(decode(kFp8E4m3Fn, 0x80 | bits), 2 * decode(kFp8E4m3Fnuz, 0x80 | bits)) << bits;
  }
}

TEST(FloatFormats, ReadTheBytesOfTheSpecificationsAsTheyPrintThem) {
  EXPECT_EQ(448.0, decode(kFp8E4m3Fn, 0x7e));
  EXPECT_EQ(0x1p-6, decode(kFp8E4m3Fn, 0x08));          // smallest normal
  EXPECT_EQ(0.875 * 0x1p-6, decode(kFp8E4m3Fn, 0x07));  // largest subnormal
  EXPECT_EQ(0x1p-9, decode(kFp8E4m3Fn, 0x01));
  EXPECT_EQ(1.0, decode(kFp8E4m3Fn, 0x38));
  EXPECT_EQ(-2.0, decode(kFp8E4m3Fn, 0xc0));
  EXPECT_TRUE(std::signbit(decode(kFp8E4m3Fn, 0x80)));
  EXPECT_EQ(240.0, decode(kFp8E4m3Fnuz, 0x7f));
  EXPECT_EQ(0x1p-7, decode(kFp8E4m3Fnuz, 0x08));
  EXPECT_EQ(0x1p-10, decode(kFp8E4m3Fnuz, 0x01));
  EXPECT_EQ(1.0, decode(kFp8E4m3Fnuz, 0x40));
  EXPECT_EQ(-1.0, decode(kFp8E4m3Fnuz, 0xc0));
  EXPECT_EQ(65504.0, decode(kFloat16, 0x7bff));
  EXPECT_EQ(0x1p-24, decode(kFloat16, 0x0001));
}

TEST(FloatFormats, ReadEveryFloat16AsTheLadderAndTheSpecials) {
  const std::vector<double> values = ladder(0x1p-24, 1024, 0x7c00);
  EXPECT_EQ(65504.0, values.back());
  EXPECT_EQ(0, mismatches(kFloat16, values));
  EXPECT_EQ(kInfinity, decode(kFloat16, 0x7c00));
  EXPECT_EQ(-kInfinity, decode(kFloat16, 0xfc00));
  for (uint32_t bits = 0x7c01; bits <= 0x7fff; ++bits) {
    ASSERT_TRUE(std::isnan(decode(kFloat16, bits))) << bits;
    ASSERT_TRUE(std::isnan(decode(kFloat16, 0x8000 | bits))) << bits;
  }
}

#ifdef __FLT16_MANT_DIG__  // the compiler has the type
TEST(FloatFormats, ReadAndWriteFloat16AsTheCompilerDoes) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto compiled = static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    const double value = decode(kFloat16, bits);
    ASSERT_TRUE(compiled == value || (std::isnan(compiled) && std::isnan(value))) << bits;
    ASSERT_EQ(std::signbit(compiled) && !std::isnan(value), std::signbit(value)) << bits;
  }
  Draws draws(1);
  for (int draw = 0; draw < 200000; ++draw) {
    // 2^-27 to 2^17: all of float16 and some beyond both ends.
    const auto magnitude = static_cast<uint32_t>(0x32000000 + draws.below(0x16000000));
    const auto value = std::bit_cast<float>(magnitude | draws.bits() << 31);
    const auto compiled = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
    ASSERT_EQ(compiled, encode(kFloat16, value, Overflow::kSpecial)) << value;
  }
}
#endif

TEST(FloatFormats, ReadEveryBfloat16AsTheUpperHalfOfAFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double upper = std::bit_cast<float>(bits << 16);
    const double value = decode(kBfloat16, bits);
    ASSERT_TRUE(upper == value || (std::isnan(upper) && std::isnan(value))) << bits;
    ASSERT_TRUE(std::isnan(value) || std::signbit(upper) == std::signbit(value)) << bits;
  }
}

TEST(FloatFormats, ReadAndWriteFloat32AsTheCompilerDoes) {
  Draws draws(2);
  for (int draw = 0; draw < 500000; ++draw) {
    const uint32_t bits = draws.bits();
    const auto compiled = std::bit_cast<float>(bits);
    if (std::isnan(compiled)) {
      ASSERT_TRUE(std::isnan(decode(kFloat32, bits))) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(compiled), decode(kFloat32, bits)) << bits;
    ASSERT_EQ(bits, encode(kFloat32, compiled, Overflow::kSpecial)) << bits;
    // Between two floats, subnormals and the last step before infinity included.
    const double between = compiled * (1 + draws.below(1 << 20) * 0x1p-44);
    ASSERT_EQ(bits_of(static_cast<float>(between)), encode(kFloat32, between, Overflow::kSpecial))
        << between;
  }
  EXPECT_EQ(0x7fc00000u, encode(kFloat32, kNaN, Overflow::kSpecial));
}

TEST(FloatFormats, WriteBackEveryPatternThatIsANumber) {
  for (const FloatFormat& format : kSmallFormats) {
    for (uint32_t bits = 0; bits < patterns(format); ++bits) {
      const double value = decode(format, bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(bits, encode(format, value, Overflow::kSpecial)) << format.name << " " << bits;
      if (std::isfinite(value)) {
        ASSERT_EQ(bits, encode(format, value, Overflow::kSaturate)) << format.name << " " << bits;
      }
    }
  }
}

TEST(FloatFormats, AscendWithThePatternsOfOneSign) {
  for (const FloatFormat& format : kSmallFormats) {
    for (uint32_t bits = 1; bits < patterns(format) / 2; ++bits) {
      if (!is_finite_pattern(format, bits)) break;
      ASSERT_LT(decode(format, bits - 1), decode(format, bits)) << format.name << " " << bits;
    }
  }
}

// Every gap between neighbours: its midpoint goes to the even pattern, everything else to the
// nearer one.
TEST(FloatFormats, RoundToTheNearestAndMidpointsToTheEvenPattern) {
  for (const FloatFormat& format : kSmallFormats) {
    const uint32_t sign = patterns(format) / 2;
    for (uint32_t low = 0; is_finite_pattern(format, low + 1) && low + 1 < sign; ++low) {
      const double midpoint = (decode(format, low) + decode(format, low + 1)) / 2;
      const uint32_t even = low % 2 == 0 ? low : low + 1;
      const uint32_t minus_low = low == 0 && format.specials == Specials::kFnuz ? 0 : sign | low;
      const uint32_t minus_even = even == 0 && format.specials == Specials::kFnuz ? 0 : sign | even;
      const auto bits_of_double = [&](double value) {
        return encode(format, value, Overflow::kSpecial);
      };
      ASSERT_EQ(even, bits_of_double(midpoint)) << format.name << " " << low;
      ASSERT_EQ(low, bits_of_double(std::nextafter(midpoint, 0.0))) << format.name << " " << low;
      ASSERT_EQ(low + 1, bits_of_double(std::nextafter(midpoint, kInfinity)))
          << format.name << " " << low;
      ASSERT_EQ(minus_even, bits_of_double(-midpoint)) << format.name << " " << low;
      ASSERT_EQ(minus_low, bits_of_double(-std::nextafter(midpoint, 0.0)))
          << format.name << " " << low;
      ASSERT_EQ(sign | (low + 1), bits_of_double(-std::nextafter(midpoint, kInfinity)))
          << format.name << " " << low;
    }
  }
}

struct Edge {
  FloatFormat format;
  double last;  // the largest value that still rounds to a finite one
  double first_beyond;
  uint32_t largest;
  uint32_t special;
  uint32_t minus_special;
};

TEST(FloatFormats, SaturateOnlyBeyondTheLastMidpoint) {
  const auto below = [](double value) { return std::nextafter(value, 0.0); };
  const auto above = [](double value) { return std::nextafter(value, kInfinity); };
  const double half_max = 0x1.ffcp15 + 0x1p4;      // 65520, a tie to the infinity
  const double bfloat_max = 0x1.fep127 + 0x1p119;  // likewise
  for (const Edge& edge : {
           Edge{kFp8E4m3Fn, 464, above(464), 0x7e, 0x7f, 0xff},
           Edge{kFp8E4m3Fnuz, below(248), 248, 0x7f, 0x80, 0x80},
           Edge{kFloat16, below(half_max), half_max, 0x7bff, 0x7c00, 0xfc00},
           Edge{kBfloat16, below(bfloat_max), bfloat_max, 0x7f7f, 0x7f80, 0xff80},
       }) {
    const uint32_t sign = patterns(edge.format) / 2;
    EXPECT_EQ(largest_finite(edge.format), decode(edge.format, edge.largest));
    for (const Overflow overflow : {Overflow::kSpecial, Overflow::kSaturate}) {
      EXPECT_EQ(edge.largest, encode(edge.format, edge.last, overflow)) << edge.format.name;
      EXPECT_EQ(sign | edge.largest, encode(edge.format, -edge.last, overflow)) << edge.format.name;
    }
    for (const double beyond : {edge.first_beyond, 1e300, kInfinity}) {
      EXPECT_EQ(edge.special, encode(edge.format, beyond, Overflow::kSpecial)) << beyond;
      EXPECT_EQ(edge.largest, encode(edge.format, beyond, Overflow::kSaturate)) << beyond;
      EXPECT_EQ(sign | edge.largest, encode(edge.format, -beyond, Overflow::kSaturate)) << beyond;
      EXPECT_EQ(edge.minus_special, encode(edge.format, -beyond, Overflow::kSpecial)) << beyond;
    }
  }
}

TEST(FloatFormats, KeepNaNEvenWhenSaturating) {
  for (const Overflow overflow : {Overflow::kSpecial, Overflow::kSaturate}) {
    EXPECT_EQ(0x7fu, encode(kFp8E4m3Fn, kNaN, overflow));
    EXPECT_EQ(0x80u, encode(kFp8E4m3Fnuz, kNaN, overflow));
    EXPECT_EQ(0x7e00u, encode(kFloat16, kNaN, overflow));
    EXPECT_EQ(0x7fc0u, encode(kBfloat16, -kNaN, overflow));
  }
}

TEST(FloatFormats, KeepTheSignOfZeroExceptInFnuz) {
  EXPECT_EQ(0x80u, encode(kFp8E4m3Fn, -0.0, Overflow::kSpecial));
  EXPECT_EQ(0x80u, encode(kFp8E4m3Fn, -1e-300, Overflow::kSpecial));
  EXPECT_EQ(0x8000u, encode(kFloat16, -0.0, Overflow::kSpecial));
  EXPECT_EQ(0x00u, encode(kFp8E4m3Fnuz, -0.0, Overflow::kSpecial));
  EXPECT_EQ(0x00u, encode(kFp8E4m3Fnuz, -1e-300, Overflow::kSpecial));
  EXPECT_EQ(0u, encode(kFloat32, 5e-324, Overflow::kSpecial));
}

TEST(FloatFormats, IgnoreBitsAboveTheWidth) {
  EXPECT_EQ(1.0, decode(kFp8E4m3Fn, 0xabcdef38u));
}

TEST(Ue8m0, ReadsEveryByteAsAPowerOfTwo) {
  double power = 0x1p-127;
  for (int bits = 0; bits < 255; ++bits) {
    EXPECT_EQ(power, decode_ue8m0(static_cast<uint8_t>(bits))) << bits;
    power *= 2;
  }
  EXPECT_EQ(1.0, decode_ue8m0(127));
  EXPECT_TRUE(std::isnan(decode_ue8m0(255)));
}

TEST(Ue8m0, WritesPowersOfTwoAsTheyAreAndRoundsTheRestAsAsked) {
  for (int bits = 0; bits < 255; ++bits) {
    const double power = decode_ue8m0(static_cast<uint8_t>(bits));
    const double above = std::nextafter(power, kInfinity);
    const double below = std::nextafter(power, 0.0);
    EXPECT_EQ(bits, encode_ue8m0(power, ScaleRounding::kUp, Overflow::kSpecial));
    EXPECT_EQ(bits, encode_ue8m0(power, ScaleRounding::kDown, Overflow::kSpecial));
    EXPECT_EQ(bits, encode_ue8m0(above, ScaleRounding::kDown, Overflow::kSpecial));
    EXPECT_EQ(bits, encode_ue8m0(below, ScaleRounding::kUp, Overflow::kSpecial));
    EXPECT_EQ(std::max(bits - 1, 0), encode_ue8m0(below, ScaleRounding::kDown, Overflow::kSpecial));
    EXPECT_EQ(bits + 1, encode_ue8m0(above, ScaleRounding::kUp, Overflow::kSpecial));
  }
}

TEST(Ue8m0, HasNoZeroNoSignAndNoInfinity) {
  for (const ScaleRounding rounding : {ScaleRounding::kDown, ScaleRounding::kUp}) {
    EXPECT_EQ(0, encode_ue8m0(0.0, rounding, Overflow::kSpecial));
    EXPECT_EQ(255, encode_ue8m0(-1.0, rounding, Overflow::kSaturate));
    EXPECT_EQ(255, encode_ue8m0(kNaN, rounding, Overflow::kSaturate));
    EXPECT_EQ(255, encode_ue8m0(kInfinity, rounding, Overflow::kSpecial));
    EXPECT_EQ(254, encode_ue8m0(kInfinity, rounding, Overflow::kSaturate));
    EXPECT_EQ(254, encode_ue8m0(0x1p128, rounding, Overflow::kSaturate));
  }
  EXPECT_EQ(254, encode_ue8m0(0x1.8p127, ScaleRounding::kDown, Overflow::kSpecial));
  EXPECT_EQ(255, encode_ue8m0(0x1.8p127, ScaleRounding::kUp, Overflow::kSpecial));
}

}  // namespace
}  // namespace exactk::oracle
