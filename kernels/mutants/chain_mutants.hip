#include "kernels/device/portable.h"

#include "kernels/mutants/chain_mutants.h"

#include <cstdio>

#include "kernels/chain/chain.h"
#include "kernels/index/index_kernels.h"
#include "kernels/topk/topk_kernels.h"

namespace exactk::kernels::planted {
namespace {

// Moves the last valid entry of a row with room behind it up by one slot. Grid: rows.
__global__ void delay_last_entry(int32_t* indices, int64_t k, int64_t out_stride) {
  if (threadIdx.x != 0) {
    return;
  }
  int32_t* slots = indices + blockIdx.x * out_stride;
  int64_t valid = k;
  while (valid > 0 && slots[valid - 1] < 0) {
    --valid;
  }
  if (valid > 0 && valid < k) {
    slots[valid] = slots[valid - 1];
    slots[valid - 1] = -1;
  }
}

exactk_status launch_late(const void* descriptor, char* text, size_t bytes) {
  const exactk_status status = topk::kTopkAuto.launch(descriptor, text, bytes);
  if (status != EXACTK_OK) {
    return status;
  }
  const auto& d = *static_cast<const exactk_topk_decode*>(descriptor);
  hipLaunchKernelGGL(delay_last_entry, dim3(static_cast<unsigned>(d.rows)), dim3(64), 0,
                     static_cast<hipStream_t>(d.stream), d.indices, d.k, d.out_stride_elems);
  if (const hipError_t error = hipGetLastError(); error != hipSuccess) {
    std::snprintf(text, bytes, "mutant.chain_interior_sentinel: a kernel was not launched: %s",
                  hipGetErrorString(error));
    return EXACTK_ERROR;
  }
  return EXACTK_OK;
}

exactk_status supports_auto(const void* descriptor, char* text, size_t bytes) {
  return topk::kTopkAuto.supports(descriptor, text, bytes);
}

int64_t workspace_of_auto(const void* descriptor) {
  return topk::kTopkAuto.workspace_bytes(descriptor);
}

const exactk_kernel kLateTopk = {sizeof(exactk_kernel),
                                 EXACTK_MODE_SET | EXACTK_MODE_KERNELS_ONLY,
                                 "planted.late_topk",
                                 "topk.decode",
                                 "topk.auto, with the last entry of a short row one slot late.",
                                 &supports_auto,
                                 &workspace_of_auto,
                                 &launch_late,
                                 EXACTK_NAN_ORDERED,
                                 0,
                                 {}};

// F22: the top-k leaves an interior -1, and the last valid entry behind the count that the mapping
// goes by.
struct InteriorSentinel : chain::DecodeChain {
  static constexpr const char* kName = "mutant.chain_interior_sentinel";
  static constexpr const exactk_kernel* kTopk = &kLateTopk;
  static constexpr const exactk_kernel* kMapping = &index::kTranslateRows;
};

// F15: the stages are in the wrong order, so that the mapping reads the indices of before.
struct StaleIndices : chain::DecodeChain {
  static constexpr const char* kName = "mutant.chain_stale_indices";
  static constexpr const exactk_kernel* kTopk = &topk::kTopkAuto;
  static constexpr const exactk_kernel* kMapping = &index::kTranslateRows;
};

exactk_status launch_reversed(const void* descriptor, char* text, size_t bytes) {
  const auto stages = chain::stages_of<StaleIndices>(chain::chain_of(descriptor));
  const exactk_status status = StaleIndices::kMapping->launch(&stages.mapping, text, bytes);
  return status == EXACTK_OK ? StaleIndices::kTopk->launch(&stages.topk, text, bytes) : status;
}

exactk_kernel describe_reversed() {
  exactk_kernel kernel =
      chain::describe<StaleIndices>("chain.decode_auto with the mapping before the top-k.");
  kernel.launch = &launch_reversed;
  return kernel;
}

const exactk_kernel kInteriorSentinel = chain::describe<InteriorSentinel>(
    "chain.decode_auto whose top-k emits the last entry of a short row one slot late.");
const exactk_kernel kStaleIndices = describe_reversed();

const Mutant kMutants[] = {
    {&kInteriorSentinel, "chain.decode_auto", "F22",
     "chain.decode rows=2 width=1024 k=64 lens=const:40"},
    {&kStaleIndices, "chain.decode_auto", "F15",
     "chain.decode rows=2 width=1024 k=64 lens=const:800"},
};

}  // namespace

std::span<const Mutant> chain_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
