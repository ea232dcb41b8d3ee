// Bands: the closed interval of values that a rounded computation may answer, whatever the order of
// its operations. The width is derived next to the operation that it belongs to; here are the
// pieces. Model: fl(a op b) = (a op b)(1 + e), |e| <= unit; a term that passes through n such
// roundings carries a factor within exp(+-gamma), gamma = n unit / (1 - n unit) (Higham, Accuracy
// and Stability of Numerical Algorithms, lemma 3.1).
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "oracle/float_formats.h"

namespace exactk::oracle {

enum class BandKind : uint8_t {
  kInterval,   // low <= got <= high; a NaN is outside, -0 equals +0
  kNotFinite,  // a NaN or an infinity: a NaN of the input must not be swallowed
  kAny,        // the contract leaves it open
};

struct Band {
  double low = 0;
  double high = 0;
  BandKind kind = BandKind::kInterval;

  static Band exactly(double value) { return {.low = value, .high = value}; }
  static Band not_finite() { return {.kind = BandKind::kNotFinite}; }
  static Band any() { return {.kind = BandKind::kAny}; }
  bool holds(double got) const;
  bool is_one_value() const { return kind == BandKind::kInterval && low == high; }
};

// The unit of round to nearest: 2^-bits of the significand, the hidden one among them.
double unit_of(const FloatFormat& format);

// The answers in `format` of a computation that ends in `band` and is then rounded to nearest, ties
// to even. Rounding is monotone, so the ends are rounded: a band that is narrow around a
// representable value becomes that one value. Results below the smallest normal may be flushed to
// zero; an end beyond the largest becomes infinite.
Band rounded(const Band& band, const FloatFormat& format);

// gamma of `roundings` >= 0; infinite where n unit >= 1.
double gamma(int64_t roundings, double unit);

// Whether every order of adding the terms is exact in an arithmetic of this unit: all are multiples
// of one power of two, at least 2^-126, and their magnitudes sum to at most 1 / unit of it. False
// for terms that are not finite. Sums of products whose factors are float are covered: their
// product is exact in double.
bool sums_exactly(std::span<const double> terms, double unit);

}  // namespace exactk::oracle
