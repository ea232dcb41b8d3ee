#include "oracle/float_formats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exactk::oracle {
namespace {

constexpr int kUe8m0Bias = 127;
constexpr uint8_t kUe8m0NaN = 0xff;
constexpr int kUe8m0Largest = 0xfe;

uint32_t low_ones(int bits) {
  return (uint32_t{1} << bits) - 1;
}

uint32_t sign_bit(const FloatFormat& format) {
  return uint32_t{1} << (format.width() - 1);
}

uint32_t largest_exponent(const FloatFormat& format) {
  return low_ones(format.exponent_bits) << format.mantissa_bits;
}

uint32_t nan_bits(const FloatFormat& format) {
  switch (format.specials) {
    case Specials::kIeee:
      return largest_exponent(format) | uint32_t{1} << (format.mantissa_bits - 1);
    case Specials::kFn:
      return low_ones(format.width() - 1);
    case Specials::kFnuz:
      break;
  }
  return sign_bit(format);
}

uint32_t largest_finite_bits(const FloatFormat& format) {
  switch (format.specials) {
    case Specials::kIeee:
      return largest_exponent(format) - 1;
    case Specials::kFn:
      return low_ones(format.width() - 1) - 1;
    case Specials::kFnuz:
      break;
  }
  return low_ones(format.width() - 1);
}

bool is_nan(const FloatFormat& format, uint32_t sign, uint32_t magnitude) {
  switch (format.specials) {
    case Specials::kIeee:
      return magnitude > largest_exponent(format);
    case Specials::kFn:
      return magnitude == nan_bits(format);
    case Specials::kFnuz:
      break;
  }
  return sign != 0 && magnitude == 0;
}

// Ties to even, whatever the rounding mode of the processor is.
int64_t round_to_even(double value) {
  const double below = std::floor(value);
  const double rest = value - below;  // exact
  const auto whole = static_cast<int64_t>(below);
  return whole + (rest > 0.5 || (rest == 0.5 && whole % 2 != 0) ? 1 : 0);
}

// The pattern of a finite value >= 0, with as many exponent bits as it takes. The patterns of one
// sign count through all values in steps, so a carry out of the mantissa lands where it should.
int64_t unlimited_bits(const FloatFormat& format, double magnitude) {
  if (magnitude == 0) {
    return 0;
  }
  const int least = 1 - format.bias;  // the exponent of the subnormals and the first normals
  const int exponent = std::max(std::ilogb(magnitude), least);
  const int64_t steps = round_to_even(std::ldexp(magnitude, format.mantissa_bits - exponent));
  return (int64_t{exponent - least} << format.mantissa_bits) + steps;
}

uint32_t overflowed(const FloatFormat& format, Overflow overflow) {
  if (overflow == Overflow::kSaturate) {
    return largest_finite_bits(format);
  }
  return format.specials == Specials::kIeee ? largest_exponent(format) : nan_bits(format);
}

}  // namespace

double decode(const FloatFormat& format, uint32_t bits) {
  const uint32_t sign = bits & sign_bit(format);
  const uint32_t magnitude = bits & low_ones(format.width() - 1);
  if (is_nan(format, sign, magnitude)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint32_t mantissa = magnitude & low_ones(format.mantissa_bits);
  double value = 0;
  if (magnitude == largest_exponent(format) && format.specials == Specials::kIeee) {
    value = std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  } else {
    const uint32_t significand = mantissa | uint32_t{1} << format.mantissa_bits;
    value = std::ldexp(significand, exponent - format.bias - format.mantissa_bits);
  }
  return sign != 0 ? -value : value;
}

uint32_t encode(const FloatFormat& format, double value, Overflow overflow) {
  if (std::isnan(value)) {
    return nan_bits(format);
  }
  const uint32_t sign = std::signbit(value) ? sign_bit(format) : 0;
  const int64_t bits = std::isinf(value) ? std::numeric_limits<int64_t>::max()
                                         : unlimited_bits(format, std::fabs(value));
  if (bits > largest_finite_bits(format)) {
    return sign | overflowed(format, overflow);
  }
  if (bits == 0 && format.specials == Specials::kFnuz) {
    return 0;
  }
  return sign | static_cast<uint32_t>(bits);
}

double largest_finite(const FloatFormat& format) {
  return decode(format, largest_finite_bits(format));
}

double decode_ue8m0(uint8_t bits) {
  return bits == kUe8m0NaN ? std::numeric_limits<double>::quiet_NaN()
                           : std::ldexp(1.0, bits - kUe8m0Bias);
}

uint8_t encode_ue8m0(double value, ScaleRounding rounding, Overflow overflow) {
  if (std::isnan(value) || value < 0) {
    return kUe8m0NaN;
  }
  if (value <= decode_ue8m0(0)) {
    return 0;
  }
  int64_t bits = kUe8m0Largest + 1;
  if (!std::isinf(value)) {
    const int exponent = std::ilogb(value);
    const bool up = rounding == ScaleRounding::kUp && std::ldexp(1.0, exponent) != value;
    bits = int64_t{exponent} + kUe8m0Bias + (up ? 1 : 0);
  }
  if (bits > kUe8m0Largest) {
    return overflow == Overflow::kSaturate ? kUe8m0Largest : kUe8m0NaN;
  }
  return static_cast<uint8_t>(bits);
}

}  // namespace exactk::oracle
