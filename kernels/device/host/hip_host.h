// Stands in for <hip/hip_runtime.h> on the host device: kernels run on the CPU, unmodified.
// docs/HOST_DEVICE.md says what is modelled and what is not.
//
// Everything lives in namespace exactk::host_device and is mangled, so that this runtime and a
// vendor's library with the same C names fit into one process.
#pragma once

#include "kernels/device/host/hip_api.h"
#include "kernels/device/host/hip_atomics.h"
#include "kernels/device/host/hip_bits.h"
#include "kernels/device/host/hip_device.h"
#include "kernels/device/host/hip_launch.h"
#include "kernels/device/host/hip_types.h"

using namespace exactk::host_device;
