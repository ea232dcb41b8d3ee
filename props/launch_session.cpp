#include "props/launch_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fixtures/checksum.h"
#include "fixtures/materialize.h"
#include "props/internal_error.h"

namespace exactk::props {
namespace {

using fixtures::Case;
using kernels::GuardedBuffer;
using kernels::Result;

constexpr size_t kMessageBytes = 512;
constexpr int kGuardedBuffers = 5;

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

int64_t device_bytes(const Case& c, int64_t workspace_bytes) {
  const int64_t elements = fixtures::logits_elems(c) + fixtures::output_elems(c) + 2 * c.rows;
  return elements * 4 + workspace_bytes + kGuardedBuffers * 3 * GuardedBuffer::kGuardBytes;
}

exactk_topk_tuning tuning_of(const Case& c) {
  exactk_topk_tuning t{};
  t.struct_size = sizeof(t);
  t.radix_width = c.tune.radix_width;
  t.split_width = c.tune.split_width;
  t.split_blocks = c.tune.split_blocks;
  t.policy_shift = c.tune.policy_shift;
  t.min_chunk = c.tune.min_chunk;
  t.final_items = c.tune.final_items;
  t.insertion_items = c.tune.insertion_items;
  t.block_threads = c.tune.block_threads;
  return t;
}

exactk_topk_decode descriptor_of(const Case& c, const exactk_topk_tuning& tuning) {
  exactk_topk_decode d{};
  d.struct_size = sizeof(d);
  d.seq_lens_dim = c.lens_dim;
  d.rows = c.rows;
  d.next_n = c.next_n;
  d.width = c.width;
  d.k = c.k;
  d.row_stride_elems = fixtures::row_stride_elems(c);
  d.column_stride_elems = c.column_stride;
  d.out_stride_elems = fixtures::out_stride_elems(c);
  d.arch = fixtures::name(c.arch).data();
  d.max_seq_len_hint = c.width;
  d.tuning = &tuning;
  return d;
}

LaunchSession::LaunchSession(kernels::Device& device, const Case& c, const exactk_kernel& kernel)
    : device_(device), case_(c), kernel_(kernel), tuning_(tuning_of(c)) {}

LaunchSession::~LaunchSession() {
  if (captured_) (void)device_.drop_graph();
}

Result<std::unique_ptr<LaunchSession>> LaunchSession::open(kernels::Device& device, const Case& c,
                                                           const exactk_kernel& kernel,
                                                           int64_t hint, LogitsFrom from) {
  std::unique_ptr<LaunchSession> session(new LaunchSession(device, c, kernel));
  session->descriptor_ = descriptor_of(session->case_, session->tuning_);
  session->descriptor_.max_seq_len_hint = hint;
  session->workspace_bytes_ = kernel.workspace_bytes(&session->descriptor_);
  if (auto allocated = session->allocate(); !allocated) return tl::unexpected(allocated.error());
  if (from == LogitsFrom::kDevice) {
    auto fill = DeviceFill::make(device, c);
    if (!fill) return tl::unexpected(fill.error());
    session->device_fill_ = std::move(*fill);
  }
  return session;
}

Result<void> LaunchSession::allocate() {
  const auto place = [&](std::unique_ptr<GuardedBuffer>& slot, int64_t bytes,
                         int64_t misalign_bytes = 0) -> Result<void> {
    auto made = make_buffer(device_, bytes, misalign_bytes);
    if (!made) return tl::unexpected(made.error());
    slot = std::move(*made);
    return {};
  };
  const int64_t requests =
      case_.lens_dim == 1 ? (case_.rows + case_.next_n - 1) / case_.next_n : case_.rows;
  if (auto r = place(logits_, fixtures::logits_elems(case_) * 4, case_.misalign * 4); !r) return r;
  if (auto r = place(seq_lens_, requests * 4); !r) return r;
  if (auto r = place(indices_, fixtures::output_elems(case_) * 4); !r) return r;
  if (auto r = place(active_blocks_, case_.rows * 4); !r) return r;
  if (workspace_bytes_ > 0) {
    if (auto r = place(workspace_, workspace_bytes_); !r) return r;
  }
  report_ = {};
  report_.struct_size = sizeof(report_);
  report_.path = EXACTK_PATH_UNKNOWN;
  report_.active_blocks = reinterpret_cast<int32_t*>(active_blocks_->data());
  descriptor_.logits = reinterpret_cast<const float*>(logits_->data());
  descriptor_.seq_lens = reinterpret_cast<const int32_t*>(seq_lens_->data());
  descriptor_.indices = reinterpret_cast<int32_t*>(indices_->data());
  descriptor_.workspace = workspace_ ? workspace_->data() : nullptr;
  descriptor_.workspace_bytes = workspace_bytes_;
  descriptor_.stream = device_.stream(case_.launch == fixtures::LaunchMode::kDirect ? 0 : 1);
  descriptor_.report = &report_;
  return {};
}

Result<void> LaunchSession::feed(const StepInputs& inputs, std::span<const int32_t> output_before,
                                 std::span<const std::byte> workspace) {
  if (device_fill_) {
    if (auto r = device_fill_->fill(inputs, *logits_, descriptor_.stream); !r) return r;
  } else if (auto r = logits_->upload(std::as_bytes(std::span(inputs.logits))); !r) {
    return r;
  }
  if (auto r = seq_lens_->upload(std::as_bytes(std::span(inputs.seq_lens))); !r) return r;
  output_before_.assign(output_before.begin(), output_before.end());
  if (auto r = indices_->upload(std::as_bytes(output_before)); !r) return r;
  const std::vector<int32_t> not_reported(static_cast<size_t>(case_.rows), kNotReported);
  if (auto r = active_blocks_->upload(std::as_bytes(std::span(not_reported))); !r) return r;
  if (workspace_ && !workspace.empty()) return workspace_->upload(workspace);
  return {};
}

Result<void> LaunchSession::call_kernel() {
  std::array<char, kMessageBytes> message{};
  const exactk_status status = kernel_.launch(&descriptor_, message.data(), message.size());
  if (status == EXACTK_OK) return {};
  return tl::unexpected(fmt::format("the launch returned {}: {}",
                                    status == EXACTK_DECLINED ? "declined" : "an error",
                                    message.data()));
}

Result<void> LaunchSession::run_once() {
  void* stream = descriptor_.stream;
  if (case_.launch != fixtures::LaunchMode::kGraph) return call_kernel();
  if (!captured_) {
    if (auto r = device_.begin_capture(stream); !r) return r;
    auto called = call_kernel();
    auto ended = device_.end_capture(stream);
    if (!called) return called;
    if (!ended) return ended;
    captured_ = true;
    nodes_ = device_.graph_nodes();
    // What the call did by itself must not be taken for the work of the replay.
    if (auto r = indices_->upload(std::as_bytes(std::span(output_before_))); !r) return r;
  }
  return device_.replay(stream);
}

Result<void> LaunchSession::launch_unchecked(int times) {
  for (int i = 0; i < times; ++i) {
    if (auto r = run_once(); !r) return r;
  }
  return device_.synchronize(descriptor_.stream);
}

Result<LaunchResult> LaunchSession::launch(const StepInputs& fed) {
  // Repeated replays follow each other without a wait in between, as in a serving loop.
  const int times = case_.launch == fixtures::LaunchMode::kGraph && case_.repeats > 1 ? 2 : 1;
  if (auto r = launch_unchecked(times); !r) return tl::unexpected(r.error());
  LaunchResult result;
  if (auto r = download(result); !r) return tl::unexpected(r.error());
  auto damage = find_damage(fed);
  if (!damage) return tl::unexpected(damage.error());
  result.damage = std::move(*damage);
  return result;
}

Result<void> LaunchSession::download(LaunchResult& result) {
  result.output.resize(static_cast<size_t>(fixtures::output_elems(case_)));
  result.active_blocks.resize(static_cast<size_t>(case_.rows));
  if (auto r = indices_->download(std::as_writable_bytes(std::span(result.output))); !r) return r;
  if (auto r = active_blocks_->download(std::as_writable_bytes(std::span(result.active_blocks)));
      !r) {
    return r;
  }
  if (!device_fill_) return {};
  const auto sums = device_fill_->row_checksums();
  result.row_checksums.assign(sums.begin(), sums.end());
  const auto there = device_fill_->checksum_of(
      indices_->data(), static_cast<int64_t>(result.output.size()), descriptor_.stream);
  if (!there) return tl::unexpected(there.error());
  const auto* words = reinterpret_cast<const uint32_t*>(result.output.data());
  if (*there != fixtures::checksum(words, static_cast<int64_t>(result.output.size()))) {
    throw InternalError("the output changed on its way from the device to the host");
  }
  return {};
}

Result<std::string> LaunchSession::find_damage(const StepInputs& fed) {
  struct Named {
    const char* name;
    GuardedBuffer* buffer;
  };
  const std::array<Named, kGuardedBuffers> all = {{{"logits", logits_.get()},
                                                   {"seq_lens", seq_lens_.get()},
                                                   {"indices", indices_.get()},
                                                   {"active_blocks", active_blocks_.get()},
                                                   {"workspace", workspace_.get()}}};
  for (const Named& named : all) {
    if (named.buffer == nullptr) continue;
    auto damage = named.buffer->check_guards();
    if (!damage) return tl::unexpected(damage.error());
    if (damage->bytes == 0) continue;
    if (auto r = named.buffer->restore_guards(); !r) return tl::unexpected(r.error());
    const bool before = damage->first_offset < 0;
    return fmt::format(
        "{} guard bytes around {} were written, the first {} bytes {} its {}", damage->bytes,
        named.name, before ? -damage->first_offset : damage->first_offset - named.buffer->bytes(),
        before ? "before" : "past", before ? "start" : "end");
  }
  return find_changed_inputs(fed);
}

Result<std::string> LaunchSession::find_changed_inputs(const StepInputs& fed) {
  auto same_logits = device_fill_ ? device_fill_->unchanged(*logits_, descriptor_.stream)
                                  : holds(device_, *logits_, std::as_bytes(std::span(fed.logits)));
  if (!same_logits) return tl::unexpected(same_logits.error());
  auto same_lens = holds(device_, *seq_lens_, std::as_bytes(std::span(fed.seq_lens)));
  if (!same_lens) return tl::unexpected(same_lens.error());
  if (!*same_logits) return std::string("the logits, an input, were changed by the launch");
  if (!*same_lens) return std::string("the seq_lens, an input, were changed by the launch");
  return std::string();
}

}  // namespace exactk::props
