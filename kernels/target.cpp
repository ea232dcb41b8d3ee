#include "kernels/target.h"

#include <vector>

#include "kernels/attention/attention_kernels.h"
#include "kernels/chain/chain_kernels.h"
#include "kernels/chain/step_kernels.h"
#include "kernels/index/index_kernels.h"
#include "kernels/logits/logits_kernels.h"
#include "kernels/mutants/attention_mutants.h"
#include "kernels/mutants/chain_mutants.h"
#include "kernels/mutants/index_mutants.h"
#include "kernels/mutants/logits_mutants.h"
#include "kernels/mutants/plan_mutants.h"
#include "kernels/mutants/router_mutants.h"
#include "kernels/mutants/step_mutants.h"
#include "kernels/mutants/topk_mutants.h"
#include "kernels/router/router_kernels.h"
#include "kernels/topk/topk_kernels.h"

namespace exactk::kernels {
namespace {

constexpr const exactk_kernel* kShipped[] = {
    &topk::kTopkBlock,          &topk::kTopkSplitMerge,    &topk::kTopkK512,
    &topk::kTopkK1024,          &topk::kTopkAuto,          &topk::kTopkStable,
    &topk::kTopkGated,          &topk::kTopkPrefillBlock,  &topk::kTopkPrefillStable,
    &index::kCombineFused,      &index::kCombineFillFirst, &index::kTranslateRows,
    &index::kSwaRows,           &chain::kChainDecodeAuto,  &chain::kChainDecodeStable,
    &chain::kChainPrefillBlock, &logits::kMqaTiles,        &logits::kMqaPagedTiles,
    &attention::kPrefillTiles,  &attention::kDecodeRows,   &attention::kDecodeSplit,
    &chain::kStepAuto,          &chain::kStepFilled,       &router::kRouterWave,
    &router::kRouterRanks,
};

std::vector<Mutant> all_mutants() {
  std::vector<Mutant> all;
  for (const std::span<const Mutant> some :
       {planted::topk_mutants(), planted::search_mutants(), planted::call_mutants(),
        planted::index_mutants(), planted::chain_mutants(), planted::logits_mutants(),
        planted::router_mutants(), planted::attention_mutants(), planted::step_mutants()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

const TargetKernels& kernels_of(std::string_view kind) {
  static const std::vector<Mutant> mutants = all_mutants();
  static const TargetKernels kernels{kind,
                                     kShipped,
                                     mutants,
                                     fill_functions(),
                                     {metadata::parallel_planner(), planted::planners()}};
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
