#include "props/launch_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fixtures/checksum.h"
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

LaunchSession::LaunchSession(kernels::Device& device, const Operation& operation,
                             fixtures::LaunchMode mode)
    : device_(device), operation_(operation), mode_(mode) {}

LaunchSession::~LaunchSession() {
  if (captured_) (void)device_.drop_graph();
}

Result<std::unique_ptr<LaunchSession>> LaunchSession::open(kernels::Device& device,
                                                           const Operation& operation,
                                                           fixtures::LaunchMode mode,
                                                           const StepInputs& first,
                                                           LogitsFrom from) {
  std::unique_ptr<LaunchSession> session(new LaunchSession(device, operation, mode));
  session->call_ = operation.call(&first);
  const auto workspace =
      ask_workspace_bytes(*operation.kernel().kernel, session->call_->descriptor());
  session->workspace_bytes_ = workspace.value_or(0);
  if (!workspace) session->refused_ = workspace.error();
  if (auto allocated = session->allocate(); !allocated) return tl::unexpected(allocated.error());
  if (from == LogitsFrom::kDevice) {
    auto fill = operation.device_fill(device);
    if (!fill) return tl::unexpected(fill.error());
    session->device_fill_ = std::move(*fill);
  }
  return session;
}

Result<void> LaunchSession::allocate() {
  Placement at;
  for (const TensorSpec& tensor : operation_.tensors()) {
    buffers_.emplace_back();
    if (tensor.bytes > 0) {
      auto made = make_buffer(device_, tensor.bytes, tensor.misalign_bytes);
      if (!made) return tl::unexpected(made.error());
      buffers_.back() = std::move(*made);
    }
    at.tensors.push_back(tensor.bytes > 0 ? buffers_.back()->data() : nullptr);
  }
  if (workspace_bytes_ > 0) {
    auto made = make_buffer(device_, workspace_bytes_);
    if (!made) return tl::unexpected(made.error());
    workspace_ = std::move(*made);
    at.workspace = workspace_->data();
  }
  at.workspace_bytes = workspace_bytes_;
  stream_ = device_.stream(mode_ == fixtures::LaunchMode::kDirect ? 0 : 1);
  at.stream = stream_;
  call_->place(at);
  return {};
}

Result<void> LaunchSession::feed(const StepInputs& inputs, const std::vector<Bytes>& before,
                                 std::span<const std::byte> workspace) {
  if (!refused_.empty()) return tl::unexpected(refused_);
  const std::vector<TensorSpec>& tensors = operation_.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role != Role::kInput || !buffers_[i]) continue;
    const bool fills = device_fill_ && i == 0;
    auto fed = fills ? device_fill_->fill(inputs, *buffers_[i], stream_)
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

Result<void> LaunchSession::call_kernel(int times) {
  for (int i = 0; i < times; ++i) {
    if (auto r = call_launch(*operation_.kernel().kernel, call_->descriptor()); !r) return r;
  }
  return {};
}

Result<void> LaunchSession::capture(int calls) {
  if (auto r = device_.begin_capture(stream_); !r) return r;
  auto called = call_kernel(calls);
  auto ended = device_.end_capture(stream_);
  if (!called) return called;
  if (!ended) return ended;
  captured_ = true;
  nodes_ = device_.graph_nodes();
  if (nodes_.all() == 0) {
    return tl::unexpected(kernels::Error(
        "the captured graph is empty: the launch did its work at once, or on another "
        "stream than the one that it was given"));
  }
  // What the call did by itself must not be taken for the work of the replay.
  return upload_outputs();
}

// Calls the kernel, or replays the graph that holds so many calls.
Result<void> LaunchSession::run(int calls) {
  if (mode_ != fixtures::LaunchMode::kGraph) return call_kernel(calls);
  if (!captured_) {
    if (auto r = capture(calls); !r) return r;
  }
  return device_.replay(stream_);
}

Result<void> LaunchSession::call_unchecked(int times) {
  if (auto r = run(times); !r) return r;
  return device_.synchronize(stream_);
}

Result<LaunchResult> LaunchSession::launch(const StepInputs& fed) {
  // Repeated replays follow each other without a wait in between, as in a serving loop.
  const bool twice = mode_ == fixtures::LaunchMode::kGraph && operation_.value().repeats > 1;
  for (int i = 0; i < (twice ? 2 : 1); ++i) {
    if (auto r = run(1); !r) return tl::unexpected(r.error());
  }
  if (auto r = device_.synchronize(stream_); !r) return tl::unexpected(r.error());
  LaunchResult result;
  if (auto r = download(result); !r) return tl::unexpected(r.error());
  auto damage = find_damage(fed);
  if (!damage) return tl::unexpected(damage.error());
  result.damage = std::move(*damage);
  return result;
}

Result<void> LaunchSession::download(LaunchResult& result) {
  result.outputs.resize(buffers_.size());
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (operation_.tensors()[i].role != Role::kOutput || !buffers_[i]) continue;
    Bytes& output = result.outputs[i];
    output.resize(static_cast<size_t>(buffers_[i]->bytes()));
    if (auto r = buffers_[i]->download(output); !r) return r;
    if (!device_fill_ || output.size() % 4 != 0) continue;
    const int64_t words = static_cast<int64_t>(output.size() / 4);
    const auto there = device_fill_->checksum_of(buffers_[i]->data(), words, stream_);
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

Result<std::string> LaunchSession::find_damage(const StepInputs& fed) {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (!buffers_[i]) continue;
    auto broken = find_broken_guard(operation_.tensors()[i].name, *buffers_[i]);
    if (!broken || !broken->empty()) return broken;
  }
  if (workspace_) {
    auto broken = find_broken_guard("workspace", *workspace_);
    if (!broken || !broken->empty()) return broken;
  }
  return find_changed_inputs(fed);
}

Result<std::string> LaunchSession::find_changed_inputs(const StepInputs& fed) {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (operation_.tensors()[i].role != Role::kInput || !buffers_[i]) continue;
    const bool filled = device_fill_ && i == 0;
    auto same = filled ? device_fill_->unchanged(*buffers_[i], stream_)
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
