// As much of HIP as the kernels need, over builtins of clang: device code for targets that the
// installed ROCm is too old for can be compiled with it, and no more than that. Nothing runs: the
// launches on the CPU side only make the compiler emit their kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define hipLaunchKernelGGL(...) launch_nowhere(__VA_ARGS__)

enum hipError_t { hipSuccess = 0 };
struct Stream;
using hipStream_t = Stream*;
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}
};
hipError_t hipGetLastError();
const char* hipGetErrorString(hipError_t);
hipError_t hipMemsetAsync(void*, int, size_t, hipStream_t);
hipError_t hipMalloc(void**, size_t);
hipError_t hipFree(void*);
hipError_t hipStreamSynchronize(hipStream_t);
template <class... Parameters, class... Arguments>
void launch_nowhere(void (*)(Parameters...), dim3, dim3, size_t, hipStream_t, const Arguments&...) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "one argument per kernel parameter");
}

// Each built-in variable is an object whose members are read from the device's registers.
struct ThreadIndex {
  __declspec(property(get = get_x)) unsigned x;
  __device__ unsigned get_x() const { return __builtin_amdgcn_workitem_id_x(); }
};
struct BlockIndex {
  __declspec(property(get = get_x)) unsigned x;
  __declspec(property(get = get_y)) unsigned y;
  __device__ unsigned get_x() const { return __builtin_amdgcn_workgroup_id_x(); }
  __device__ unsigned get_y() const { return __builtin_amdgcn_workgroup_id_y(); }
};
struct BlockSize {
  __declspec(property(get = get_x)) unsigned x;
  __device__ unsigned get_x() const { return __builtin_amdgcn_workgroup_size_x(); }
};
struct GridSize {
  __declspec(property(get = get_x)) unsigned x;
  __device__ unsigned get_x() const {
    return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
  }
};
inline constexpr ThreadIndex threadIdx;
inline constexpr BlockIndex blockIdx;
inline constexpr BlockSize blockDim;
inline constexpr GridSize gridDim;
struct WaveSize {
  __device__ operator int() const { return __builtin_amdgcn_wavefrontsize(); }
};
inline constexpr WaveSize warpSize;

__device__ inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__device__ inline float __uint_as_float(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
__device__ inline uint32_t __float_as_uint(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

__device__ inline float expf(float value) {
  return __builtin_elementwise_exp(value);
}
__device__ inline float logf(float value) {
  return __builtin_elementwise_log(value);
}

__device__ inline uint64_t __ballot(int predicate) {
  return __builtin_amdgcn_ballot_w64(predicate != 0);
}
__device__ inline int __lane_id() {
  return static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)));
}
__device__ inline uint32_t __shfl(uint32_t value, int source) {
  return static_cast<uint32_t>(__builtin_amdgcn_ds_bpermute(source * 4, static_cast<int>(value)));
}
__device__ inline float __shfl(float value, int source) {
  return __uint_as_float(__shfl(__builtin_bit_cast(uint32_t, value), source));
}
__device__ inline unsigned long long __shfl(unsigned long long value, int source) {
  const uint32_t upper = __shfl(static_cast<uint32_t>(value >> 32), source);
  return uint64_t{upper} << 32 | __shfl(static_cast<uint32_t>(value), source);
}
__device__ inline uint32_t __shfl_up(uint32_t value, unsigned delta) {
  const int self = __lane_id();
  const int source = self - static_cast<int>(delta);
  return __shfl(value, source < 0 ? self : source);
}

__device__ inline int __clz(int value) {
  return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value));
}
__device__ inline int __popcll(unsigned long long value) {
  return __builtin_popcountll(value);
}
__device__ inline int __ffsll(unsigned long long value) {
  return __builtin_ffsll(static_cast<long long>(value));
}

template <class T>
__device__ inline T atomicAdd(T* address, T value) {
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
