// What target.cpp becomes when it is compiled for a target. Each kernel library exports this one
// function, so that one program can hold the kernels of the host device and of a GPU.
#pragma once

#include "kernels/registry.h"

namespace exactk::kernels {

#define EXACTK_TARGET_EXPORT __attribute__((visibility("default")))

EXACTK_TARGET_EXPORT const TargetKernels& host_kernels();
EXACTK_TARGET_EXPORT const TargetKernels& hip_kernels();
EXACTK_TARGET_EXPORT const TargetKernels& cuda_kernels();

#undef EXACTK_TARGET_EXPORT

}  // namespace exactk::kernels
