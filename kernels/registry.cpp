#include "kernels/registry.h"

#include "kernels/mutants/topk_mutants.h"
#include "kernels/topk/topk_kernels.h"

namespace exactk::kernels {

std::span<const exactk_kernel* const> shipped_kernels() {
  static constexpr const exactk_kernel* kKernels[] = {
      &topk::kTopkBlock, &topk::kTopkSplitMerge, &topk::kTopkK512,
      &topk::kTopkK1024, &topk::kTopkAuto,
  };
  return kKernels;
}

std::span<const Mutant> mutants() {
  return planted::topk_mutants();
}

}  // namespace exactk::kernels
