// Built-in variables, barriers and wave operations of device code. Source lines come by default
// arguments, so that a report can name the line of a barrier without any change to the kernel.
#pragma once

#include <math.h>

#include <bit>
#include <concepts>
#include <cstring>
#include <type_traits>

#include "kernels/device/host/hip_types.h"

namespace exactk::host_device {

extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread uint3 blockDim;
extern __thread uint3 gridDim;
extern __thread int warpSize;

// Where in the source a thread waits, and for what.
struct Site {
  const char* file;
  const char* what;
  int line;
};

// Votes of one wave operation: bit i belongs to lane i.
struct WaveVotes {
  uint64_t set;           // lanes with a true predicate
  uint64_t participants;  // lanes that took part
};

struct BarrierVotes {
  int set;      // threads with a true predicate
  int threads;  // threads of the block
};

BarrierVotes block_barrier(bool predicate, const Site& site);
WaveVotes wave_vote(bool predicate, const Site& site);
// The value that lane `source` of the own wave passed in; poison if that lane does not take part.
uint64_t wave_exchange(uint64_t value, int source, const Site& site);
int lane_index();
[[noreturn]] void device_trap(const Site& site);

#define EXACTK_SITE int line = __builtin_LINE(), const char *file = __builtin_FILE()

inline void __syncthreads(EXACTK_SITE) {
  block_barrier(false, {file, "__syncthreads", line});
}
inline int __syncthreads_count(int predicate, EXACTK_SITE) {
  return block_barrier(predicate != 0, {file, "__syncthreads_count", line}).set;
}
inline int __syncthreads_and(int predicate, EXACTK_SITE) {
  const BarrierVotes votes = block_barrier(predicate != 0, {file, "__syncthreads_and", line});
  return votes.set == votes.threads;
}
inline int __syncthreads_or(int predicate, EXACTK_SITE) {
  return block_barrier(predicate != 0, {file, "__syncthreads_or", line}).set != 0;
}

inline unsigned long long __ballot(int predicate, EXACTK_SITE) {
  return wave_vote(predicate != 0, {file, "__ballot", line}).set;
}
inline int __any(int predicate, EXACTK_SITE) {
  return wave_vote(predicate != 0, {file, "__any", line}).set != 0;
}
inline int __all(int predicate, EXACTK_SITE) {
  const WaveVotes votes = wave_vote(predicate != 0, {file, "__all", line});
  return votes.set == votes.participants;
}
inline unsigned long long __activemask(EXACTK_SITE) {
  return wave_vote(true, {file, "__activemask", line}).participants;
}
// Separates accesses to shared memory of the lanes of one wave.
inline void __syncwarp(EXACTK_SITE) {
  wave_vote(false, {file, "__syncwarp", line});
}

template <class T>
concept Shuffled =
    std::is_trivially_copyable_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8) && std::is_arithmetic_v<T>;

template <Shuffled T>
inline T wave_shuffle(T value, int source, const Site& site) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = wave_exchange(bits, source, site);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// `width` is a power of two; every lane reads within its segment of that many lanes.
template <Shuffled T>
inline T __shfl(T value, int source, int width = warpSize, EXACTK_SITE) {
  const int segment = lane_index() & ~(width - 1);
  return wave_shuffle(value, segment + (source & (width - 1)), {file, "__shfl", line});
}
// A lane whose source lies before its segment keeps its own value.
template <Shuffled T>
inline T __shfl_up(T value, unsigned delta, int width = warpSize, EXACTK_SITE) {
  const int self = lane_index();
  const int64_t source = static_cast<int64_t>(self) - delta;
  const bool inside = source >= (self & ~(width - 1));
  return wave_shuffle(value, inside ? static_cast<int>(source) : self, {file, "__shfl_up", line});
}
// A lane whose source lies past its segment keeps its own value.
template <Shuffled T>
inline T __shfl_down(T value, unsigned delta, int width = warpSize, EXACTK_SITE) {
  const int self = lane_index();
  const int64_t source = static_cast<int64_t>(self) + delta;
  const bool inside = source < (self & ~(width - 1)) + width;
  return wave_shuffle(value, inside ? static_cast<int>(source) : self, {file, "__shfl_down", line});
}
template <Shuffled T>
inline T __shfl_xor(T value, int lane_mask, int width = warpSize, EXACTK_SITE) {
  const int self = lane_index();
  const int source = self ^ lane_mask;
  const bool inside = source >= 0 && source < (self & ~(width - 1)) + width;
  return wave_shuffle(value, inside ? source : self, {file, "__shfl_xor", line});
}

[[noreturn]] inline void __trap(EXACTK_SITE) {
  device_trap({file, "__trap", line});
}

#undef EXACTK_SITE

}  // namespace exactk::host_device
