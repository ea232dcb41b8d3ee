// The shipped kernels of the router as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/shipped.h"

namespace exactk::kernels::router {

EXACTK_SHIPPED extern const exactk_kernel kRouterWave;
EXACTK_SHIPPED extern const exactk_kernel kRouterRanks;

}  // namespace exactk::kernels::router
