// The shipped kernels of the logits operations as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/shipped.h"

namespace exactk::kernels::logits {

EXACTK_SHIPPED extern const exactk_kernel kMqaTiles;
EXACTK_SHIPPED extern const exactk_kernel kMqaPagedTiles;

}  // namespace exactk::kernels::logits
