// Device memory of the host device: every allocation between inaccessible pages, its end as near to
// one as the alignment of 256 bytes allows, and its range closed for a while after it was freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace exactk::host_device {

struct MemoryState {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

// From the kernel's estimate of available memory and the limits of the control group, minus a
// reserve.
MemoryState memory_state();

class Allocations {
 public:
  static Allocations& instance();

  // Filled with poison; nullptr if the memory is not there.
  void* allocate(size_t bytes);
  bool release(void* memory);
  // [memory, memory + bytes) lies inside one allocation.
  bool contains(const void* memory, size_t bytes) const;
  // What is near the address: "16 bytes past the end of an allocation of 4096 bytes"; empty if
  // nothing is.
  std::string describe(const void* address) const;

 private:
  struct Allocation {
    std::byte* mapping;
    size_t mapping_bytes;
    std::byte* payload;
    size_t bytes;
    bool freed;
  };
  const Allocation* find(const void* address) const;

  mutable std::mutex mutex_;
  std::map<uintptr_t, Allocation> by_mapping_;
  std::deque<uintptr_t> freed_;
};

}  // namespace exactk::host_device
