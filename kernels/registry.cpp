#include "kernels/registry.h"

#include "kernels/target.h"

namespace exactk::kernels {

const TargetKernels* target_kernels(std::string_view kind) {
#if defined(EXACTK_WITH_HOST)
  if (kind == "host") return &host_kernels();
#endif
#if defined(EXACTK_WITH_HIP)
  if (kind == "hip") return &hip_kernels();
#endif
#if defined(EXACTK_WITH_CUDA)
  if (kind == "cuda") return &cuda_kernels();
#endif
  static_cast<void>(kind);
  return nullptr;
}

}  // namespace exactk::kernels
