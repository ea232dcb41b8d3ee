// What a kernel source includes first: HIP names, whatever the target. The build chooses one
// target.
#pragma once

#if defined(EXACTK_TARGET_HOST)
#include "kernels/device/host/hip_host.h"
#else
#error "No target: link exactk_host_device, which defines EXACTK_TARGET_HOST"
#endif
