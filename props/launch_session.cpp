#include "props/launch_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fixtures/checksum.h"
#include "fixtures/session.h"
#include "props/internal_error.h"
#include "props/kernel_call.h"

namespace exactk::props {
namespace {

using kernels::GuardedBuffer;
using kernels::Result;

Result<std::unique_ptr<GuardedBuffer>> make_buffer(kernels::Device& device, int64_t bytes,
                                                   int64_t misalign_bytes = 0) {
  auto made = GuardedBuffer::make(device, bytes, misalign_bytes);
  if (!made) return tl::unexpected(made.error());
  return std::make_unique<GuardedBuffer>(std::move(*made));
}

// Whether the device still holds exactly `want`; compared in pieces, so that a big tensor needs no
// second copy.
Result<bool> holds(kernels::Device& device, const GuardedBuffer& buffer,
                   std::span<const std::byte> want) {
  constexpr int64_t kPieceBytes = int64_t{8} << 20;
  std::vector<std::byte> piece(static_cast<size_t>(std::min<int64_t>(kPieceBytes, buffer.bytes())));
  for (int64_t at = 0; at < static_cast<int64_t>(want.size()); at += kPieceBytes) {
    const int64_t bytes = std::min<int64_t>(kPieceBytes, static_cast<int64_t>(want.size()) - at);
    auto copied = device.download(piece.data(), buffer.data() + at, bytes);
    if (!copied) return tl::unexpected(copied.error());
    if (std::memcmp(piece.data(), want.data() + at, static_cast<size_t>(bytes)) != 0) return false;
  }
  return true;
}

}  // namespace

std::string bytes_text(int64_t bytes) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  if (bytes >= (int64_t{1} << 30) / 10)
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

int64_t device_bytes(const Operation& operation, int64_t workspace_bytes) {
  int64_t bytes = workspace_bytes + 3 * GuardedBuffer::kGuardBytes;
  for (const TensorSpec& tensor : operation.tensors())
    bytes += tensor.bytes + 3 * GuardedBuffer::kGuardBytes;
  return bytes;
}

Result<int64_t> workspace_bytes(const Operation& operation) {
  int64_t most = 0;
  for (int64_t launch = 0; launch < fixtures::launch_count(operation.value()); ++launch) {
    const std::unique_ptr<Call> call = operation.call(launch);
    const auto asked = ask_workspace_bytes(*operation.kernel().kernel, call->descriptor());
    if (!asked) return asked;
    most = std::max(most, *asked);
  }
  return most;
}

LaunchSession::LaunchSession(kernels::Device& device, const Operation& operation,
                             int64_t workspace_bytes)
    : device_(device), operation_(operation), workspace_bytes_(workspace_bytes) {}

LaunchSession::~LaunchSession() {
  if (captured_call_) (void)device_.drop_graph();
}

Result<std::unique_ptr<LaunchSession>> LaunchSession::open(kernels::Device& device,
                                                           const Operation& operation,
                                                           int64_t workspace_bytes,
                                                           LogitsFrom from) {
  std::unique_ptr<LaunchSession> session(new LaunchSession(device, operation, workspace_bytes));
  if (auto allocated = session->allocate(); !allocated) return tl::unexpected(allocated.error());
  if (from == LogitsFrom::kDevice) {
    auto fill = operation.device_fill(device);
    if (!fill) return tl::unexpected(fill.error());
    session->device_fill_ = std::move(*fill);
  }
  return session;
}

Result<void> LaunchSession::allocate() {
  for (const TensorSpec& tensor : operation_.tensors()) {
    buffers_.emplace_back();
    if (tensor.bytes > 0) {
      auto made = make_buffer(device_, tensor.bytes, tensor.misalign_bytes);
      if (!made) return tl::unexpected(made.error());
      buffers_.back() = std::move(*made);
    }
    place_.tensors.push_back(tensor.bytes > 0 ? buffers_.back()->data() : nullptr);
  }
  if (workspace_bytes_ > 0) {
    auto made = make_buffer(device_, workspace_bytes_);
    if (!made) return tl::unexpected(made.error());
    workspace_ = std::move(*made);
    place_.workspace = workspace_->data();
  }
  place_.workspace_bytes = workspace_bytes_;
  return {};
}

Result<void> LaunchSession::feed(const StepInputs& inputs, const std::vector<Bytes>& before,
                                 std::span<const std::byte> workspace, int stream) {
  const std::vector<TensorSpec>& tensors = operation_.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role != Role::kInput || !buffers_[i]) continue;
    const bool fills = device_fill_ && i == 0;
    auto fed = fills ? device_fill_->fill(inputs, *buffers_[i], device_.stream(stream))
                     : buffers_[i]->upload(inputs.bytes(i));
    if (!fed) return fed;
  }
  before_ = before;
  if (auto r = upload_outputs(); !r) return r;
  if (workspace_ && !workspace.empty()) return workspace_->upload(workspace);
  return {};
}

Result<void> LaunchSession::upload_outputs() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (operation_.tensors()[i].role != Role::kOutput || !buffers_[i]) continue;
    if (auto r = buffers_[i]->upload(before_[i]); !r) return r;
  }
  return {};
}

std::shared_ptr<Call> LaunchSession::make_call(int stream, int64_t known) const {
  std::shared_ptr<Call> call = operation_.call(known);
  Placement at = place_;
  at.stream = device_.stream(stream);
  call->place(at);
  return call;
}

Result<void> LaunchSession::call_kernel(const Call& call, int times) {
  for (int i = 0; i < times; ++i) {
    if (auto r = call_launch(*operation_.kernel().kernel, call.descriptor()); !r) return r;
  }
  return {};
}

Result<void> LaunchSession::capture_calls(int stream, int64_t known, int times) {
  if (captured_call_) (void)device_.drop_graph();
  captured_call_ = nullptr;
  std::shared_ptr<Call> call = make_call(stream, known);
  if (auto r = device_.begin_capture(device_.stream(stream)); !r) return r;
  auto called = call_kernel(*call, times);
  auto ended = device_.end_capture(device_.stream(stream));
  if (!called) return called;
  if (!ended) return ended;
  captured_call_ = std::move(call);
  if (device_.graph_nodes().all() == 0) {
    return tl::unexpected(kernels::Error(
        "the captured graph is empty: the launch did its work at once, or on another "
        "stream than the one that it was given"));
  }
  return {};
}

Result<LaunchResult> LaunchSession::call(int stream, int64_t known, const StepInputs& fed) {
  last_call_ = make_call(stream, known);
  if (auto r = call_kernel(*last_call_, 1); !r) return tl::unexpected(r.error());
  return finish(stream, fed);
}

Result<LaunchResult> LaunchSession::capture(int stream, int64_t known, const StepInputs& fed) {
  if (auto r = capture_calls(stream, known, 1); !r) return tl::unexpected(r.error());
  // What the call did by itself must not be taken for the work of the replay.
  if (auto r = upload_outputs(); !r) return tl::unexpected(r.error());
  return replay(stream, fed);
}

Result<LaunchResult> LaunchSession::replay(int stream, const StepInputs& fed) {
  last_call_ = captured_call_;
  // Repeated replays follow each other without a wait in between, as in a serving loop.
  const int replays = operation_.value().repeats > 1 ? 2 : 1;
  for (int i = 0; i < replays; ++i) {
    if (auto r = device_.replay(device_.stream(stream)); !r) return tl::unexpected(r.error());
  }
  return finish(stream, fed);
}

Result<void> LaunchSession::call_unchecked(fixtures::LaunchMode mode, int times) {
  const int stream = mode == fixtures::LaunchMode::kDirect ? 0 : 1;
  if (mode != fixtures::LaunchMode::kGraph) {
    if (!last_call_) last_call_ = make_call(stream, 0);
    if (auto r = call_kernel(*last_call_, times); !r) return r;
  } else {
    if (!captured_call_) {
      if (auto r = capture_calls(stream, 0, times); !r) return r;
    }
    if (auto r = device_.replay(device_.stream(stream)); !r) return r;
  }
  return device_.synchronize(device_.stream(stream));
}

kernels::Device::GraphNodes LaunchSession::graph_nodes() const {
  return captured_call_ && last_call_ == captured_call_ ? device_.graph_nodes()
                                                        : kernels::Device::GraphNodes{};
}

Result<LaunchResult> LaunchSession::finish(int stream, const StepInputs& fed) {
  if (auto r = device_.synchronize(device_.stream(stream)); !r) return tl::unexpected(r.error());
  LaunchResult result;
  if (auto r = download(result, stream); !r) return tl::unexpected(r.error());
  auto damage = find_damage(fed, stream);
  if (!damage) return tl::unexpected(damage.error());
  result.damage = std::move(*damage);
  return result;
}

Result<void> LaunchSession::download(LaunchResult& result, int stream) {
  result.outputs.resize(buffers_.size());
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (operation_.tensors()[i].role != Role::kOutput || !buffers_[i]) continue;
    Bytes& output = result.outputs[i];
    output.resize(static_cast<size_t>(buffers_[i]->bytes()));
    if (auto r = buffers_[i]->download(output); !r) return r;
    if (!device_fill_ || output.size() % 4 != 0) continue;
    const int64_t words = static_cast<int64_t>(output.size() / 4);
    const auto there =
        device_fill_->checksum_of(buffers_[i]->data(), words, device_.stream(stream));
    if (!there) return tl::unexpected(there.error());
    if (*there != fixtures::checksum(reinterpret_cast<const uint32_t*>(output.data()), words))
      throw InternalError("an output changed on its way from the device to the host");
  }
  if (!device_fill_) return {};
  const auto sums = device_fill_->row_checksums();
  result.row_checksums.assign(sums.begin(), sums.end());
  return {};
}

Result<std::string> LaunchSession::find_broken_guard(const std::string& name,
                                                     GuardedBuffer& buffer) {
  auto damage = buffer.check_guards();
  if (!damage) return tl::unexpected(damage.error());
  if (damage->bytes == 0) return std::string();
  if (auto r = buffer.restore_guards(); !r) return tl::unexpected(r.error());
  const bool before = damage->first_offset < 0;
  return fmt::format("{} guard bytes around {} were written, the first {} bytes {} its {}",
                     damage->bytes, name,
                     before ? -damage->first_offset : damage->first_offset - buffer.bytes(),
                     before ? "before" : "past", before ? "start" : "end");
}

Result<std::string> LaunchSession::find_damage(const StepInputs& fed, int stream) {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (!buffers_[i]) continue;
    auto broken = find_broken_guard(operation_.tensors()[i].name, *buffers_[i]);
    if (!broken || !broken->empty()) return broken;
  }
  if (workspace_) {
    auto broken = find_broken_guard("workspace", *workspace_);
    if (!broken || !broken->empty()) return broken;
  }
  return find_changed_inputs(fed, stream);
}

Result<std::string> LaunchSession::find_changed_inputs(const StepInputs& fed, int stream) {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (operation_.tensors()[i].role != Role::kInput || !buffers_[i]) continue;
    const bool filled = device_fill_ && i == 0;
    auto same = filled ? device_fill_->unchanged(*buffers_[i], device_.stream(stream))
                       : holds(device_, *buffers_[i], fed.bytes(i));
    if (!same) return tl::unexpected(same.error());
    if (!*same) {
      return fmt::format("the {}, an input, were changed by the launch",
                         operation_.tensors()[i].name);
    }
  }
  return std::string();
}

}  // namespace exactk::props
