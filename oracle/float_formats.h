// The number formats of the numeric kernels, by their parameters: every pattern to its exact value
// as a double, and a double to the nearest pattern, ties to the even one.
//
// Sources: IEEE 754 (float32, float16), bfloat16 as the upper half of float32, OCP 8-bit Floating
// Point Specification 1.0 (E4M3, here "fn"), its FNUZ flavour as AMD's gfx940 has it, and OCP
// Microscaling Formats 1.0 (E8M0 scales). The same byte means half as much in FNUZ as in fn, and
// 0x80 is -0 in fn and the NaN in FNUZ.
#pragma once

#include <cstdint>
#include <string_view>

namespace exactk::oracle {

// What the patterns outside the plain numbers mean.
enum class Specials : int32_t {
  kIeee,  // the largest exponent holds +-infinity and the NaNs
  kFn,    // no infinity; exponent and mantissa all ones is NaN, with either sign
  kFnuz,  // no infinity and no -0; the pattern of -0 is the only NaN
};

// A sign bit, then the exponent, then the mantissa. Exponent 0 is zero and the subnormals.
struct FloatFormat {
  std::string_view name;
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bias = 0;
  Specials specials{};

  constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
  friend constexpr bool operator==(const FloatFormat&, const FloatFormat&) = default;
};

inline constexpr FloatFormat kFloat32{"float32", 8, 23, 127, Specials::kIeee};
inline constexpr FloatFormat kFloat16{"float16", 5, 10, 15, Specials::kIeee};
inline constexpr FloatFormat kBfloat16{"bfloat16", 8, 7, 127, Specials::kIeee};
inline constexpr FloatFormat kFp8E4m3Fn{"fp8_e4m3fn", 4, 3, 7, Specials::kFn};
inline constexpr FloatFormat kFp8E4m3Fnuz{"fp8_e4m3fnuz", 4, 3, 8, Specials::kFnuz};

// What becomes of a value that rounds beyond the largest finite one, and of an infinity.
enum class Overflow : int32_t {
  kSpecial,   // infinity of the same sign; NaN where the format has no infinity
  kSaturate,  // the largest finite value of the same sign
};

// The value of a pattern, exact; -0 keeps its sign, every NaN is a quiet NaN. Bits above the
// format's width are ignored.
double decode(const FloatFormat& format, uint32_t bits);

// The pattern nearest to the value as if the exponent had no upper limit, ties to the even
// mantissa; subnormals are kept. What then lies beyond the largest finite value is as `overflow`
// says: 464 is the last value that fn rounds to 448, and 248 the first that is beyond FNUZ's 240.
// NaN becomes one pattern: positive and quiet, all ones (fn), 0x80 (FNUZ). FNUZ has +0 for -0 and
// for negative values that round to zero.
uint32_t encode(const FloatFormat& format, double value, Overflow overflow);

double largest_finite(const FloatFormat& format);

// UE8M0: a byte b is the scale 2^(b - 127), 0xff is NaN. There is no sign and no zero.
double decode_ue8m0(uint8_t bits);

enum class ScaleRounding : int32_t { kDown, kUp };  // to the power of two at or below, at or above

// The scale of a positive value. Below 2^-127, zero included, it is 2^-127; above 2^127 after
// rounding it is 2^127 or NaN, as `overflow` says. NaN and negative values are NaN.
uint8_t encode_ue8m0(double value, ScaleRounding rounding, Overflow overflow);

}  // namespace exactk::oracle
