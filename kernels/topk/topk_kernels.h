// The shipped top-k kernels as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::topk {

extern const exactk_kernel kTopkBlock;
extern const exactk_kernel kTopkSplitMerge;
extern const exactk_kernel kTopkK512;
extern const exactk_kernel kTopkK1024;
extern const exactk_kernel kTopkAuto;
extern const exactk_kernel kTopkStable;
extern const exactk_kernel kTopkGated;
extern const exactk_kernel kTopkPrefillBlock;
extern const exactk_kernel kTopkPrefillStable;

}  // namespace exactk::kernels::topk
