#include "kernels/device/host/allocations.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "kernels/device/host/poison.h"

namespace exactk::host_device {
namespace {

constexpr size_t kAlignBytes = 256;
constexpr size_t kFreedMax = 256;                      // freed ranges that stay closed
constexpr int64_t kReserveBytes = int64_t{256} << 20;  // for the suite itself

size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

int64_t meminfo_bytes(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  int64_t kilobytes = 0;
  while (file >> name >> kilobytes) {
    std::getline(file, unit);
    if (name == key) return kilobytes * 1024;
  }
  return 0;
}

// A number in a file of its own; absent, "max" or unreadable: `otherwise`.
int64_t file_number(const char* path, int64_t otherwise) {
  std::ifstream file(path);
  int64_t number = 0;
  return file >> number ? number : otherwise;
}

}  // namespace

MemoryState memory_state() {
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  MemoryState state{meminfo_bytes("MemAvailable:"), meminfo_bytes("MemTotal:")};
  struct Group {
    const char* limit;
    const char* used;
  };
  for (const Group& group : {Group{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
                             Group{"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                   "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const int64_t limit = file_number(group.limit, kNoLimit);
    if (limit == kNoLimit) continue;
    state.total_bytes = std::min(state.total_bytes, limit);
    state.free_bytes = std::min(state.free_bytes, limit - file_number(group.used, 0));
  }
  state.free_bytes = std::max<int64_t>(0, state.free_bytes - kReserveBytes);
  return state;
}

Allocations& Allocations::instance() {
  // Never destroyed: a worker may still run when static objects are torn down.
  static Allocations* const allocations = new Allocations;
  return *allocations;
}

void* Allocations::allocate(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > static_cast<size_t>(std::numeric_limits<int64_t>::max() / 2)) return nullptr;
  const size_t used = round_up(std::max<size_t>(bytes, 1), kAlignBytes);
  const size_t pages = round_up(used, page);
  if (static_cast<int64_t>(pages) > memory_state().free_bytes) return nullptr;
  const size_t mapping_bytes = pages + 2 * page;
  void* mapping =
      mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* first_page = static_cast<std::byte*>(mapping) + page;
  if (mprotect(first_page, pages, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, mapping_bytes);
    return nullptr;
  }
  fill_poison(first_page, first_page + pages, kMemoryPoison);
  std::byte* payload = first_page + pages - used;
  const std::lock_guard lock(mutex_);
  by_mapping_[reinterpret_cast<uintptr_t>(mapping)] = {static_cast<std::byte*>(mapping),
                                                       mapping_bytes, payload, bytes, false};
  return payload;
}

const Allocations::Allocation* Allocations::find(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto next = by_mapping_.upper_bound(at);
  if (next == by_mapping_.begin()) return nullptr;
  const Allocation& allocation = std::prev(next)->second;
  return at - reinterpret_cast<uintptr_t>(allocation.mapping) < allocation.mapping_bytes
             ? &allocation
             : nullptr;
}

bool Allocations::release(void* memory) {
  const std::lock_guard lock(mutex_);
  auto* allocation = const_cast<Allocation*>(find(memory));
  if (!allocation || allocation->payload != memory || allocation->freed) return false;
  // A new closed mapping over the old one gives the pages back and keeps the addresses.
  mmap(allocation->mapping, allocation->mapping_bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  allocation->freed = true;
  freed_.push_back(reinterpret_cast<uintptr_t>(allocation->mapping));
  if (freed_.size() > kFreedMax) {
    const auto oldest = by_mapping_.find(freed_.front());
    munmap(oldest->second.mapping, oldest->second.mapping_bytes);
    by_mapping_.erase(oldest);
    freed_.pop_front();
  }
  return true;
}

bool Allocations::contains(const void* memory, size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const Allocation* allocation = find(memory);
  if (!allocation || allocation->freed) return false;
  const ptrdiff_t offset = static_cast<const std::byte*>(memory) - allocation->payload;
  return offset >= 0 && static_cast<size_t>(offset) <= allocation->bytes &&
         bytes <= allocation->bytes - static_cast<size_t>(offset);
}

std::string Allocations::describe(const void* address) const {
  const std::lock_guard lock(mutex_);
  const Allocation* allocation = find(address);
  if (!allocation) return {};
  const ptrdiff_t offset = static_cast<const std::byte*>(address) - allocation->payload;
  const auto bytes = static_cast<ptrdiff_t>(allocation->bytes);
  const char* state = allocation->freed ? "a freed allocation" : "an allocation";
  if (offset < 0) return fmt::format("{} bytes before {} of {} bytes", -offset, state, bytes);
  if (offset < bytes) return fmt::format("byte {} of {} of {} bytes", offset, state, bytes);
  return fmt::format("{} bytes past the end of {} of {} bytes", offset - bytes, state, bytes);
}

}  // namespace exactk::host_device
