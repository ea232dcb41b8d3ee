// The shipped top-k kernels as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/shipped.h"

namespace exactk::kernels::topk {

EXACTK_SHIPPED extern const exactk_kernel kTopkBlock;
EXACTK_SHIPPED extern const exactk_kernel kTopkSplitMerge;
EXACTK_SHIPPED extern const exactk_kernel kTopkK512;
EXACTK_SHIPPED extern const exactk_kernel kTopkK1024;
EXACTK_SHIPPED extern const exactk_kernel kTopkAuto;
EXACTK_SHIPPED extern const exactk_kernel kTopkStable;
EXACTK_SHIPPED extern const exactk_kernel kTopkGated;
EXACTK_SHIPPED extern const exactk_kernel kTopkPrefillBlock;
EXACTK_SHIPPED extern const exactk_kernel kTopkPrefillStable;

}  // namespace exactk::kernels::topk
