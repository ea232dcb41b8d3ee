// The shipped kernels of the router as descriptors of the C interface.
#pragma once

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::router {

extern const exactk_kernel kRouterWave;
extern const exactk_kernel kRouterRanks;

}  // namespace exactk::kernels::router
