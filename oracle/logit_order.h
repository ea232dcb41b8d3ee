// The total order of logits by their bits: larger is better.
//
// +NaN (by payload) > +inf > ... > +denormal > +0 > -0 > -denormal > ... > -inf > -NaN. No value is
// flushed and no two different bit patterns tie. It is the order of integer radix keys in public
// top-k kernels (vLLM, AITER).
#pragma once

#include <bit>
#include <cstdint>

namespace exactk::oracle {

// Unsigned key: a logit with the larger key is the better one.
constexpr uint32_t order_key(uint32_t bits) {
  return (bits & 0x80000000u) != 0 ? ~bits : (bits | 0x80000000u);
}

// The same order as a signed key; cheaper to compare in vectors.
constexpr int32_t signed_order_key(uint32_t bits) {
  return std::bit_cast<int32_t>(order_key(bits) ^ 0x80000000u);
}

// The inverse of order_key.
constexpr uint32_t bits_of_order_key(uint32_t key) {
  return (key & 0x80000000u) != 0 ? (key & 0x7fffffffu) : ~key;
}

}  // namespace exactk::oracle
