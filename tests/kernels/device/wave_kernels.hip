#include "tests/kernels/device/test_kernels.h"

namespace exactk::kernels::test {
namespace {

__device__ unsigned grid_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
// Something that differs between lanes and blocks.
__device__ int mark() {
  return static_cast<int>(1000 * (blockIdx.x + 1) + threadIdx.x);
}

__global__ void ballot_kernel(uint64_t* ballots, int* any_all) {
  const unsigned t = grid_thread();
  ballots[t] = __ballot(threadIdx.x % 3 == 0);
  any_all[4 * t + 0] = __any(threadIdx.x == 40);
  any_all[4 * t + 1] = __any(0);
  any_all[4 * t + 2] = __all(threadIdx.x != 40);
  any_all[4 * t + 3] = __all(1);
}

__global__ void shuffle_kernel(int source, int width, int* out) {
  out[grid_thread()] = __shfl(mark(), source, width);
}
__global__ void shuffle_up_kernel(int delta, int width, int* out) {
  out[grid_thread()] = __shfl_up(mark(), static_cast<unsigned>(delta), width);
}
__global__ void shuffle_down_kernel(int delta, int width, int* out) {
  out[grid_thread()] = __shfl_down(mark(), static_cast<unsigned>(delta), width);
}
__global__ void shuffle_xor_kernel(int mask, int width, int* out) {
  out[grid_thread()] = __shfl_xor(mark(), mask, width);
}

__global__ void shuffle_types_kernel(float* floats, uint64_t* wide) {
  const unsigned t = grid_thread();
  const float own = 0.5f * static_cast<float>(threadIdx.x);
  floats[t] = __shfl_xor(own, 1);
  wide[t] = __shfl_xor(0x100000000ull * threadIdx.x + 7, 2);
}

// Two operations in a row, many times: a row of values that is used again too early shows as a
// mismatch.
__global__ void many_ballots_kernel(int rounds, uint64_t* mismatches) {
  uint64_t wrong = 0;
  const unsigned lane = threadIdx.x % warpSize;
  for (int i = 0; i < rounds; ++i) {
    const uint64_t a = __ballot((lane + i) & 1);
    const uint64_t b = __ballot((lane + i + 1) & 1);
    wrong += (a & b) != 0;
    wrong += __popcll(a | b) != warpSize;
    wrong +=
        __shfl(static_cast<int>(lane) * 7 + i, (i * 5) % warpSize) != (i * 5) % warpSize * 7 + i;
  }
  mismatches[grid_thread()] = wrong;
}

__global__ void ballot_after_return_kernel(int first_gone, uint64_t* ballots) {
  if (static_cast<int>(threadIdx.x) >= first_gone) return;
  ballots[grid_thread()] = __ballot(1);
}

__global__ void intrinsics_kernel(unsigned value, uint64_t wide, int* out) {
  out[0] = __popc(value);
  out[1] = __popcll(wide);
  out[2] = __ffs(value);
  out[3] = __ffsll(wide);
  out[4] = __clz(static_cast<int>(value));
  out[5] = __clzll(static_cast<long long>(wide));
  out[6] = static_cast<int>(__brev(value));
  out[7] = static_cast<int>(__float_as_uint(__uint_as_float(value)));
  out[8] = static_cast<int>(__umulhi(value, 0x10000u));
  out[9] = __ffs(0) + __ffsll(0);
  out[10] = __clz(0) + __clzll(0);
}

}  // namespace

void ballot(Shape shape, uint64_t* ballots, int* any_all) {
  hipLaunchKernelGGL(ballot_kernel, shape.grid, shape.block, 0, shape.stream, ballots, any_all);
}
void shuffle(Shape shape, int source, int width, int* out) {
  hipLaunchKernelGGL(shuffle_kernel, shape.grid, shape.block, 0, shape.stream, source, width, out);
}
void shuffle_up(Shape shape, int delta, int width, int* out) {
  hipLaunchKernelGGL(shuffle_up_kernel, shape.grid, shape.block, 0, shape.stream, delta, width,
                     out);
}
void shuffle_down(Shape shape, int delta, int width, int* out) {
  hipLaunchKernelGGL(shuffle_down_kernel, shape.grid, shape.block, 0, shape.stream, delta, width,
                     out);
}
void shuffle_xor(Shape shape, int mask, int width, int* out) {
  hipLaunchKernelGGL(shuffle_xor_kernel, shape.grid, shape.block, 0, shape.stream, mask, width,
                     out);
}
void shuffle_types(Shape shape, float* floats, uint64_t* wide) {
  hipLaunchKernelGGL(shuffle_types_kernel, shape.grid, shape.block, 0, shape.stream, floats, wide);
}
void many_ballots(Shape shape, int rounds, uint64_t* mismatches) {
  hipLaunchKernelGGL(many_ballots_kernel, shape.grid, shape.block, 0, shape.stream, rounds,
                     mismatches);
}
void ballot_after_return(Shape shape, int first_gone, uint64_t* ballots) {
  hipLaunchKernelGGL(ballot_after_return_kernel, shape.grid, shape.block, 0, shape.stream,
                     first_gone, ballots);
}
void intrinsics(Shape shape, unsigned value, uint64_t wide, int* out) {
  hipLaunchKernelGGL(intrinsics_kernel, shape.grid, shape.block, 0, shape.stream, value, wide, out);
}

}  // namespace exactk::kernels::test
