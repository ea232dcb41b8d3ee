// Bytes of e4m3 in both flavours as float32, exactly.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::logits {

// The 7 bits of exponent and mantissa, moved to where float32 has the low bits of its exponent and
// the high ones of its mantissa, are the number divided by a power of two; for subnormals too.
__device__ inline float fp8_value(uint32_t byte, int32_t flavour) {
  const bool fnuz = flavour == EXACTK_FP8_FNUZ;
  const uint32_t magnitude = byte & 0x7f;
  if (fnuz ? byte == 0x80 : magnitude == 0x7f) {
    return __uint_as_float(0x7fc00000u);
  }
  const float divided = __uint_as_float((byte & 0x80) << 24 | magnitude << 20);
  return divided * (fnuz ? 0x1p119f : 0x1p120f);
}

// Four bytes from `bytes` on, the first one lowest; 0 from the `count`-th on. A single load where
// the place allows it.
__device__ inline uint32_t word_at(const uint8_t* bytes, int64_t count) {
  if (count >= 4 && reinterpret_cast<uint64_t>(bytes) % 4 == 0) {
    return *reinterpret_cast<const uint32_t*>(bytes);
  }
  uint32_t word = 0;
  for (int i = 0; i < 4 && i < count; ++i) {
    word |= uint32_t{bytes[i]} << (8 * i);
  }
  return word;
}

}  // namespace exactk::kernels::logits
