// The shipped decode steps as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/shipped.h"

namespace exactk::kernels::chain {

// Without a fill: nothing relies on what the buffers held.
EXACTK_SHIPPED extern const exactk_kernel kStepAuto;
// With the two fills that vLLM had before each step: -inf into the logits, -1 into the indices. The
// baseline of kStepAuto: the same result by more nodes.
EXACTK_SHIPPED extern const exactk_kernel kStepFilled;

}  // namespace exactk::kernels::chain
