#include "tests/kernels/device/test_kernels.h"

namespace exactk::kernels::test {
namespace {

__device__ unsigned linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ unsigned linear_block() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

__global__ void coordinates_kernel(unsigned* out) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[linear_block() * threads + linear_thread()] = threadIdx.x + 10 * threadIdx.y +
                                                    100 * threadIdx.z + 1000 * blockIdx.x +
                                                    10000 * blockIdx.y + 100000 * blockIdx.z;
}

// Hillis and Steele: log2(threads) rounds with two barriers each.
__global__ void inclusive_scan_kernel(const int* in, int* out) {
  __shared__ int sums[1024];
  const unsigned t = threadIdx.x;
  sums[t] = in[t];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const int add = t >= step ? sums[t - step] : 0;
    __syncthreads();
    sums[t] += add;
    __syncthreads();
  }
  out[t] = sums[t];
}

// Every round passes a value to the next thread: a barrier that lets one thread through too early
// changes the sum.
__global__ void neighbour_rounds_kernel(int rounds, int* out) {
  __shared__ int values[2][1024];
  const unsigned t = threadIdx.x;
  int current = static_cast<int>(t);
  for (int i = 0; i < rounds; ++i) {
    values[i & 1][t] = current;
    __syncthreads();
    current = values[i & 1][(t + 1) % blockDim.x] + 1;
  }
  out[blockIdx.x * blockDim.x + t] = current;
}

__global__ void barrier_votes_kernel(int threshold, int* count_and_or) {
  const int below = static_cast<int>(threadIdx.x) < threshold;
  const int count = __syncthreads_count(below);
  const int all = __syncthreads_and(below);
  const int some = __syncthreads_or(below);
  int* own = count_and_or + 3 * threadIdx.x;
  own[0] = count;
  own[1] = all;
  own[2] = some;
}

__global__ void static_and_dynamic_kernel(int* out) {
  __shared__ int fixed[256];
  extern __shared__ int flexible[];
  const unsigned t = threadIdx.x;
  fixed[t] = static_cast<int>(t);
  flexible[t] = static_cast<int>(10 * t);
  __syncthreads();
  const unsigned other = blockDim.x - 1 - t;
  out[blockIdx.x * blockDim.x + t] = fixed[other] + flexible[other];
}

// Reads both kinds of shared memory before anybody wrote to them, then fills them for the next
// block to find.
__global__ void read_fresh_shared_kernel(uint32_t* out) {
  __shared__ uint32_t fixed[64];
  extern __shared__ unsigned char raw[];
  uint32_t* flexible = reinterpret_cast<uint32_t*>(raw);
  const unsigned t = threadIdx.x;
  uint32_t* own = out + 2 * (blockIdx.x * blockDim.x + t);
  own[0] = fixed[t];
  own[1] = flexible[t];
  fixed[t] = 0;
  flexible[t] = 0;
}

__global__ void arrival_order_kernel(unsigned* next, int* order) {
  order[atomicAdd(next, 1)] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void arrival_order_after_barrier_kernel(unsigned* next, int* order) {
  order[atomicAdd(next, 1)] = static_cast<int>(threadIdx.x);
  __syncthreads();
  order[atomicAdd(next, 1)] = static_cast<int>(threadIdx.x);
}

__global__ void many_barriers_kernel(int rounds) {
  for (int i = 0; i < rounds; ++i) __syncthreads();
}

}  // namespace

void coordinates(Shape shape, unsigned* out) {
  hipLaunchKernelGGL(coordinates_kernel, shape.grid, shape.block, 0, shape.stream, out);
}
void inclusive_scan(Shape shape, const int* in, int* out) {
  hipLaunchKernelGGL(inclusive_scan_kernel, shape.grid, shape.block, 0, shape.stream, in, out);
}
void neighbour_rounds(Shape shape, int rounds, int* out) {
  hipLaunchKernelGGL(neighbour_rounds_kernel, shape.grid, shape.block, 0, shape.stream, rounds,
                     out);
}
void barrier_votes(Shape shape, int threshold, int* count_and_or) {
  hipLaunchKernelGGL(barrier_votes_kernel, shape.grid, shape.block, 0, shape.stream, threshold,
                     count_and_or);
}
void static_and_dynamic(Shape shape, size_t dynamic_bytes, int* out) {
  hipLaunchKernelGGL(static_and_dynamic_kernel, shape.grid, shape.block, dynamic_bytes,
                     shape.stream, out);
}
void read_fresh_shared(Shape shape, uint32_t* out) {
  hipLaunchKernelGGL(read_fresh_shared_kernel, shape.grid, shape.block, 4 * shape.block.x,
                     shape.stream, out);
}
void arrival_order(Shape shape, unsigned* next, int* order) {
  hipLaunchKernelGGL(arrival_order_kernel, shape.grid, shape.block, 0, shape.stream, next, order);
}
void arrival_order_after_barrier(Shape shape, unsigned* next, int* order) {
  hipLaunchKernelGGL(arrival_order_after_barrier_kernel, shape.grid, shape.block, 0, shape.stream,
                     next, order);
}
void many_barriers(Shape shape, int rounds) {
  hipLaunchKernelGGL(many_barriers_kernel, shape.grid, shape.block, 0, shape.stream, rounds);
}
hipError_t allow_dynamic(int bytes) {
  return hipFuncSetAttribute(static_and_dynamic_kernel, hipFuncAttributeMaxDynamicSharedMemorySize,
                             bytes);
}

}  // namespace exactk::kernels::test
