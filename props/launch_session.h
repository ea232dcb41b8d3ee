// One case on one kernel and one device: guarded buffers, and launches in the case's launch mode.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/buffer.h"
#include "kernels/device/device.h"
#include "props/device_fill.h"
#include "props/operation.h"

namespace exactk::props {

// Bytes that the device holds for a case, guards included.
int64_t device_bytes(const Operation& operation, int64_t workspace_bytes);

// "5.2 GiB"
std::string bytes_text(int64_t bytes);

// What one launch left behind.
struct LaunchResult {
  std::vector<Bytes> outputs;  // by tensor; inputs are empty
  // What the device says that it read, per row; empty where the host uploaded the logits.
  std::vector<uint64_t> row_checksums;
  std::string damage;  // empty, or one sentence: which buffer's guards or inputs were changed
};

class LaunchSession {
 public:
  // Allocates; an error is one sentence. `operation` outlives the session. `first`: the inputs of
  // the first launch.
  static kernels::Result<std::unique_ptr<LaunchSession>> open(kernels::Device& device,
                                                              const Operation& operation,
                                                              fixtures::LaunchMode mode,
                                                              const StepInputs& first,
                                                              LogitsFrom from);
  ~LaunchSession();

  // Brings what the next launch reads. `before`: outputs by tensor; `workspace` empty: the
  // workspace stays as the last launch left it.
  kernels::Result<void> feed(const StepInputs& inputs, const std::vector<Bytes>& before,
                             std::span<const std::byte> workspace);

  // Launches in the session's mode: direct or stream calls the kernel; graph captures at the first
  // call and replays the one graph at every call.
  kernels::Result<LaunchResult> launch(const StepInputs& fed);

  // The same call `times` in a row, without a wait in between and without looking at what it did.
  // In graph mode all of them are nodes of one graph, as the layers of a step are: a session serves
  // either this, always with the same `times`, or launch().
  kernels::Result<void> call_unchecked(int times);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  const Call& call() const { return *call_; }
  kernels::Device::GraphNodes graph_nodes() const { return nodes_; }

 private:
  LaunchSession(kernels::Device& device, const Operation& operation, fixtures::LaunchMode mode);
  kernels::Result<void> allocate();
  kernels::Result<void> upload_outputs();
  kernels::Result<void> call_kernel(int times);
  kernels::Result<void> capture(int calls);
  kernels::Result<void> run(int calls);
  kernels::Result<std::string> find_damage(const StepInputs& fed);
  kernels::Result<std::string> find_broken_guard(const std::string& name,
                                                 kernels::GuardedBuffer& buffer);
  kernels::Result<std::string> find_changed_inputs(const StepInputs& fed);
  kernels::Result<void> download(LaunchResult& result);

  kernels::Device& device_;
  const Operation& operation_;
  fixtures::LaunchMode mode_;
  std::unique_ptr<Call> call_;
  void* stream_ = nullptr;
  int64_t workspace_bytes_ = 0;
  std::string refused_;  // why no launch can be fed: the kernel asks for no possible workspace
  bool captured_ = false;
  std::vector<Bytes> before_;
  kernels::Device::GraphNodes nodes_;
  std::unique_ptr<DeviceFill> device_fill_;  // null: the host uploads everything
  std::vector<std::unique_ptr<kernels::GuardedBuffer>> buffers_;  // by tensor; null: no bytes
  std::unique_ptr<kernels::GuardedBuffer> workspace_;
};

}  // namespace exactk::props
