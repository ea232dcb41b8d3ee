// The stages of the shipped decode steps.
#pragma once

#include "kernels/attention/attention_kernels.h"
#include "kernels/chain/step.h"
#include "kernels/index/index_kernels.h"
#include "kernels/logits/logits_kernels.h"
#include "kernels/topk/topk_kernels.h"

namespace exactk::kernels::chain {

struct AutoStages {
  static constexpr uint32_t kModes = EXACTK_MODE_KERNELS_ONLY;
  static constexpr const exactk_kernel* kLogits = &logits::kMqaPagedTiles;
  static constexpr const exactk_kernel* kTopk = &topk::kTopkAuto;
  static constexpr const exactk_kernel* kTranslate = &index::kTranslateRows;
  static constexpr const exactk_kernel* kAttention = &attention::kDecodeSplit;
  static exactk_status launch(const StepStages& stages, Message message) {
    return launch_stages<AutoStages>(stages, message);
  }
};

}  // namespace exactk::kernels::chain
