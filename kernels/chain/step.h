// A decode step of four kernels of the C interface as one. Host code alone; the stages launch what
// runs.
//
// A `Step` names itself and the stages that it asks for support and workspace: { static constexpr
// const char* kName; static constexpr uint32_t kModes; static constexpr StageKernels kKernels; }.
// Its launch(const StepStages&, Message) enqueues them, by launch_stages() and whatever else it
// puts between.
#pragma once

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/chain/shares.h"
#include "kernels/check.h"

namespace exactk::kernels::chain {

// The descriptors of the stages, as they are launched.
struct StepStages {
  exactk_mqa_logits_paged logits;
  exactk_topk_decode topk;
  exactk_translate translate;
  exactk_sparse_decode attention;
};

inline const exactk_decode_step& step_of(const void* descriptor) {
  return *static_cast<const exactk_decode_step*>(descriptor);
}

inline bool has_stages(const exactk_decode_step& s) {
  return s.logits != nullptr && s.topk != nullptr && s.translate != nullptr &&
         s.attention != nullptr;
}

// Which form of attention reads what a form of the translation writes.
inline bool forms_fit(const exactk_decode_step& s) {
  switch (s.translate->variant) {
    case EXACTK_TRANSLATE_POSITIONAL:
    case EXACTK_TRANSLATE_COMPACT:
      return s.attention->variant == EXACTK_ATTENTION_FULL;
    case EXACTK_TRANSLATE_RAGGED:
      return s.attention->variant == EXACTK_ATTENTION_RAGGED;
    default:
      return false;
  }
}

inline bool is_connected(const exactk_decode_step& s) {
  return s.topk->logits == s.logits->logits && s.translate->indices == s.topk->indices &&
         s.attention->main.indices == s.translate->slots &&
         s.attention->main.indptr == s.translate->indptr && s.attention->main.lens == nullptr;
}

inline bool sizes_fit(const exactk_decode_step& s) {
  return s.topk->rows == s.logits->rows && s.translate->tokens == s.logits->rows &&
         s.attention->tokens == s.logits->rows && s.topk->width == s.logits->width &&
         s.translate->k == s.topk->k && s.attention->main.k == s.topk->k &&
         s.translate->slot_bytes == int32_t{sizeof(int32_t)};
}

// EXACTK_ERROR and one sentence unless the stages make a step.
template <class Step>
exactk_status check(const exactk_decode_step& s, Message message) {
  const char* wanted = nullptr;
  if (!has_stages(s)) {
    wanted = "descriptors of logits, top-k, translation and attention";
  } else if (!is_connected(s)) {
    wanted = "stages that read what the one before writes";
  } else if (!sizes_fit(s)) {
    wanted = "stages of the same rows, width and k, and slots of 4 bytes";
  } else if (!forms_fit(s)) {
    wanted = "attention full of a positional or compact translation, or both ragged";
  }
  if (wanted == nullptr) {
    return EXACTK_OK;
  }
  return refuse({Step::kName, message}, EXACTK_ERROR, "needs %s; got others", wanted);
}

template <class Step>
StepStages step_stages(const exactk_decode_step& s) {
  StepStages stages{*s.logits, *s.topk, *s.translate, *s.attention};
  Shares shares(stages.logits);
  shares.give(*Step::kKernels.logits, stages.logits);
  shares.give(*Step::kKernels.topk, stages.topk);
  shares.give(*Step::kKernels.translate, stages.translate);
  shares.give(*Step::kKernels.attention, stages.attention);
  return stages;
}

template <class Step>
exactk_status step_supports(const void* descriptor, char* text, size_t bytes) {
  const exactk_decode_step& s = step_of(descriptor);
  exactk_status status = check<Step>(s, Message{text, bytes});
  if (status == EXACTK_OK) status = Step::kKernels.logits->supports(s.logits, text, bytes);
  if (status == EXACTK_OK) status = Step::kKernels.topk->supports(s.topk, text, bytes);
  if (status == EXACTK_OK) status = Step::kKernels.translate->supports(s.translate, text, bytes);
  if (status == EXACTK_OK) status = Step::kKernels.attention->supports(s.attention, text, bytes);
  return status;
}

template <class Step>
int64_t step_workspace_bytes(const void* descriptor) {
  const exactk_decode_step& s = step_of(descriptor);
  if (!has_stages(s)) return 0;
  return share_of(*Step::kKernels.logits, s.logits) + share_of(*Step::kKernels.topk, s.topk) +
         share_of(*Step::kKernels.translate, s.translate) +
         share_of(*Step::kKernels.attention, s.attention);
}

// The kernels of the stages.
struct StageKernels {
  const exactk_kernel* logits;
  const exactk_kernel* topk;
  const exactk_kernel* translate;
  const exactk_kernel* attention;
};

inline exactk_status launch_stages(const StageKernels& kernels, const StepStages& stages,
                                   Message message) {
  const auto [text, bytes] = message;
  exactk_status status = kernels.logits->launch(&stages.logits, text, bytes);
  if (status == EXACTK_OK) status = kernels.topk->launch(&stages.topk, text, bytes);
  if (status == EXACTK_OK) status = kernels.translate->launch(&stages.translate, text, bytes);
  if (status == EXACTK_OK) status = kernels.attention->launch(&stages.attention, text, bytes);
  return status;
}

template <class Step>
exactk_status step_launch(const void* descriptor, char* text, size_t bytes) {
  const exactk_decode_step& s = step_of(descriptor);
  const exactk_status status = check<Step>(s, Message{text, bytes});
  return status == EXACTK_OK ? Step::launch(step_stages<Step>(s), Message{text, bytes}) : status;
}

template <class Step>
exactk_kernel describe_step(const char* description) {
  return {sizeof(exactk_kernel),
          Step::kModes,
          Step::kName,
          "step.decode",
          description,
          &step_supports<Step>,
          &step_workspace_bytes<Step>,
          &step_launch<Step>,
          EXACTK_NAN_ORDERED,
          0,
          {}};
}

}  // namespace exactk::kernels::chain
