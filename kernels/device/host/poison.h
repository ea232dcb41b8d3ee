// The bytes that memory holds before anybody wrote to it. As a float they are a negative NaN, as an
// index negative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/device/host/schedule.h"

namespace exactk::host_device {

constexpr uint64_t kMemoryPoison = 0xffc5a3b1ffc5a3b1u;  // fresh allocations
constexpr uint64_t kExchangePoison =
    0xffd7c9e3ffd7c9e3u;  // shuffles from a lane that takes no part

// Shared memory: another pattern for every schedule seed, so that a result which depends on it
// changes with the seed.
inline uint64_t shared_poison(uint64_t seed) {
  if (seed == 0) return 0xffe9b7d5ffe9b7d5u;
  return ScheduleRandom::mix(seed) | 0xffc00000ffc00000u;
}

// Repeats the word from `begin`; a last part of a word is cut off.
inline void fill_poison(std::byte* begin, std::byte* end, uint64_t word) {
  while (end - begin >= 8) {
    std::memcpy(begin, &word, 8);
    begin += 8;
  }
  if (begin < end) std::memcpy(begin, &word, static_cast<size_t>(end - begin));
}

// The first byte of [begin, end) that differs from the word repeated from `origin`, or nullptr.
inline const std::byte* find_damage(const std::byte* begin, const std::byte* end,
                                    const std::byte* origin, uint64_t word) {
  std::byte bytes[8];
  std::memcpy(bytes, &word, 8);
  for (const std::byte* at = begin; at < end; ++at) {
    if (*at != bytes[(at - origin) & 7]) return at;
  }
  return nullptr;
}

}  // namespace exactk::host_device
