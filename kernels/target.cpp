#include "kernels/target.h"

#include "kernels/mutants/topk_mutants.h"
#include "kernels/topk/topk_kernels.h"

namespace exactk::kernels {
namespace {

constexpr const exactk_kernel* kShipped[] = {
    &topk::kTopkBlock, &topk::kTopkSplitMerge, &topk::kTopkK512,
    &topk::kTopkK1024, &topk::kTopkAuto,
};

const TargetKernels& kernels_of(std::string_view kind) {
  static const TargetKernels kernels{kind, kShipped, planted::topk_mutants(), fill_functions()};
  return kernels;
}

}  // namespace

#if defined(EXACTK_TARGET_HOST)
const TargetKernels& host_kernels() {
  return kernels_of("host");
}
#elif defined(EXACTK_TARGET_HIP)
const TargetKernels& hip_kernels() {
  return kernels_of("hip");
}
#elif defined(EXACTK_TARGET_CUDA)
const TargetKernels& cuda_kernels() {
  return kernels_of("cuda");
}
#endif

}  // namespace exactk::kernels
