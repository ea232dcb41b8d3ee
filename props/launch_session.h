// One case on one kernel and one device: guarded buffers, and launches on streams and by a graph.
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

// What the kernel asks for, over all launches of the case: it may depend on what a host knows.
kernels::Result<int64_t> workspace_bytes(const Operation& operation);

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
  // Allocates; an error is one sentence. `operation` outlives the session.
  static kernels::Result<std::unique_ptr<LaunchSession>> open(kernels::Device& device,
                                                              const Operation& operation,
                                                              int64_t workspace_bytes,
                                                              LogitsFrom from);
  ~LaunchSession();

  // Brings what the next launch reads; the device fills logits on `stream`, a number as in
  // Device::stream(). `before`: outputs by tensor; `workspace` empty: the workspace stays as the
  // last launch left it.
  kernels::Result<void> feed(const StepInputs& inputs, const std::vector<Bytes>& before,
                             std::span<const std::byte> workspace, int stream);

  // The three ways to launch, on a stream. A call is made with what a host knows at launch
  // `known`; capture() keeps it in the graph, in place of the one before, and replays it.
  kernels::Result<LaunchResult> call(int stream, int64_t known, const StepInputs& fed);
  kernels::Result<LaunchResult> capture(int stream, int64_t known, const StepInputs& fed);
  kernels::Result<LaunchResult> replay(int stream, const StepInputs& fed);

  // The first launch's call `times` in a row, in a launch mode, without a wait in between and
  // without looking at what it did. In graph mode all of them are nodes of one graph, as the layers
  // of a step are, captured by the first of these calls: always with the same `times`, and in a
  // session that does nothing else.
  kernels::Result<void> call_unchecked(fixtures::LaunchMode mode, int times);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  // Of the last launch; its nodes, where it was a replay.
  const Call& last_call() const { return *last_call_; }
  kernels::Device::GraphNodes graph_nodes() const;

 private:
  LaunchSession(kernels::Device& device, const Operation& operation, int64_t workspace_bytes);
  kernels::Result<void> allocate();
  kernels::Result<void> upload_outputs();
  std::shared_ptr<Call> make_call(int stream, int64_t known) const;
  kernels::Result<void> call_kernel(const Call& call, int times);
  kernels::Result<void> capture_calls(int stream, int64_t known, int times);
  kernels::Result<LaunchResult> finish(int stream, const StepInputs& fed);
  kernels::Result<std::string> find_damage(const StepInputs& fed, int stream);
  kernels::Result<std::string> find_broken_guard(const std::string& name,
                                                 kernels::GuardedBuffer& buffer);
  kernels::Result<std::string> find_changed_inputs(const StepInputs& fed, int stream);
  kernels::Result<void> download(LaunchResult& result, int stream);

  kernels::Device& device_;
  const Operation& operation_;
  Placement place_;
  // A captured call stays as long as its graph, which may write through its report.
  std::shared_ptr<Call> last_call_, captured_call_;
  int64_t workspace_bytes_ = 0;
  std::vector<Bytes> before_;
  std::unique_ptr<DeviceFill> device_fill_;  // null: the host uploads everything
  std::vector<std::unique_ptr<kernels::GuardedBuffer>> buffers_;  // by tensor; null: no bytes
  std::unique_ptr<kernels::GuardedBuffer> workspace_;
};

}  // namespace exactk::props
