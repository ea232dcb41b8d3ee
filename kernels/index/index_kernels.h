// The shipped kernels of the index operations as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/shipped.h"

namespace exactk::kernels::index {

EXACTK_SHIPPED extern const exactk_kernel kCombineFused;
EXACTK_SHIPPED extern const exactk_kernel kCombineFillFirst;
EXACTK_SHIPPED extern const exactk_kernel kTranslateRows;
EXACTK_SHIPPED extern const exactk_kernel kSwaRows;

}  // namespace exactk::kernels::index
