// How the logits are cut into blocks of threads.
#pragma once

#include <cstdint>

namespace exactk::kernels::logits {

inline constexpr int kTile = 64;  // columns of a block
inline constexpr int kParts = 4;  // threads per column: each has heads of its own
inline constexpr int kThreads = kTile * kParts;
inline constexpr int kHeadsEach = 8;  // heads of a thread at a time
inline constexpr int kHeadsStaged = kParts * kHeadsEach;
inline constexpr int kDimsStaged = 128;

constexpr int64_t tiles_of(int64_t width) {
  return (width + kTile - 1) / kTile;
}

}  // namespace exactk::kernels::logits
