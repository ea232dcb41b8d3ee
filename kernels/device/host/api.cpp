// The calls of the interface about the device, memory and launches: each checks its arguments under
// the lock of the runtime and hands over.
#include <fmt/format.h>

#include <cstring>
#include <thread>

#include "kernels/device/host/allocations.h"
#include "kernels/device/host/block_runner.h"
#include "kernels/device/host/runtime.h"

namespace exactk::host_device {
namespace {

constexpr int kDefaultDynamicMax =
    48 * 1024;  // more needs hipFuncSetAttribute, as on the strictest target
constexpr uint64_t kGridXMax = 0x7fffffff;
constexpr uint64_t kGridYZMax = 65535;

hipError_t check_copy(Runtime& runtime, const char* what, void* to, const void* from, size_t bytes,
                      hipMemcpyKind kind) {
  if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) {
    return runtime.fail(hipErrorInvalidMemcpyDirection,
                        fmt::format("{}: unknown kind {}", what, int{kind}));
  }
  if (bytes == 0) return hipSuccess;
  if (!to || !from)
    return runtime.fail(hipErrorInvalidValue, fmt::format("{}: null pointer", what));
  const Allocations& memory = Allocations::instance();
  const bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  const bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (to_device && !memory.contains(to, bytes)) {
    return runtime.fail(
        hipErrorInvalidValue,
        fmt::format("{}: {} bytes at the destination are not device memory", what, bytes));
  }
  if (from_device && !memory.contains(from, bytes)) {
    return runtime.fail(
        hipErrorInvalidValue,
        fmt::format("{}: {} bytes at the source are not device memory", what, bytes));
  }
  return hipSuccess;
}

hipError_t check_launch(Runtime& runtime, const KernelLaunch& launch) {
  const dim3 grid = launch.grid, block = launch.block;
  const auto refuse = [&](const std::string& why) {
    return runtime.fail(hipErrorInvalidConfiguration,
                        fmt::format("launch of kernel {}: {}", launch.name, why));
  };
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    return refuse(fmt::format("the grid ({},{},{}) is empty", grid.x, grid.y, grid.z));
  }
  if (grid.x > kGridXMax || grid.y > kGridYZMax || grid.z > kGridYZMax) {
    return refuse(fmt::format("the grid ({},{},{}) exceeds (2147483647,65535,65535)", grid.x,
                              grid.y, grid.z));
  }
  if (uint64_t{grid.x} * block.x >> 32) {
    return refuse(
        fmt::format("{} blocks of {} threads in x are 2^32 threads or more", grid.x, block.x));
  }
  if (block.x == 0 || block.y == 0 || block.z == 0) {
    return refuse(fmt::format("the block ({},{},{}) is empty", block.x, block.y, block.z));
  }
  if (block.x > kThreadsMax || block.y > kThreadsMax || block.z > kThreadsMax ||
      uint64_t{block.x} * block.y * block.z > kThreadsMax) {
    return refuse(fmt::format("the block ({},{},{}) exceeds {} threads", block.x, block.y, block.z,
                              kThreadsMax));
  }
  const auto limit = runtime.dynamic_limits.find(launch.function);
  const auto dynamic_max = static_cast<size_t>(
      limit == runtime.dynamic_limits.end() ? kDefaultDynamicMax : limit->second);
  if (launch.dynamic_bytes > dynamic_max) {
    return runtime.fail(
        hipErrorInvalidValue,
        fmt::format(
            "launch of kernel {}: {} bytes of dynamic shared memory exceed the limit of {}; "
            "hipFuncSetAttribute raises it to at most {}",
            launch.name, launch.dynamic_bytes, dynamic_max, kDynamicSharedMax));
  }
  return hipSuccess;
}

}  // namespace

hipError_t configure(const Settings& settings) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  if (settings.wave_width != 32 && settings.wave_width != 64) {
    return runtime.fail(hipErrorInvalidValue,
                        fmt::format("wave width {}; use 32 or 64", settings.wave_width));
  }
  if (settings.workers < 1 || settings.workers > 64) {
    return runtime.fail(hipErrorInvalidValue,
                        fmt::format("{} workers; use 1 to 64", settings.workers));
  }
  if (settings.block_seconds_max < 1) {
    return runtime.fail(hipErrorInvalidValue, fmt::format("{} seconds per block; use 1 or more",
                                                          settings.block_seconds_max));
  }
  runtime.settings = settings;
  return hipSuccess;
}

Settings settings() {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  return runtime.settings;
}

std::string last_error_text() {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  return runtime.last_text;
}

hipError_t hipGetLastError() {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  return std::exchange(runtime.last_error, hipSuccess);
}

hipError_t hipPeekAtLastError() {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  return runtime.last_error;
}

hipError_t hipGetDeviceCount(int* count) {
  *count = 1;
  return hipSuccess;
}

hipError_t hipGetDevice(int* device) {
  *device = 0;
  return hipSuccess;
}

hipError_t hipSetDevice(int device) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  if (device == 0) return hipSuccess;
  return runtime.fail(hipErrorInvalidDevice,
                      fmt::format("there is no device {}; the host device is number 0", device));
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  if (const hipError_t error = hipSetDevice(device)) return error;
  *properties = {};
  std::strcpy(properties->name, "CPU host device");
  std::strcpy(properties->gcnArchName, "host");
  properties->totalGlobalMem = static_cast<size_t>(memory_state().total_bytes);
  properties->sharedMemPerBlock = kDynamicSharedMax;
  properties->warpSize = settings().wave_width;
  properties->maxThreadsPerBlock = kThreadsMax;
  for (int& size : properties->maxThreadsDim) size = kThreadsMax;
  properties->maxGridSize[0] = static_cast<int>(kGridXMax);
  properties->maxGridSize[1] = properties->maxGridSize[2] = static_cast<int>(kGridYZMax);
  properties->multiProcessorCount = settings().workers;
  return hipSuccess;
}

hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const MemoryState state = memory_state();
  *free_bytes = static_cast<size_t>(state.free_bytes);
  *total_bytes = static_cast<size_t>(state.total_bytes);
  return hipSuccess;
}

hipError_t hipDeviceSynchronize() {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  if (const hipError_t error = runtime.refuse_in_capture("hipDeviceSynchronize",
                                                         hipErrorStreamCaptureUnsupported, false)) {
    return error;
  }
  return runtime.wait_for_all();
}

hipError_t hipMalloc(void** memory, size_t bytes) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  if (const hipError_t error =
          runtime.refuse_in_capture("hipMalloc", hipErrorStreamCaptureUnsupported, true)) {
    return error;
  }
  if (!memory) return runtime.fail(hipErrorInvalidValue, "hipMalloc: null pointer");
  *memory = nullptr;
  if (bytes == 0) return hipSuccess;
  *memory = Allocations::instance().allocate(bytes);
  if (*memory) return hipSuccess;
  return runtime.fail(hipErrorOutOfMemory, fmt::format("hipMalloc: {} bytes wanted, {} available",
                                                       bytes, memory_state().free_bytes));
}

hipError_t hipFree(void* memory) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  if (const hipError_t error =
          runtime.refuse_in_capture("hipFree", hipErrorStreamCaptureUnsupported, true)) {
    return error;
  }
  if (!memory) return hipSuccess;
  const hipError_t earlier = runtime.wait_for_all();  // what was enqueued may still use the memory
  if (!Allocations::instance().release(memory)) {
    return runtime.fail(
        hipErrorInvalidValue,
        fmt::format("hipFree: {} is not the start of an allocation", fmt::ptr(memory)));
  }
  return earlier;
}

hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  if (const hipError_t error =
          runtime.refuse_in_capture("hipMemcpy", hipErrorStreamCaptureImplicit, false)) {
    return error;
  }
  if (const hipError_t error = check_copy(runtime, "hipMemcpy", to, from, bytes, kind))
    return error;
  if (const hipError_t error = runtime.wait_for(runtime.find(nullptr))) return error;
  if (bytes != 0) std::memmove(to, from, bytes);
  return hipSuccess;
}

hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  Stream* queue = runtime.find(stream);
  if (!queue) return runtime.fail(hipErrorInvalidHandle, "hipMemcpyAsync: no such stream");
  if (const hipError_t error = check_copy(runtime, "hipMemcpyAsync", to, from, bytes, kind))
    return error;
  return bytes == 0 ? hipSuccess
                    : runtime.enqueue(queue, MemcpyWork{to, from, bytes}, "hipMemcpyAsync");
}

hipError_t hipMemsetAsync(void* memory, int value, size_t bytes, hipStream_t stream) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  Stream* queue = runtime.find(stream);
  if (!queue) return runtime.fail(hipErrorInvalidHandle, "hipMemsetAsync: no such stream");
  if (bytes == 0) return hipSuccess;
  if (!Allocations::instance().contains(memory, bytes)) {
    return runtime.fail(hipErrorInvalidValue,
                        fmt::format("hipMemsetAsync: {} bytes at {} are not device memory", bytes,
                                    fmt::ptr(memory)));
  }
  return runtime.enqueue(queue, MemsetWork{memory, value, bytes}, "hipMemsetAsync");
}

// Like the real one it only enqueues on the default stream.
hipError_t hipMemset(void* memory, int value, size_t bytes) {
  {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    if (const hipError_t error =
            runtime.refuse_in_capture("hipMemset", hipErrorStreamCaptureImplicit, false)) {
      return error;
    }
  }
  return hipMemsetAsync(memory, value, bytes, nullptr);
}

hipError_t set_dynamic_shared_limit(const void* function, int bytes) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  if (bytes < 0 || static_cast<size_t>(bytes) > kDynamicSharedMax) {
    return runtime.fail(hipErrorInvalidValue,
                        fmt::format("hipFuncSetAttribute: {} bytes of dynamic shared memory; "
                                    "at most {} are there",
                                    bytes, kDynamicSharedMax));
  }
  runtime.dynamic_limits[function] = bytes;
  return hipSuccess;
}

hipError_t enqueue_launch(KernelLaunch launch, hipStream_t stream) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  Stream* queue = runtime.find(stream);
  if (!queue) {
    return runtime.fail(hipErrorInvalidHandle,
                        fmt::format("launch of kernel {}: no such stream", launch.name));
  }
  if (const hipError_t error = check_launch(runtime, launch)) return error;
  launch.wave_width = runtime.settings.wave_width;
  const char* name = launch.name;
  return runtime.enqueue(queue, std::move(launch), name);
}

hipError_t enqueue_host_function(HostFunction call, hipStream_t stream) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex);
  Stream* queue = runtime.find(stream);
  if (!queue) return runtime.fail(hipErrorInvalidHandle, "a host function: no such stream");
  if (!call.function) return runtime.fail(hipErrorInvalidValue, "a host function that is null");
  return runtime.enqueue(queue, std::move(call), "a host function");
}

}  // namespace exactk::host_device
