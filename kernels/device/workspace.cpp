#include "kernels/device/workspace.h"

#include <fmt/format.h>

namespace exactk::kernels {

Workspace::~Workspace() {
  for (std::byte* buffer : buffers_) static_cast<void>(device_.release(buffer));
}

Result<std::vector<std::byte*>> Workspace::get_simultaneous(std::span<const int64_t> bytes) {
  std::vector<int64_t> offsets;
  int64_t needed = 0;
  for (const int64_t view : bytes) {
    if (view < 0) return tl::unexpected(fmt::format("a workspace view cannot have {} bytes", view));
    offsets.push_back(needed);
    needed += view + (kAlignBytes - view % kAlignBytes) % kAlignBytes;
  }
  if (needed > bytes_) {
    if (locked_) {
      return tl::unexpected(fmt::format(
          "the workspace is locked with {} bytes, and {} are needed; ask for them before "
          "it is locked",
          bytes_, needed));
    }
    const Result<void*> memory = device_.allocate(needed);
    if (!memory) return tl::unexpected(memory.error());
    buffers_.push_back(static_cast<std::byte*>(*memory));
    bytes_ = needed;
  }
  std::vector<std::byte*> views;
  std::byte* const start = buffers_.empty() ? nullptr : buffers_.back();
  for (const int64_t offset : offsets) views.push_back(start + offset);
  return views;
}

}  // namespace exactk::kernels
