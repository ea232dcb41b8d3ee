#include "oracle/band.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace exactk::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double round_to(double value, const FloatFormat& format) {
  return decode(format, encode(format, value, Overflow::kSpecial));
}

// The exponent of the lowest set bit of a finite value that is not zero.
int lowest_bit(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const auto significand = static_cast<uint64_t>(std::ldexp(fraction, 53));
  return exponent - 53 + std::countr_zero(significand);
}

}  // namespace

bool Band::holds(double got) const {
  switch (kind) {
    case BandKind::kInterval:
      return got >= low && got <= high;
    case BandKind::kNotFinite:
      return !std::isfinite(got);
    case BandKind::kAny:
      return true;
  }
  return false;
}

double unit_of(const FloatFormat& format) {
  return std::ldexp(1.0, -format.mantissa_bits - 1);
}

Band rounded(const Band& band, const FloatFormat& format) {
  if (band.kind != BandKind::kInterval) {
    return band;
  }
  Band result{.low = round_to(band.low, format), .high = round_to(band.high, format)};
  const double tiny = std::ldexp(1.0, 1 - format.bias);
  if (band.high != 0 && std::abs(band.high) < tiny) {
    result.high = band.high > 0 ? tiny : 0;
  }
  if (band.low != 0 && std::abs(band.low) < tiny) {
    result.low = band.low < 0 ? -tiny : 0;
  }
  return result;
}

double gamma(int64_t roundings, double unit) {
  const double growth = static_cast<double>(roundings) * unit;
  return growth < 1 ? growth / (1 - growth) : kInfinity;
}

bool sums_exactly(std::span<const double> terms, double unit) {
  constexpr int kLowestExponent = -126;
  int quantum = std::numeric_limits<int>::max();
  double magnitude = 0;
  for (const double term : terms) {
    if (!std::isfinite(term)) {
      return false;
    }
    if (term != 0) {
      quantum = std::min(quantum, lowest_bit(term));
      magnitude += std::abs(term);
    }
  }
  if (magnitude == 0) {
    return true;
  }
  return quantum >= kLowestExponent && magnitude <= std::ldexp(1.0 / unit, quantum);
}

}  // namespace exactk::oracle
