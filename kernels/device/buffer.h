// Device memory with guards: bytes before and after the payload that nobody may change, compared
// exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/device/device.h"

namespace exactk::kernels {

struct GuardDamage {
  int64_t bytes = 0;         // guard bytes that changed; 0: intact
  int64_t first_offset = 0;  // offset of the first one from the payload's start, negative before it
};

// Owns [guard | payload | guard]; move-only. The payload starts at a 256-byte boundary plus
// `misalign_bytes`; the guard after it starts at the very next byte. Guards hold a NaN-like pattern
// that depends on the offset.
class GuardedBuffer {
 public:
  static constexpr int64_t kGuardBytes = 4096;
  static Result<GuardedBuffer> make(Device& device, int64_t payload_bytes,
                                    int64_t misalign_bytes = 0);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  std::byte* data() const;  // device pointer of the payload
  int64_t bytes() const;
  Result<void> upload(std::span<const std::byte> from);  // the whole payload or its beginning
  Result<void> download(std::span<std::byte> to) const;
  Result<GuardDamage> check_guards() const;  // both sides
  Result<void> restore_guards();

 private:
  GuardedBuffer() = default;
  Device* device_ = nullptr;
  std::byte* base_ = nullptr;
  int64_t lead_bytes_ = 0;  // base to payload
  int64_t payload_bytes_ = 0;
};

}  // namespace exactk::kernels
