// The shipped chains as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/shipped.h"

namespace exactk::kernels::chain {

EXACTK_SHIPPED extern const exactk_kernel kChainDecodeAuto;
EXACTK_SHIPPED extern const exactk_kernel kChainDecodeStable;
EXACTK_SHIPPED extern const exactk_kernel kChainPrefillBlock;

}  // namespace exactk::kernels::chain
