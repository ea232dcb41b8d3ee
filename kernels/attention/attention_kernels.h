// The shipped attention kernels as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/shipped.h"

namespace exactk::kernels::attention {

EXACTK_SHIPPED extern const exactk_kernel kPrefillTiles;
EXACTK_SHIPPED extern const exactk_kernel kDecodeRows;
EXACTK_SHIPPED extern const exactk_kernel kDecodeSplit;

}  // namespace exactk::kernels::attention
