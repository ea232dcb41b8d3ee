// Kernels with one fault each. The tests name source lines through the markers in comments.
#include "tests/kernels/device/test_kernels.h"

// UndefinedBehaviorSanitizer would end the process before the host device can report the fault.
#define EXACTK_FAULTY __attribute__((no_sanitize("undefined")))

namespace exactk::kernels::test {
namespace {

__global__ void barrier_of_some_kernel() {
  if (threadIdx.x < 96) {
    __syncthreads();  // line: of some
  }
}

__global__ void barrier_at_two_lines_kernel() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();  // line: even
  } else {
    __syncthreads();  // line: odd
  }
}

__global__ void ballot_beside_barrier_kernel() {
  if (threadIdx.x < 5) {
    __ballot(1);  // line: partial
  }
  __syncthreads();  // line: beside
}

__global__ void ballots_at_two_lines_kernel(uint64_t* out) {
  uint64_t votes;
  if (threadIdx.x % 2 == 0) {
    votes = __ballot(1);  // line: ballot even
  } else {
    votes = __ballot(1);  // line: ballot odd
  }
  if (out) *out = votes;
}

EXACTK_FAULTY __global__ void store_by_one_thread_kernel(int block, int thread, int* to) {
  __shared__ int before[64];
  before[threadIdx.x % 64] = 1;
  __syncthreads();
  if (static_cast<int>(blockIdx.x) == block && static_cast<int>(threadIdx.x) == thread) {
    *static_cast<volatile int*>(to) = before[0];
  }
  __syncthreads();
}

EXACTK_FAULTY __global__ void divide_kernel(int by, int* out) {
  const volatile int one = 1;
  *out = one / by;
}

__device__ __attribute__((noinline)) int recursion(int depth) {
  volatile char frame[256];
  frame[depth % 256] = static_cast<char>(depth);
  if (depth == 0) return frame[0];
  return recursion(depth - 1) + frame[depth % 256];
}
__global__ void recurse_kernel(int depth, int* out) {
  *out = recursion(depth);
}

__global__ void spin_kernel(const int* until) {
  while (__atomic_load_n(until, __ATOMIC_RELAXED) == 0) {
  }
}

__global__ void trap_kernel() {
  if (threadIdx.x == 3) __trap();  // line: trap
}

__global__ void overrun_dynamic_kernel(size_t bytes, size_t past) {
  extern __shared__ char bytes_of_block[];
  if (threadIdx.x == 0 && past > 0) bytes_of_block[bytes + past - 1] = 1;
}

}  // namespace

void barrier_of_some(Shape shape) {
  hipLaunchKernelGGL(barrier_of_some_kernel, shape.grid, shape.block, 0, shape.stream);
}
void barrier_at_two_lines(Shape shape) {
  hipLaunchKernelGGL(barrier_at_two_lines_kernel, shape.grid, shape.block, 0, shape.stream);
}
void ballot_beside_barrier(Shape shape) {
  hipLaunchKernelGGL(ballot_beside_barrier_kernel, shape.grid, shape.block, 0, shape.stream);
}
void ballots_at_two_lines(Shape shape) {
  hipLaunchKernelGGL(ballots_at_two_lines_kernel, shape.grid, shape.block, 0, shape.stream,
                     nullptr);
}
void store_by_one_thread(Shape shape, int block, int thread, int* to) {
  hipLaunchKernelGGL(store_by_one_thread_kernel, shape.grid, shape.block, 0, shape.stream, block,
                     thread, to);
}
void divide(Shape shape, int by, int* out) {
  hipLaunchKernelGGL(divide_kernel, shape.grid, shape.block, 0, shape.stream, by, out);
}
void recurse(Shape shape, int depth, int* out) {
  hipLaunchKernelGGL(recurse_kernel, shape.grid, shape.block, 0, shape.stream, depth, out);
}
void spin(Shape shape, const int* until) {
  hipLaunchKernelGGL(spin_kernel, shape.grid, shape.block, 0, shape.stream, until);
}
void trap(Shape shape) {
  hipLaunchKernelGGL(trap_kernel, shape.grid, shape.block, 0, shape.stream);
}
void overrun_dynamic(Shape shape, size_t dynamic_bytes, size_t past) {
  hipLaunchKernelGGL(overrun_dynamic_kernel, shape.grid, shape.block, dynamic_bytes, shape.stream,
                     dynamic_bytes, past);
}

}  // namespace exactk::kernels::test
