// Decode top-k as a HIP kernel, one source for AMD, NVIDIA and the host device: each column counts
// how many are better, which is its slot.
#include <exactk_abi.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "kernels/device/portable.h"

#if defined(EXACTK_TARGET_HOST)
#define EXAMPLE_TARGET "host"
#elif defined(EXACTK_TARGET_HIP)
#define EXAMPLE_TARGET "hip"
#else
#define EXAMPLE_TARGET "cuda"
#endif

namespace {

constexpr unsigned kThreads = 256;

struct Rows {
  const uint32_t* logits;
  const int32_t* seq_lens;
  int32_t* indices;
  int64_t next_n, k;
  int64_t row_stride, column_stride, out_stride;
  bool lens_by_row;
};

__device__ int64_t row_length(const Rows& p, int64_t row) {
  const int64_t length =
      p.lens_by_row ? p.seq_lens[row] : p.seq_lens[row / p.next_n] - p.next_n + row % p.next_n + 1;
  return length > 0 ? length : 0;
}

__device__ uint32_t order_key(uint32_t bits) {
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

// One block per row. Every slot is written by one thread, so no barrier is needed.
__global__ void rank_columns(Rows p) {
  const int64_t row = blockIdx.x;
  const int64_t length = row_length(p, row);
  const uint32_t* logits = p.logits + row * p.row_stride;
  int32_t* slots = p.indices + row * p.out_stride;
  for (int64_t column = threadIdx.x; column < length; column += blockDim.x) {
    const uint32_t key = order_key(logits[column * p.column_stride]);
    int64_t better = 0;
    for (int64_t other = 0; other < length; ++other) {
      const uint32_t other_key = order_key(logits[other * p.column_stride]);
      better += other_key > key || (other_key == key && other < column) ? 1 : 0;
    }
    if (better < p.k) slots[better] = static_cast<int32_t>(column);
  }
  for (int64_t slot = length + threadIdx.x; slot < p.k; slot += blockDim.x) slots[slot] = -1;
}

exactk_status supports(const void*, char*, size_t) {
  return EXACTK_OK;
}

int64_t workspace_bytes(const void*) {
  return 0;
}

exactk_status launch(const void* descriptor, char* message, size_t message_bytes) {
  const auto& d = *static_cast<const exactk_topk_decode*>(descriptor);
  const Rows rows{reinterpret_cast<const uint32_t*>(d.logits),
                  d.seq_lens,
                  d.indices,
                  d.next_n,
                  d.k,
                  d.row_stride_elems,
                  d.column_stride_elems,
                  d.out_stride_elems,
                  d.seq_lens_dim == 2};
  hipLaunchKernelGGL(rank_columns, dim3(static_cast<unsigned>(d.rows)), dim3(kThreads), 0,
                     static_cast<hipStream_t>(d.stream), rows);
  const hipError_t error = hipGetLastError();
  if (error == hipSuccess) return EXACTK_OK;
  std::snprintf(message, message_bytes, "rank_columns: %s", hipGetErrorString(error));
  return EXACTK_ERROR;
}

exactk_kernel describe() {
  exactk_kernel kernel{};
  kernel.struct_size = sizeof(kernel);
  kernel.modes = EXACTK_MODE_ORDERED | EXACTK_MODE_REPEATABLE | EXACTK_MODE_KERNELS_ONLY;
  kernel.name = "example.hip_rank";
  kernel.op = "topk.decode";
  kernel.description = "One thread per column counts the better ones.";
  kernel.supports = supports;
  kernel.workspace_bytes = workspace_bytes;
  kernel.launch = launch;
  kernel.limits.width = 2048;  // the work grows with the square of the length
  return kernel;
}

}  // namespace

extern "C" exactk_status exactk_plugin_v1(const exactk_host* host, exactk_plugin* plugin) {
  static const exactk_kernel kernel = describe();
  static const exactk_kernel* const kernels[] = {&kernel};
  plugin->struct_size = sizeof(*plugin);
  plugin->abi_version = EXACTK_ABI_VERSION;
  plugin->name = "example in HIP";
  plugin->kernels = kernels;
  plugin->kernel_count = 1;
  plugin->message = "it was compiled for " EXAMPLE_TARGET " alone";
  return std::string_view(host->device_kind) == EXAMPLE_TARGET ? EXACTK_OK : EXACTK_DECLINED;
}
