// Logits of the kernel tests, as functions of row and column. Bits, never floats: what is compared
// are bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>

namespace exactk::kernels::test {

using Bits = std::function<uint32_t(int64_t row, int64_t column)>;

inline constexpr uint32_t kMinusInf = 0xff800000u;
inline constexpr uint32_t kLowest = 0xff7fffffu;  // -FLT_MAX
inline constexpr uint32_t kOne = 0x3f800000u;

inline uint64_t hash(uint64_t seed, int64_t row, int64_t column) {
  uint64_t h = seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(row) * 0xd1b54a32d192ed03u +
               static_cast<uint64_t>(column);
  for (int round = 0; round < 3; ++round) {
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
  }
  return h ^ (h >> 32);
}

// Every bit pattern, NaNs and infinities included.
inline Bits any_bits(uint64_t seed) {
  return
      [=](int64_t row, int64_t column) { return static_cast<uint32_t>(hash(seed, row, column)); };
}

// About -1 .. 1.
inline Bits ordinary(uint64_t seed) {
  return [=](int64_t row, int64_t column) {
    const uint64_t h = hash(seed, row, column);
    const float value = static_cast<float>(static_cast<int32_t>(h >> 32)) * 0x1p-31f;
    return std::bit_cast<uint32_t>(value);
  };
}

inline Bits all_equal(uint32_t bits) {
  return [=](int64_t, int64_t) { return bits; };
}

// One of a few values, each equally likely.
template <size_t N>
Bits one_of(uint64_t seed, const uint32_t (&values)[N]) {
  std::array<uint32_t, N> copy;
  std::copy(values, values + N, copy.begin());
  return [=](int64_t row, int64_t column) { return copy[hash(seed, row, column) % N]; };
}

// The upper bits of `base`, the low `bits` bits at random.
inline Bits low_bits(uint64_t seed, uint32_t base, int bits) {
  return [=](int64_t row, int64_t column) {
    const uint32_t mask = (1u << bits) - 1u;
    return (base & ~mask) | (static_cast<uint32_t>(hash(seed, row, column)) & mask);
  };
}

// `permille` of the columns are -inf, the others as `rest`.
inline Bits masked(uint64_t seed, int permille, Bits rest) {
  return [=](int64_t row, int64_t column) {
    const bool hidden = hash(seed + 1, row, column) % 1000 < static_cast<uint64_t>(permille);
    return hidden ? kMinusInf : rest(row, column);
  };
}

// Spread by a fixed permutation of the columns of a row of `width`: the first `better` are above 2,
// the next `members` share the coarse bin of 1.0, the others are below. 7919 must not divide the
// width.
inline Bits coarse_population(int64_t width, int64_t better, int64_t members) {
  return [=](int64_t row, int64_t column) {
    const int64_t place = (column * 7919 + row * 31) % width;
    if (place < better) {
      return 0x40000000u + static_cast<uint32_t>(place);
    }
    if (place < better + members) {
      return kOne + static_cast<uint32_t>(place * 2654435761 % 0x3e000);
    }
    return 0x3f000000u - static_cast<uint32_t>(place);
  };
}

}  // namespace exactk::kernels::test
