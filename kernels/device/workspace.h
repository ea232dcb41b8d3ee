// One buffer of device memory that the operations of a step share, as vLLM's workspace manager
// hands it out. It grows until it is locked; after warm-up and capture it is locked, so that
// nothing allocates and captured pointers stay good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device/device.h"

namespace exactk::kernels {

class Workspace {
 public:
  static constexpr int64_t kAlignBytes = 256;

  explicit Workspace(Device& device) : device_(device) {}  // `device` outlives the workspace
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // Device pointers of views with these byte counts (>= 0), side by side at 256-byte boundaries.
  // The first one starts the buffer at every call: views of two calls are the same bytes, and hold
  // what the last writer left, or nothing defined. A request that does not fit replaces the buffer;
  // views of the old one keep their memory and contents as long as the workspace lives. An error,
  // and no change, if it is locked or the device has no room. Null while no bytes were ever asked
  // for.
  Result<std::vector<std::byte*>> get_simultaneous(std::span<const int64_t> bytes);

  void lock() { locked_ = true; }
  void unlock() { locked_ = false; }
  bool locked() const { return locked_; }
  int64_t bytes() const { return bytes_; }  // of the buffer; never shrinks

 private:
  Device& device_;
  std::vector<std::byte*> buffers_;  // the last one is in use
  int64_t bytes_ = 0;
  bool locked_ = false;
};

}  // namespace exactk::kernels
