// Kernels that run as plain C++ at the call of launch(), on the host device's memory: right ones
// and wrong ones, to test the runner with. Captured into a graph they do nothing at replay, which
// is a fault of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/abi/exactk_abi.h"
#include "props/kernel_under_test.h"

namespace exactk::tests {

// What a fake does with one row: its visible logits, and its k slots.
using RowBody = std::function<void(const exactk_topk_decode& d, int64_t row,
                                   std::span<const uint32_t> logits, std::span<int32_t> slots)>;

// The exact stable answer: best min(k, L) by bit order, ascending columns, then -1.
void right_row(const exactk_topk_decode& d, int64_t row, std::span<const uint32_t> logits,
               std::span<int32_t> slots);

// One fake at a time: the ABI carries no user pointer.
class FakeKernel {
 public:
  explicit FakeKernel(RowBody body, uint32_t modes = EXACTK_MODE_SET | EXACTK_MODE_PREFIX);
  ~FakeKernel();
  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;

  props::KernelUnderTest under_test() const;
  exactk_kernel kernel{};
  std::function<exactk_status(const exactk_topk_decode&, char*, size_t)> supports;
  std::function<exactk_status(const exactk_topk_decode&, char*, size_t)>
      launch;  // instead of the row body
  int64_t workspace_bytes = 0;
  RowBody body;
};

}  // namespace exactk::tests
