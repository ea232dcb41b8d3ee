// What a kernel source includes first: HIP names, whatever the target. The build chooses one
// target.
#pragma once

#if defined(EXACTK_TARGET_HOST)
#include "kernels/device/host/hip_host.h"
#elif defined(EXACTK_TARGET_HIP)
#include "kernels/device/amd/hip_amd.h"
#elif defined(EXACTK_TARGET_CUDA)
#include "kernels/device/cuda/hip_cuda.h"
#else
#error "No target: link exactk_target_host, exactk_target_hip or exactk_target_cuda"
#endif
