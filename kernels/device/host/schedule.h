// The order in which the host device runs what may run in any order: a pure function of the
// schedule seed.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace exactk::host_device {

// SplitMix64 (Steele, Lea, Flood 2014): one addition and a mix per number.
class ScheduleRandom {
 public:
  explicit ScheduleRandom(uint64_t seed = 0) : state_(seed) {}
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(next()) * bound >> 64);
  }
  static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

 private:
  uint64_t state_;
};

// A set bit of a nonzero mask, each with the same probability: a few tries hit in a dense mask, and
// a sparse one has few bits to walk over.
inline int random_bit(uint64_t mask, uint64_t random) {
  const auto top = static_cast<unsigned>(63 - std::countl_zero(mask));
  const unsigned range = ~0u >> std::countl_zero(top | 1u);
  for (int tries = 0; tries < 6; ++tries) {
    const unsigned at = static_cast<unsigned>(random >> (6 * tries)) & range;
    if (mask >> at & 1) return static_cast<int>(at);
  }
  for (uint64_t skip = (random >> 40) % static_cast<unsigned>(std::popcount(mask)); skip > 0;
       --skip) {
    mask &= mask - 1;
  }
  return std::countr_zero(mask);
}

// 0 .. count-1 in the order of the seed: a shuffle for grids of usual size, a walk with a fixed
// step for huge ones.
class ScheduleOrder {
 public:
  ScheduleOrder(uint64_t count, uint64_t seed);
  uint64_t at(uint64_t position) const;

 private:
  uint64_t count_;
  uint64_t start_ = 0;
  uint64_t step_ = 1;
  std::vector<uint32_t> shuffled_;
};

}  // namespace exactk::host_device
