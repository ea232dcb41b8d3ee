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
  static constexpr StageKernels kKernels = {&logits::kMqaPagedTiles, &topk::kTopkAuto,
                                            &index::kTranslateRows, &attention::kDecodeSplit};
  static exactk_status launch(const StepStages& stages, Message message) {
    return launch_stages(kKernels, stages, message);
  }
};

}  // namespace exactk::kernels::chain
