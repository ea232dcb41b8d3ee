#include "kernels/device/portable.h"

#include "kernels/mutants/step_mutants.h"

#include <cstdio>
#include <string_view>

#include "kernels/chain/auto_stages.h"
#include "kernels/mutants/attention_mutants.h"
#include "kernels/mutants/logits_mutants.h"
#include "kernels/mutants/topk_mutants.h"

namespace exactk::kernels::planted {
namespace {

using chain::AutoStages;
using chain::StageKernels;
using chain::StepStages;

const exactk_kernel* planted(std::span<const Mutant> mutants, std::string_view name) {
  for (const Mutant& mutant : mutants) {
    if (mutant.kernel->name == name) return mutant.kernel;
  }
  return nullptr;
}

// Grid: rows. Every draft of a request gets the indices of its first one.
__global__ void share_selection(int32_t* indices, int64_t k, int64_t out_stride, int64_t next_n) {
  const int64_t row = blockIdx.x;
  const int64_t first = row / next_n * next_n;
  for (int64_t i = threadIdx.x; i < k; i += blockDim.x) {
    indices[row * out_stride + i] = indices[first * out_stride + i];
  }
}

// F08: a selection is made once for a request, not for each of its drafts.
struct SharedSelection : AutoStages {
  static constexpr const char* kName = "mutant.step_shared_selection";
  static exactk_status launch(const StepStages& s, Message message) {
    const auto [text, bytes] = message;
    exactk_status status = kKernels.logits->launch(&s.logits, text, bytes);
    if (status == EXACTK_OK) status = kKernels.topk->launch(&s.topk, text, bytes);
    if (status != EXACTK_OK) return status;
    const exactk_topk_decode& topk = s.topk;
    hipLaunchKernelGGL(share_selection, dim3(static_cast<unsigned>(topk.rows)), dim3(256), 0,
                       static_cast<hipStream_t>(topk.stream), topk.indices, topk.k,
                       topk.out_stride_elems, topk.next_n);
    if (const hipError_t error = hipGetLastError(); error != hipSuccess) {
      std::snprintf(text, bytes, "%s: a kernel was not launched: %s", kName,
                    hipGetErrorString(error));
      return EXACTK_ERROR;
    }
    status = kKernels.translate->launch(&s.translate, text, bytes);
    return status == EXACTK_OK ? kKernels.attention->launch(&s.attention, text, bytes) : status;
  }
};

// F15: the top-k before the logits, so that it reads those of before.
struct StaleLogits : AutoStages {
  static constexpr const char* kName = "mutant.step_stale_logits";
  static exactk_status launch(const StepStages& s, Message message) {
    const auto [text, bytes] = message;
    exactk_status status = kKernels.topk->launch(&s.topk, text, bytes);
    if (status == EXACTK_OK) status = kKernels.logits->launch(&s.logits, text, bytes);
    if (status == EXACTK_OK) status = kKernels.translate->launch(&s.translate, text, bytes);
    return status == EXACTK_OK ? kKernels.attention->launch(&s.attention, text, bytes) : status;
  }
};

// F15: the attention before the translation, so that it reads the slots of before.
struct StaleSlots : AutoStages {
  static constexpr const char* kName = "mutant.step_stale_slots";
  static exactk_status launch(const StepStages& s, Message message) {
    const auto [text, bytes] = message;
    exactk_status status = kKernels.logits->launch(&s.logits, text, bytes);
    if (status == EXACTK_OK) status = kKernels.topk->launch(&s.topk, text, bytes);
    if (status == EXACTK_OK) status = kKernels.attention->launch(&s.attention, text, bytes);
    return status == EXACTK_OK ? kKernels.translate->launch(&s.translate, text, bytes) : status;
  }
};

// F22: the slots are those of the indexer's cache.
struct IndexerTable : AutoStages {
  static constexpr const char* kName = "mutant.step_indexer_table";
  static exactk_status launch(const StepStages& given, Message message) {
    StepStages s = given;
    s.translate.block_table = s.logits.block_table;
    s.translate.table_blocks = s.logits.table_blocks;
    s.translate.table_stride_elems = s.logits.table_stride_elems;
    return AutoStages::launch(s, message);
  }
};

// F16: the indices are set to -1 by a memset, though a step of kernels alone is promised.
struct MemsetNode : AutoStages {
  static constexpr const char* kName = "mutant.step_memset_node";
  static exactk_status launch(const StepStages& s, Message message) {
    const exactk_topk_decode& topk = s.topk;
    const auto elems = static_cast<size_t>((topk.rows - 1) * topk.out_stride_elems + topk.k);
    const hipError_t error = hipMemsetAsync(topk.indices, 0xff, elems * sizeof(int32_t),
                                            static_cast<hipStream_t>(topk.stream));
    if (error != hipSuccess) {
      std::snprintf(message.text, message.bytes, "%s: the memset failed: %s", kName,
                    hipGetErrorString(error));
      return EXACTK_ERROR;
    }
    return AutoStages::launch(s, message);
  }
};

// F08: every draft trusts what the last one of its request sees, which the indexer computed as
// well: a future column is a number, not a masked one.
struct FutureTrusted : AutoStages {
  static constexpr const char* kName = "mutant.step_future_trusted";
  static exactk_status launch(const StepStages& s, Message message) {
    StageKernels kernels = kKernels;
    kernels.logits = planted(logits_mutants(), "mutant.future_trusted");
    kernels.topk = planted(topk_mutants(), "mutant.draft_offset_forgotten");
    return launch_stages(kernels, s, message);
  }
};

// F24: one slot of each row, the last but one, is read as the one before it.
struct OneWrongEntry : AutoStages {
  static constexpr const char* kName = "mutant.step_one_wrong_entry";
  static exactk_status launch(const StepStages& s, Message message) {
    StageKernels kernels = kKernels;
    kernels.attention = planted(attention_mutants(), "mutant.decode_index_wrong");
    return launch_stages(kernels, s, message);
  }
};

const exactk_kernel kStaleLogits =
    chain::describe_step<StaleLogits>("step.auto with the top-k before the logits.");
const exactk_kernel kStaleSlots =
    chain::describe_step<StaleSlots>("step.auto with the attention before the translation.");
const exactk_kernel kIndexerTable = chain::describe_step<IndexerTable>(
    "step.auto that translates by the block table of the indexer.");
const exactk_kernel kMemsetNode =
    chain::describe_step<MemsetNode>("step.auto with a memset of the indices before it.");
const exactk_kernel kFutureTrusted = chain::describe_step<FutureTrusted>(
    "step.auto whose drafts select among the columns of the last one.");
const exactk_kernel kSharedSelection = chain::describe_step<SharedSelection>(
    "step.auto whose drafts share the selection of the first one.");
const exactk_kernel kOneWrongEntry = chain::describe_step<OneWrongEntry>(
    "step.auto whose attention reads entry 1777 as the one before it.");

const Mutant kMutants[] = {
    {&kStaleLogits, "step.auto", "F15", "step.decode rows=2 width=300 k=64 lens=const:200"},
    {&kStaleSlots, "step.auto", "F15", "step.decode rows=2 width=300 k=64 lens=const:200"},
    {&kIndexerTable, "step.auto", "F22", "step.decode rows=2 width=300 k=64 lens=const:200"},
    {&kMemsetNode, "step.auto", "F16",
     "step.decode rows=2 width=300 k=64 lens=const:200 launch=graph"},
    {&kFutureTrusted, "step.auto", "F08",
     "step.decode rows=4 next_n=2 width=300 k=64 lens=const:20"},
    {&kSharedSelection, "step.auto", "F08",
     "step.decode rows=4 next_n=2 width=300 k=64 lens=const:200"},
    {&kOneWrongEntry, "step.auto", "F24",
     "step.decode rows=1 width=4096 k=2048 lens=const:4096 heads=2 index_dim=16"},
};

}  // namespace

std::span<const Mutant> step_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
