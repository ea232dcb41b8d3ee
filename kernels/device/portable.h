// What a kernel source includes first: HIP names, whatever the target. One target is chosen by the
// build.
#pragma once

#if defined(EXACTK_TARGET_HOST)
#include "kernels/device/host/hip_host.h"
#elif defined(EXACTK_TARGET_HIP)
#include "kernels/device/amd/hip_amd.h"
#elif defined(EXACTK_TARGET_CUDA)
#include "kernels/device/cuda/hip_cuda.h"
#else
#error \
    "No target: link exactk_host_device, or define EXACTK_TARGET_HOST, EXACTK_TARGET_HIP or EXACTK_TARGET_CUDA"
#endif
