// A device that runs kernels, without any HIP name: what the runner uses. One implementation per
// target, written with HIP names over kernels/device/portable.h; the host device is one of them.
//
// Every call reports a failure as one sentence; nothing prints or exits. A Device is used from one
// thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels {

using Error = std::string;
template <class T>
using Result = tl::expected<T, Error>;

struct DeviceInfo {
  std::string kind;  // "host", "hip", "cuda"
  int index = 0;
  std::string name;  // marketing name, or "CPU host device"
  std::string arch;  // "host", "gfx90a", "sm_90"
  int wave_width = 0;
  int64_t memory_free_bytes = 0;
};

// Options that only the host device has.
struct HostOptions {
  int wave_width = 64;         // 32 or 64
  uint64_t schedule_seed = 0;  // 0: blocks, waves and lanes in order
  int workers = 2;             // threads that run blocks
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  virtual Result<void> configure(
      const HostOptions& options) = 0;  // an error on a GPU when not the default

  // Allocations are 256-byte aligned.
  virtual Result<void*> allocate(int64_t bytes) = 0;
  virtual Result<void> release(void* memory) = 0;
  virtual Result<void> upload(void* device, const void* host, int64_t bytes) = 0;
  virtual Result<void> download(void* host, const void* device, int64_t bytes) = 0;

  // Stream 0 is the default stream of direct launches; 1 and 2 are created streams.
  virtual void* stream(int index) = 0;
  virtual Result<void> synchronize(
      void* stream) = 0;  // reports faults of kernels: kernel, block, thread, source line

  // Capture and replay. One graph at a time; end_capture instantiates it.
  virtual Result<void> begin_capture(void* stream) = 0;
  virtual Result<void> end_capture(void* stream) = 0;
  virtual Result<void> replay(void* stream) = 0;
  virtual Result<void> drop_graph() = 0;
  // Functions that host_enqueue() captured count as kernels.
  struct GraphNodes {
    int kernels = 0, memsets = 0, memcpys = 0, others = 0;
    int all() const { return kernels + memsets + memcpys + others; }
  };
  virtual GraphNodes graph_nodes() const = 0;

  // How a kernel that is a plain function gets onto a stream; null where there are real kernels.
  virtual exactk_enqueue host_enqueue() const { return nullptr; }
};

// The kinds that this program was built with, "host" first.
std::vector<std::string_view> device_kinds();

// The devices of these kinds that are present. "host" is always there where it is built in.
std::vector<DeviceInfo> list_devices();

// "host", "hip", "hip:1", "cuda", "cuda:0". The error says what is missing: not built in, no
// driver, no such index.
Result<std::unique_ptr<Device>> open_device(std::string_view spec);

}  // namespace exactk::kernels
