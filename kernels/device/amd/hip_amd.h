// HIP itself. In a source that a C++ compiler compiles, only the calls of the CPU side are there;
// kernels are compiled by hipcc, or checked by a clang that has no ROCm beside it.
#pragma once

#if defined(EXACTK_HIP_BUILTINS_ONLY)
#include "kernels/device/amd/device_builtins.h"
#include "kernels/device/amd/syncwarp.h"
#elif defined(__HIP__)
#include <hip/hip_runtime.h>
#if HIP_VERSION_MAJOR < 7
#include "kernels/device/amd/syncwarp.h"
#endif
#else
#include <hip/hip_runtime_api.h>

#define __host__
#define __device__
#define __global__
#endif
