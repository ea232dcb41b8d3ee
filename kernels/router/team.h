// The threads that work on one token: a wave or a block. Each thread has a rank in [0, size());
// every one of them calls sync(), max_of() and sum_of(), and gets the same bits from them.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

namespace exactk::kernels::router {

__device__ inline float larger(float a, float b) {
  return a > b ? a : b;
}

// `lanes` is the width of a wave, a power of two.
struct Wave {
  int lanes;

  __device__ int rank() const { return static_cast<int>(threadIdx.x) % warpSize; }
  __device__ int size() const { return warpSize; }
  __device__ void sync() const { __syncwarp(); }

  template <class T, class Combine>
  __device__ T over_all(T value, const Combine& combine) const {
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      value = combine(value, __shfl(value, rank() ^ offset));
    }
    return value;
  }
  __device__ float max_of(float value) const { return over_all(value, larger); }
  __device__ float sum_of(float value) const {
    return over_all(value, [](float a, float b) { return a + b; });
  }
  __device__ uint64_t max_of(unsigned long long value) const {
    return over_all(value,
                    [](unsigned long long a, unsigned long long b) { return a > b ? a : b; });
  }
};

// `waves` is shared memory of a word per wave; it holds nothing before and after a call.
struct Block {
  float* waves;

  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ void sync() const { __syncthreads(); }

  template <class Combine>
  __device__ float over_all(float value, const Combine& combine) const {
    value = Wave{warpSize}.over_all(value, combine);
    if (rank() % warpSize == 0) {
      waves[rank() / warpSize] = value;
    }
    __syncthreads();  // the values of all waves are there before anybody reads them
    value = waves[0];
    for (int wave = 1; wave < size() / warpSize; ++wave) {
      value = combine(value, waves[wave]);
    }
    __syncthreads();  // all have read before the next call writes
    return value;
  }
  __device__ float max_of(float value) const { return over_all(value, larger); }
  __device__ float sum_of(float value) const {
    return over_all(value, [](float a, float b) { return a + b; });
  }
};

}  // namespace exactk::kernels::router
