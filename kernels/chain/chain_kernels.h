// The shipped chains as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::chain {

extern const exactk_kernel kChainDecodeAuto;
extern const exactk_kernel kChainDecodeStable;
extern const exactk_kernel kChainPrefillBlock;

}  // namespace exactk::kernels::chain
