// The shipped decode steps as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::chain {

// Without a fill: nothing relies on what the buffers held.
extern const exactk_kernel kStepAuto;
// With the two fills that vLLM had before each step: -inf into the logits, -1 into the indices. The
// baseline of kStepAuto: the same result by more nodes.
extern const exactk_kernel kStepFilled;

}  // namespace exactk::kernels::chain
