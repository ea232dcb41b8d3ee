// The workspace of a chain, divided among its stages in the order in which they run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::chain {

// Bytes of a stage, so that the next one begins on a 256-byte boundary.
inline int64_t share_of(const exactk_kernel& kernel, const void* descriptor) {
  return (kernel.workspace_bytes(descriptor) + 255) / 256 * 256;
}

// What the first stage's descriptor was given, handed out stage by stage.
class Shares {
 public:
  template <class Descriptor>
  explicit Shares(const Descriptor& first)
      : next_(static_cast<char*>(first.workspace)),
        left_(first.workspace != nullptr ? first.workspace_bytes : 0),
        stream_(first.stream) {}

  template <class Descriptor>
  void give(const exactk_kernel& kernel, Descriptor& d) {
    const int64_t bytes = std::min(share_of(kernel, &d), left_);
    d.workspace = bytes > 0 ? next_ : nullptr;
    d.workspace_bytes = bytes;
    d.stream = stream_;
    if (bytes > 0) next_ += bytes;
    left_ -= bytes;
  }

 private:
  char* next_;
  int64_t left_;
  void* stream_;
};

}  // namespace exactk::kernels::chain
