#include "tests/kernels/device/test_kernels.h"

namespace exactk::kernels::test {
namespace {

__global__ void store_kernel(int* to, int value) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add_from_kernel(int* to, const int* from, int plus) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  to[t] = from[t] + plus;
}

__global__ void atomics_global_kernel(int* out, unsigned* uout, uint64_t* wide, float* fout) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&out[0], 1);
  atomicSub(&out[1], 2);
  atomicMax(&out[2], t);
  atomicMin(&out[3], -t);
  atomicExch(&out[4], 77);
  atomicCAS(&out[5], t, t + 1);
  atomicAdd(&uout[0], 3u);
  atomicAnd(&uout[1], ~(1u << (t % 32)));
  atomicOr(&uout[2], 1u << (t % 16));
  atomicXor(&uout[3], 1u << (t % 32));
  atomicMax(&uout[4], 0x80000000u + static_cast<unsigned>(t));
  atomicMin(&uout[5], 0x80000000u + static_cast<unsigned>(t));
  atomicAdd(reinterpret_cast<unsigned long long*>(&wide[0]), 0x100000001ull);
  atomicMax(reinterpret_cast<unsigned long long*>(&wide[1]),
            (1ull << 40) + static_cast<unsigned>(t));
  atomicAdd(&fout[0], 0.5f);
}

__global__ void atomics_shared_kernel(int* out) {
  __shared__ int counters[4];
  const int t = static_cast<int>(threadIdx.x);
  if (t < 4) counters[t] = 0;
  __syncthreads();
  atomicAdd(&counters[0], 1);
  atomicMax(&counters[1], t);
  atomicSub(&counters[2], 1);
  atomicOr(&counters[3], 1 << (t % 10));
  __syncthreads();
  if (t < 4) out[4 * blockIdx.x + t] = counters[t];
}

__global__ void wrapping_kernel(unsigned limit, unsigned* inc_dec) {
  atomicInc(&inc_dec[0], limit);
  atomicDec(&inc_dec[1], limit);
}

// The block that draws the last ticket adds up what the others wrote: right only with fences and a
// real atomic.
__global__ void last_block_sum_kernel(int* partial, unsigned* tickets, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  int total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) total += partial[i];
  *sum = total;
}

__global__ void write_byte_kernel(unsigned char* at, unsigned char value) {
  *at = value;
}

}  // namespace

void store(Shape shape, int* to, int value) {
  hipLaunchKernelGGL(store_kernel, shape.grid, shape.block, 0, shape.stream, to, value);
}
void add_from(Shape shape, int* to, const int* from, int plus) {
  hipLaunchKernelGGL(add_from_kernel, shape.grid, shape.block, 0, shape.stream, to, from, plus);
}
void atomics_global(Shape shape, int* out, unsigned* uout, uint64_t* wide, float* fout) {
  hipLaunchKernelGGL(atomics_global_kernel, shape.grid, shape.block, 0, shape.stream, out, uout,
                     wide, fout);
}
void atomics_shared(Shape shape, int* out) {
  hipLaunchKernelGGL(atomics_shared_kernel, shape.grid, shape.block, 0, shape.stream, out);
}
void wrapping(Shape shape, unsigned limit, unsigned* inc_dec) {
  hipLaunchKernelGGL(wrapping_kernel, shape.grid, shape.block, 0, shape.stream, limit, inc_dec);
}
void last_block_sum(Shape shape, int* partial, unsigned* tickets, int* sum) {
  hipLaunchKernelGGL(last_block_sum_kernel, shape.grid, shape.block, 0, shape.stream, partial,
                     tickets, sum);
}
void write_byte(Shape shape, unsigned char* at, unsigned char value) {
  hipLaunchKernelGGL(write_byte_kernel, shape.grid, shape.block, 0, shape.stream, at, value);
}

}  // namespace exactk::kernels::test
