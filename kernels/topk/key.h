// Keys of logits, in integers only: the 32-bit order key and the 11-bit coarse bin of the first
// search step.
//
// The coarse bin is the upper 11 bits of the logit rounded to fp16 (nearest, ties to even), as in
// the published threshold search (vLLM sampler.cu), but for bins that fp16 has and numbers do not
// need: an infinity has one to itself, beyond the finite logits that fp16 rounds to it, so that
// masked columns are told apart in the first step; and NaNs of either sign have the outermost ones.
// So the bin is monotone in the order key for every bit pattern, and every bin is one closed
// interval of keys.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

namespace exactk::kernels::topk {

inline constexpr int kBins = 2048;
inline constexpr uint32_t kMinusInfKey = 0x007fffffu;
inline constexpr uint32_t kMinusInfBin = 30;

// Larger key, better logit: +NaN > +inf > ... > +0 > -0 > ... > -inf > -NaN.
__host__ __device__ inline uint32_t order_key(uint32_t bits) {
  return bits ^ (0x80000000u | (0u - (bits >> 31)));
}

// A closed interval of keys.
struct KeyRange {
  uint32_t lo;
  uint32_t hi;
};

namespace detail {

inline constexpr uint32_t kInfBits = 0x7f800000u;
inline constexpr uint32_t kFp16MinNormalBits = 0x38800000u;  // 2^-14
inline constexpr uint32_t kFp16InfBin = 992;  // 0x7c00 >> 5: finite, but infinite in fp16
inline constexpr uint32_t kInfBin = 993;
inline constexpr uint32_t kNanBin = 1023;

// Bin of a magnitude (sign bit clear), 0 .. 1023. A bin starts at an fp16 value with an even
// mantissa, so a tie just below it rounds up into it: adding half a step and truncating is rounding
// to even here.
__host__ __device__ inline uint32_t magnitude_bin(uint32_t magnitude) {
  if (magnitude < kFp16MinNormalBits) {
    // Subnormal in fp16, steps of 2^-24. Shifts of 26 and more give 0 for every mantissa.
    const uint32_t exponent = magnitude >> 23;
    const uint32_t shift = 126u - exponent < 26u ? 126u - exponent : 26u;
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    return (mantissa + (1u << (shift - 1))) >> (shift + 5);
  }
  if (magnitude >= kInfBits) {
    return magnitude == kInfBits ? kInfBin : kNanBin;
  }
  const uint32_t bin = ((magnitude + 0x1000u) >> 18) - (112u << 5);
  return bin < kFp16InfBin ? bin : kFp16InfBin;
}

// The smallest magnitude whose bin is `bin` or above, 0 <= bin <= 1024.
__host__ __device__ inline uint32_t magnitude_floor(uint32_t bin) {
  if (bin == 0) {
    return 0;
  }
  if (bin <= 32) {
    // (64 * bin - 1) * 2^-25, half an fp16 step below the bin's first fp16 value.
    const uint32_t value = 64u * bin - 1u;
    uint32_t top = 5;
    while ((value >> (top + 1)) != 0) {
      ++top;
    }
    return ((top + 127u - 25u) << 23) | ((value << (23u - top)) & 0x7fffffu);
  }
  if (bin <= kFp16InfBin) {
    return ((bin + (112u << 5)) << 18) - 0x1000u;
  }
  if (bin == kInfBin) {
    return kInfBits;
  }
  return bin <= kNanBin ? kInfBits + 1u : 0x80000000u;
}

}  // namespace detail

// 0 .. 2047, monotone in the key. The bins between the infinities and the NaNs have no keys.
__host__ __device__ inline uint32_t coarse_bin(uint32_t key) {
  const bool positive = (key & 0x80000000u) != 0;
  const uint32_t bin = detail::magnitude_bin(positive ? key & 0x7fffffffu : 0x7fffffffu - key);
  return positive ? 1024u + bin : 1023u - bin;
}

// The keys of a bin that some key has.
__host__ __device__ inline KeyRange coarse_range(uint32_t bin) {
  const bool positive = bin >= 1024u;
  const uint32_t magnitude = positive ? bin - 1024u : 1023u - bin;
  const uint32_t least = detail::magnitude_floor(magnitude);
  const uint32_t most = detail::magnitude_floor(magnitude + 1u) - 1u;
  return positive ? KeyRange{0x80000000u | least, 0x80000000u | most}
                  : KeyRange{0x7fffffffu - most, 0x7fffffffu - least};
}

}  // namespace exactk::kernels::topk
