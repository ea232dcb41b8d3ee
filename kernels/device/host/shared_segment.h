// Shared memory of the block that a worker runs: the thread-local segment of the shared object that
// holds the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace exactk::host_device {

// What a library can offer as dynamic shared memory, and the largest request of a launch.
constexpr size_t kDynamicSharedMax = 160 * 1024;

class SharedSegment {
 public:
  // Finds the segment of the object that contains `function` on the calling thread.
  void locate(const void* function, void* (*dynamic_base)());
  // Fills everything that a block may use, and a guard after the dynamic part, with poison.
  void poison(size_t dynamic_bytes, uint64_t seed);
  // Empty, or a sentence about bytes past the dynamic part that changed since poison().
  std::string overrun() const;

 private:
  std::byte* begin_ = nullptr;
  std::byte* end_ = nullptr;
  std::byte* dynamic_ = nullptr;
  std::byte* guard_begin_ = nullptr;
  std::byte* guard_end_ = nullptr;
  uint64_t word_ = 0;
};

}  // namespace exactk::host_device
