// The shipped kernels of the index operations as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::index {

extern const exactk_kernel kCombineFused;
extern const exactk_kernel kCombineFillFirst;
extern const exactk_kernel kTranslateRows;
extern const exactk_kernel kSwaRows;

}  // namespace exactk::kernels::index
