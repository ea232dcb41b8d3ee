// Kernel launches: the argument values are copied into a tuple of the kernel's parameter types at
// the call, so that a captured launch has its parameters frozen and still reads memory at each
// replay.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/device/host/hip_types.h"

// Defined by the object that exactk_kernel_options_host() adds to a kernel library: where the
// calling thread's dynamic shared memory of that library starts.
extern "C" __attribute__((visibility("hidden"))) void* exactk_dynamic_shared_base();

namespace exactk::host_device {

struct KernelLaunch {
  const char* name = nullptr;
  const void* function = nullptr;  // also tells which shared object the kernel is in
  void (*invoke)(const void* arguments) = nullptr;  // one thread of the kernel
  std::shared_ptr<const void> arguments;
  void* (*dynamic_base)() = nullptr;
  dim3 grid;
  dim3 block;
  size_t dynamic_bytes = 0;
  int wave_width = 0;  // set when the launch is enqueued
};

// Checks the limits and appends to the stream. An error is kept for hipGetLastError().
hipError_t enqueue_launch(KernelLaunch launch, hipStream_t stream);

// A plain function in place of a kernel: runs once, on the thread that waits for the stream. It
// must not call the device.
struct HostFunction {
  void (*function)(const void* arguments) = nullptr;
  std::shared_ptr<const void> arguments;
};
hipError_t enqueue_host_function(HostFunction call, hipStream_t stream);

hipError_t set_dynamic_shared_limit(const void* function, int bytes);
template <class... Parameters>
hipError_t hipFuncSetAttribute(void (*kernel)(Parameters...), hipFuncAttribute, int value) {
  return set_dynamic_shared_limit(reinterpret_cast<const void*>(kernel), value);
}
inline hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute, int value) {
  return set_dynamic_shared_limit(function, value);
}

template <class... Parameters, class... Arguments>
void launch_kernel(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   size_t dynamic_bytes, hipStream_t stream, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "one argument per kernel parameter");
  static_assert((!std::is_reference_v<Parameters> && ...), "kernel parameters are passed by value");
  struct Frozen {
    void (*kernel)(Parameters...);
    std::tuple<std::remove_cv_t<Parameters>...> values;
  };
  KernelLaunch launch;
  launch.name = name;
  launch.function = reinterpret_cast<const void*>(kernel);
  launch.invoke = [](const void* frozen_launch) {
    const Frozen& frozen = *static_cast<const Frozen*>(frozen_launch);
    std::apply(frozen.kernel, frozen.values);
  };
  launch.arguments = std::make_shared<const Frozen>(
      Frozen{kernel, {static_cast<Parameters>(std::forward<Arguments>(arguments))...}});
  launch.dynamic_base = &exactk_dynamic_shared_base;
  launch.grid = grid;
  launch.block = block;
  launch.dynamic_bytes = dynamic_bytes;
  enqueue_launch(std::move(launch), stream);
}

}  // namespace exactk::host_device

// A template kernel with commas goes in parentheses or into HIP_KERNEL_NAME(), as in HIP.
#define hipLaunchKernelGGL(kernel, grid, block, dynamic_bytes, stream, ...)               \
  ::exactk::host_device::launch_kernel(#kernel, kernel, (grid), (block), (dynamic_bytes), \
                                       (stream)__VA_OPT__(, ) __VA_ARGS__)
