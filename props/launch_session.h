// One case on one kernel and one device: guarded buffers, and launches in the case's launch mode.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fixtures/case.h"
#include "kernels/abi/exactk_abi.h"
#include "kernels/device/buffer.h"
#include "kernels/device/device.h"
#include "props/device_fill.h"
#include "props/inputs.h"

namespace exactk::props {

// Bytes that the device holds for a case, guards included.
int64_t device_bytes(const fixtures::Case& c, int64_t workspace_bytes);

// "5.2 GiB"
std::string bytes_text(int64_t bytes);

// The descriptor of a case without pointers: what `supports` and `workspace_bytes` are asked with.
// `tuning` must outlive the descriptor.
exactk_topk_tuning tuning_of(const fixtures::Case& c);
exactk_topk_decode descriptor_of(const fixtures::Case& c, const exactk_topk_tuning& tuning);

// What one launch left behind.
struct LaunchResult {
  std::vector<int32_t> output;         // the whole output tensor, gaps included
  std::vector<int32_t> active_blocks;  // [rows]; kNotReported where the kernel wrote nothing
  // What the device says that it read, per row; empty where the host uploaded the logits.
  std::vector<uint64_t> row_checksums;
  std::string damage;  // empty, or one sentence: which buffer's guards or inputs were changed
};
inline constexpr int32_t kNotReported = INT32_MIN;

class LaunchSession {
 public:
  // Allocates; an error is one sentence. `hint` is the largest row length known when the kernel is
  // first called.
  static kernels::Result<std::unique_ptr<LaunchSession>> open(kernels::Device& device,
                                                              const fixtures::Case& c,
                                                              const exactk_kernel& kernel,
                                                              int64_t hint, LogitsFrom from);
  ~LaunchSession();

  // Brings what the next launch reads; `workspace` empty: the workspace stays as the last launch
  // left it.
  kernels::Result<void> feed(const StepInputs& inputs, std::span<const int32_t> output_before,
                             std::span<const std::byte> workspace);

  // Launches in the case's mode: direct or stream calls the kernel; graph captures at the first
  // call and replays the one graph at every call.
  kernels::Result<LaunchResult> launch(const StepInputs& fed);

  // The same launch, `times` in a row without a wait in between, and without looking at what it
  // did.
  kernels::Result<void> launch_unchecked(int times);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  const exactk_topk_report& report() const { return report_; }
  kernels::Device::GraphNodes graph_nodes() const { return nodes_; }

 private:
  LaunchSession(kernels::Device& device, const fixtures::Case& c, const exactk_kernel& kernel);
  kernels::Result<void> allocate();
  kernels::Result<void> call_kernel();
  kernels::Result<void> run_once();
  kernels::Result<std::string> find_damage(const StepInputs& fed);
  kernels::Result<std::string> find_changed_inputs(const StepInputs& fed);
  kernels::Result<void> download(LaunchResult& result);

  kernels::Device& device_;
  fixtures::Case case_;
  const exactk_kernel& kernel_;
  exactk_topk_tuning tuning_{};
  exactk_topk_report report_{};
  exactk_topk_decode descriptor_{};
  int64_t workspace_bytes_ = 0;
  bool captured_ = false;
  std::vector<int32_t> output_before_;
  kernels::Device::GraphNodes nodes_;
  std::unique_ptr<DeviceFill> device_fill_;  // null: the host uploads the logits
  std::unique_ptr<kernels::GuardedBuffer> logits_, seq_lens_, indices_, workspace_, active_blocks_;
};

}  // namespace exactk::props
