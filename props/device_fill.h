// Logits that the device fills by itself, and the checksums that tell a wrong fill or a wrong copy
// from a wrong kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/device/buffer.h"
#include "kernels/device/device.h"
#include "kernels/fill/fill.h"
#include "props/topk_problem.h"

namespace exactk::props {

class DeviceFill {
 public:
  static kernels::Result<std::unique_ptr<DeviceFill>> make(kernels::Device& device,
                                                           const TopkProblem& problem);

  // Fills `logits` with what the TopkInputs say, overrides included, and waits until it is done.
  kernels::Result<void> fill(const StepInputs& inputs, kernels::GuardedBuffer& logits,
                             void* stream);

  // fixtures::checksum() of each row's columns [0, width) as the fill left them.
  std::span<const uint64_t> row_checksums() const { return row_checksums_; }

  // Whether every word of `logits`, gaps included, is still what the fill left.
  kernels::Result<bool> unchanged(const kernels::GuardedBuffer& logits, void* stream);

  // fixtures::checksum() of `words` on the device.
  kernels::Result<uint64_t> checksum_of(const void* words, int64_t count, void* stream);

 private:
  DeviceFill(kernels::Device& device, const TopkProblem& problem)
      : device_(device), problem_(problem) {}
  kernels::Result<void> upload_overrides(kernels::GuardedBuffer& logits);

  kernels::Device& device_;
  TopkProblem problem_;
  kernels::FillFunctions functions_;
  std::unique_ptr<kernels::GuardedBuffer> row_starts_, row_lengths_, row_sums_, word_sum_;
  std::vector<uint64_t> row_checksums_;
  uint64_t tensor_checksum_ = 0;
};

}  // namespace exactk::props
