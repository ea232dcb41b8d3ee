#include "kernels/device/buffer.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace exactk::kernels {
namespace {

constexpr int64_t kAlignBytes = 256;

// The guard byte at a place of the whole allocation. Four of them are a NaN, and as an index far
// out of range; none is 0x00 or 0xff, so that a stray zero or -1 always shows, even a single byte
// of it.
std::byte guard_byte(int64_t place) {
  auto hash = static_cast<uint64_t>(place / 4) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  switch (place % 4) {
    case 3:
      return std::byte{0x7f};
    case 2:
      return static_cast<std::byte>(0xc1 + hash % 0x3d);
    case 1:
      return static_cast<std::byte>(1 + (hash >> 8) % 0xfd);
    default:
      return static_cast<std::byte>(1 + (hash >> 24) % 0xfd);
  }
}

std::vector<std::byte> guard(int64_t begin, int64_t end) {
  std::vector<std::byte> bytes(static_cast<size_t>(end - begin));
  for (int64_t place = begin; place < end; ++place)
    bytes[static_cast<size_t>(place - begin)] = guard_byte(place);
  return bytes;
}

}  // namespace

Result<GuardedBuffer> GuardedBuffer::make(Device& device, int64_t payload_bytes,
                                          int64_t misalign_bytes) {
  if (payload_bytes < 0)
    return tl::unexpected(fmt::format("a buffer cannot have {} bytes", payload_bytes));
  if (misalign_bytes < 0 || misalign_bytes >= kAlignBytes) {
    return tl::unexpected(fmt::format("a buffer cannot be misaligned by {} bytes; use 0 to {}",
                                      misalign_bytes, kAlignBytes - 1));
  }
  const int64_t lead_bytes = kGuardBytes + misalign_bytes;
  const Result<void*> memory = device.allocate(lead_bytes + payload_bytes + kGuardBytes);
  if (!memory) return tl::unexpected(memory.error());
  GuardedBuffer buffer;
  buffer.device_ = &device;
  buffer.base_ = static_cast<std::byte*>(*memory);
  buffer.lead_bytes_ = lead_bytes;
  buffer.payload_bytes_ = payload_bytes;
  const Result<void> done = buffer.restore_guards();
  if (!done) return tl::unexpected(done.error());
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : device_(other.device_),
      base_(std::exchange(other.base_, nullptr)),
      lead_bytes_(other.lead_bytes_),
      payload_bytes_(std::exchange(other.payload_bytes_, 0)) {}

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(base_, other.base_);
  std::swap(lead_bytes_, other.lead_bytes_);
  std::swap(payload_bytes_, other.payload_bytes_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (base_) static_cast<void>(device_->release(base_));
}

std::byte* GuardedBuffer::data() const {
  return base_ + lead_bytes_;
}

int64_t GuardedBuffer::bytes() const {
  return payload_bytes_;
}

Result<void> GuardedBuffer::upload(std::span<const std::byte> from) {
  const auto bytes = static_cast<int64_t>(from.size());
  if (bytes > payload_bytes_) {
    return tl::unexpected(
        fmt::format("cannot upload {} bytes to a buffer of {}", bytes, payload_bytes_));
  }
  return device_->upload(data(), from.data(), bytes);
}

Result<void> GuardedBuffer::download(std::span<std::byte> to) const {
  const auto bytes = static_cast<int64_t>(to.size());
  if (bytes > payload_bytes_) {
    return tl::unexpected(
        fmt::format("cannot download {} bytes from a buffer of {}", bytes, payload_bytes_));
  }
  return device_->download(to.data(), data(), bytes);
}

Result<GuardDamage> GuardedBuffer::check_guards() const {
  GuardDamage damage;
  const int64_t after = lead_bytes_ + payload_bytes_;
  for (const auto& [begin, end] :
       {std::pair{int64_t{0}, lead_bytes_}, std::pair{after, after + kGuardBytes}}) {
    std::vector<std::byte> found(static_cast<size_t>(end - begin));
    const Result<void> done = device_->download(found.data(), base_ + begin, end - begin);
    if (!done) return tl::unexpected(done.error());
    for (int64_t place = begin; place < end; ++place) {
      if (found[static_cast<size_t>(place - begin)] == guard_byte(place)) continue;
      if (damage.bytes++ == 0) damage.first_offset = place - lead_bytes_;
    }
  }
  return damage;
}

Result<void> GuardedBuffer::restore_guards() {
  const int64_t after = lead_bytes_ + payload_bytes_;
  for (const auto& [begin, end] :
       {std::pair{int64_t{0}, lead_bytes_}, std::pair{after, after + kGuardBytes}}) {
    const std::vector<std::byte> bytes = guard(begin, end);
    const Result<void> done = device_->upload(base_ + begin, bytes.data(), end - begin);
    if (!done) return done;
  }
  return {};
}

}  // namespace exactk::kernels
