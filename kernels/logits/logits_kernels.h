// The shipped kernels of the logits operations as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::logits {

extern const exactk_kernel kMqaTiles;
extern const exactk_kernel kMqaPagedTiles;

}  // namespace exactk::kernels::logits
