#include "kernels/device/host/shared_segment.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "kernels/device/host/hip_atomics.h"
#include "kernels/device/host/poison.h"

namespace exactk::host_device {

__thread uintptr_t tls_shared_begin = 0;
__thread uintptr_t tls_shared_bytes = 0;

namespace {

constexpr size_t kGuardBytes = 1024;

struct Search {
  uintptr_t function;
  std::byte* begin;
  size_t bytes;
};

// Looks for the object that has `function` in a loaded segment; its thread-local block is that of
// the calling thread.
int visit(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool contains = false;
  size_t tls_bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_LOAD) {
      contains |= search.function - (info->dlpi_addr + header.p_vaddr) < header.p_memsz;
    } else if (header.p_type == PT_TLS) {
      tls_bytes = header.p_memsz;
    }
  }
  if (!contains) return 0;
  search.begin = static_cast<std::byte*>(info->dlpi_tls_data);
  search.bytes = search.begin ? tls_bytes : 0;
  return 1;
}

}  // namespace

void SharedSegment::locate(const void* function, void* (*dynamic_base)()) {
  void* const dynamic =
      dynamic_base();  // first, because this makes a segment that does not exist yet
  Search search{reinterpret_cast<uintptr_t>(function), nullptr, 0};
  dl_iterate_phdr(visit, &search);
  begin_ = search.begin;
  end_ = search.begin + search.bytes;
  dynamic_ = begin_ ? static_cast<std::byte*>(dynamic) : nullptr;
  tls_shared_begin = reinterpret_cast<uintptr_t>(begin_);
  tls_shared_bytes = search.bytes;
}

void SharedSegment::poison(size_t dynamic_bytes, uint64_t seed) {
  word_ = shared_poison(seed);
  if (!dynamic_) {
    fill_poison(begin_, end_, word_);
    return;
  }
  guard_begin_ = dynamic_ + dynamic_bytes;
  guard_end_ = dynamic_ + std::min(dynamic_bytes + kGuardBytes, kDynamicSharedMax);
  fill_poison(begin_, dynamic_, word_);
  fill_poison(dynamic_, guard_end_, word_);
  fill_poison(dynamic_ + kDynamicSharedMax, end_, word_);
}

std::string SharedSegment::overrun() const {
  if (!dynamic_) return {};
  const std::byte* first = find_damage(guard_begin_, guard_end_, dynamic_, word_);
  if (!first) return {};
  return fmt::format("wrote {} bytes past its {} bytes of dynamic shared memory",
                     first - guard_begin_ + 1, guard_begin_ - dynamic_);
}

}  // namespace exactk::host_device
