// The shipped decode top-k kernels as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::topk {

extern const exactk_kernel kTopkBlock;
extern const exactk_kernel kTopkSplitMerge;
extern const exactk_kernel kTopkK512;
extern const exactk_kernel kTopkK1024;
extern const exactk_kernel kTopkAuto;

}  // namespace exactk::kernels::topk
