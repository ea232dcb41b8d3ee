// The number formats that attention reads and writes, by integer operations, the same on every
// device: bf16, fp8 e4m3 in both flavours, UE8M0.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

namespace exactk::kernels::attention {

inline constexpr float kInfinity = __builtin_inff();

// Reinterprets bits.
__device__ inline float float_of(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}
__device__ inline uint32_t bits_of(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

__device__ inline float bf16_value(uint16_t bits) {
  return float_of(uint32_t{bits} << 16);
}

// To nearest, ties to even; a NaN stays one.
__device__ inline uint16_t bf16_of(float value) {
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  }
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__device__ inline float rounded_to_bf16(float value) {
  return bf16_value(bf16_of(value));
}

// e4m3; both flavours are `mantissa` steps of a power of two, FNUZ's half as large.
__device__ inline float fp8_value(uint8_t byte, bool fnuz) {
  const uint32_t magnitude = byte & 0x7fu;
  if (fnuz ? byte == 0x80u : magnitude == 0x7fu) {
    return float_of(0x7fc00000u);
  }
  const uint32_t exponent = magnitude >> 3;
  const uint32_t steps = (magnitude & 7u) + (exponent == 0 ? 0u : 8u);
  const uint32_t step = (exponent == 0 ? 1u : exponent) + (fnuz ? 127u - 11u : 127u - 10u);
  const float value = static_cast<float>(steps) * float_of(step << 23);
  return byte >= 0x80u ? -value : value;
}

// 2^(byte - 127); the smallest is no normal float, and 0xff is NaN.
__device__ inline float ue8m0_value(uint8_t byte) {
  return float_of(byte == 0xffu ? 0x7fc00000u : byte == 0 ? 0x00400000u : uint32_t{byte} << 23);
}

}  // namespace exactk::kernels::attention
