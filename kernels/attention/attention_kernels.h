// The shipped attention kernels as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::attention {

extern const exactk_kernel kPrefillTiles;
extern const exactk_kernel kDecodeRows;
extern const exactk_kernel kDecodeSplit;

}  // namespace exactk::kernels::attention
