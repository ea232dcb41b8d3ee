#include "tests/kernels/topk/harness.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "kernels/registry.h"
#include "oracle/row_length.h"
#include "oracle/topk_contract.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

constexpr int32_t kPoison = static_cast<int32_t>(0xa5a5a5a5);
constexpr uint32_t kWins = 0x7fffffffu;  // the best NaN: past the row length and in gaps

enum Buffer { kLogits, kSeqLens, kRowStarts, kRowEnds, kIndices, kActive, kWorkspace };

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

std::string text(const Result<void>& result) {
  return result ? "" : result.error();
}

int64_t row_stride(const Problem& p) {
  return p.row_stride >= 0 ? p.row_stride : p.width * p.column_stride;
}
int64_t out_stride(const Problem& p) {
  return p.out_stride > 0 ? p.out_stride : p.k;
}
int64_t output_elems(const Problem& p) {
  return (p.rows - 1) * out_stride(p) + p.k;
}
int64_t logits_elems(const Problem& p) {
  return (p.rows - 1) * row_stride(p) + (p.width - 1) * p.column_stride + 1;
}
int64_t requests(const Problem& p) {
  return p.seq_lens_dim == 2 ? p.rows : (p.rows + p.next_n - 1) / p.next_n;
}

template <class Descriptor>
Descriptor describe_problem(const Problem& p) {
  Descriptor d{};
  d.struct_size = sizeof(d);
  d.rows = p.rows;
  d.width = p.width;
  d.k = p.k;
  d.row_stride_elems = row_stride(p);
  d.column_stride_elems = p.column_stride;
  d.out_stride_elems = out_stride(p);
  d.arch = p.arch.c_str();
  d.tuning = &p.tune;
  return d;
}

exactk_topk_decode describe_decode(const Problem& p) {
  auto d = describe_problem<exactk_topk_decode>(p);
  d.seq_lens_dim = p.seq_lens_dim;
  d.next_n = p.next_n;
  d.compress_ratio = p.compress_ratio;
  d.full_graph = p.full_graph ? 1 : 0;
  d.max_seq_len_hint = p.max_seq_len_hint;
  return d;
}

}  // namespace

exactk_topk_tuning tuning() {
  exactk_topk_tuning tune{};
  tune.struct_size = sizeof(tune);
  return tune;
}

const exactk_kernel& kernel(std::string_view name) {
  const TargetKernels& built = *target_kernels(kDeviceKind);
  for (const exactk_kernel* candidate : built.shipped) {
    if (candidate->name == name) {
      return *candidate;
    }
  }
  for (const Mutant& mutant : built.mutants) {
    if (mutant.kernel->name == name) {
      return *mutant.kernel;
    }
  }
  std::abort();
}

Bench::Bench(const exactk_kernel& kernel, Problem p, const Options& options)
    : problem(std::move(p)), kernel_(kernel) {
  auto device = open_device(kDeviceKind);
  if (!device) {
    broken_ = device.error();
    return;
  }
  device_ = std::move(*device);
  if (kOnHost) {
    broken_ = text(device_->configure(
        {.wave_width = options.wave_width, .schedule_seed = options.schedule_seed, .workers = 2}));
  }
  if (broken_.empty()) {
    broken_ = make_buffers();
  }
}

std::string Bench::make_buffers() {
  stream_ = device_->stream(0);
  const int64_t sizes[] = {logits_elems(problem) * 4,
                           requests(problem) * 4,
                           problem.rows * 4,
                           problem.rows * 4,
                           output_elems(problem) * 4,
                           problem.rows * 4,
                           std::max<int64_t>(workspace_bytes(), 1)};
  for (int which = kLogits; which <= kWorkspace; ++which) {
    auto buffer =
        GuardedBuffer::make(*device_, sizes[which], which == kLogits ? problem.misalign * 4 : 0);
    if (!buffer) {
      return buffer.error();
    }
    buffers_.push_back(std::move(*buffer));
  }
  return "";
}

bool Bench::prefill() const {
  return std::string_view(kernel_.op) == "topk.prefill";
}

// seq_lens, row_starts or row_ends.
std::vector<int32_t> Bench::bounds(int which) const {
  std::vector<int32_t> values = which == kSeqLens     ? problem.seq_lens
                                : which == kRowStarts ? problem.row_starts
                                                      : problem.row_ends;
  values.resize(static_cast<size_t>(which == kSeqLens ? requests(problem) : problem.rows),
                which == kRowStarts ? 0 : static_cast<int32_t>(problem.width));
  return values;
}

int64_t Bench::start(int64_t row) const {
  return prefill() ? bounds(kRowStarts)[static_cast<size_t>(row)] : 0;
}

int64_t Bench::length(int64_t row) const {
  if (prefill()) {
    const int64_t end = bounds(kRowEnds)[static_cast<size_t>(row)];
    return std::max<int64_t>(std::min(end, problem.width) - start(row), 0);
  }
  const oracle::RowLengthSpec spec{problem.rows, problem.next_n, problem.seq_lens_dim};
  return std::min(oracle::row_length(spec, bounds(kSeqLens), row), problem.width);
}

std::vector<uint32_t> Bench::logits() const {
  std::vector<uint32_t> values(static_cast<size_t>(logits_elems(problem)), kWins);
  for (int64_t row = 0; row < problem.rows; ++row) {
    const int64_t begin = start(row);
    const int64_t end = begin + length(row);
    uint32_t* first = values.data() + row * row_stride(problem);
    for (int64_t column = begin; column < end; ++column) {
      first[column * problem.column_stride] = problem.bits(row, column);
    }
  }
  return values;
}

std::string Bench::prepare() {
  if (!broken_.empty()) {
    return broken_;
  }
  output_.assign(static_cast<size_t>(output_elems(problem)), kPoison);
  active_.assign(static_cast<size_t>(problem.rows), kPoison);
  const std::vector<std::byte> scratch(static_cast<size_t>(buffers_[kWorkspace].bytes()),
                                       std::byte{0x7f});
  const std::vector<int32_t> lens = bounds(kSeqLens);
  const std::vector<int32_t> starts = bounds(kRowStarts);
  const std::vector<int32_t> ends = bounds(kRowEnds);
  const std::vector<uint32_t> data = logits();
  for (const auto& [which, bytes] :
       {std::pair{kLogits, bytes_of(data)}, std::pair{kSeqLens, bytes_of(lens)},
        std::pair{kRowStarts, bytes_of(starts)}, std::pair{kRowEnds, bytes_of(ends)},
        std::pair{kIndices, bytes_of(output_)}, std::pair{kActive, bytes_of(active_)},
        std::pair{kWorkspace, std::span<const std::byte>(scratch)}}) {
    if (const std::string error = text(buffers_[which].upload(bytes)); !error.empty()) {
      return error;
    }
  }
  return "";
}

int64_t Bench::workspace_bytes() const {
  if (prefill()) {
    const auto d = describe_problem<exactk_topk_prefill>(problem);
    return kernel_.workspace_bytes(&d);
  }
  const exactk_topk_decode d = describe_decode(problem);
  return kernel_.workspace_bytes(&d);
}

std::string Bench::enqueue(void* stream) {
  if (prefill()) {
    auto d = describe_problem<exactk_topk_prefill>(problem);
    d.row_starts = reinterpret_cast<const int32_t*>(buffers_[kRowStarts].data());
    d.row_ends = reinterpret_cast<const int32_t*>(buffers_[kRowEnds].data());
    return enqueue(d, stream);
  }
  exactk_topk_decode d = describe_decode(problem);
  d.seq_lens = reinterpret_cast<const int32_t*>(buffers_[kSeqLens].data());
  for (int64_t row = 0; row < problem.rows && problem.max_seq_len_hint < 0; ++row) {
    d.max_seq_len_hint = std::max(d.max_seq_len_hint, length(row));
  }
  return enqueue(d, stream);
}

template <class Descriptor>
std::string Bench::enqueue(Descriptor d, void* stream) {
  d.logits = reinterpret_cast<const float*>(buffers_[kLogits].data());
  d.indices = reinterpret_cast<int32_t*>(buffers_[kIndices].data());
  d.workspace_bytes = workspace_bytes();
  d.workspace = d.workspace_bytes > 0 ? buffers_[kWorkspace].data() : nullptr;
  d.stream = stream;
  report = {};
  report.struct_size = sizeof(report);
  report.active_blocks = reinterpret_cast<int32_t*>(buffers_[kActive].data());
  d.report = &report;
  char message[256] = "";
  return kernel_.launch(&d, message, sizeof(message)) == EXACTK_OK ? "" : message;
}

std::string Bench::launch() {
  return enqueue(stream_);
}

std::string Bench::capture() {
  stream_ = device_->stream(1);
  std::string error = text(device_->begin_capture(stream_));
  error = error.empty() ? enqueue(stream_) : error;
  return error.empty() ? text(device_->end_capture(stream_)) : error;
}

std::string Bench::replay() {
  return text(device_->replay(stream_));
}

std::string Bench::check_guards() const {
  for (const GuardedBuffer& buffer : buffers_) {
    const auto damage = buffer.check_guards();
    if (!damage) {
      return damage.error();
    }
    if (damage->bytes != 0) {
      return fmt::format("a guard changed at offset {}", damage->first_offset);
    }
  }
  return "";
}

std::string Bench::check_gaps() const {
  for (int64_t i = 0; i < output_elems(problem); ++i) {
    if (i % out_stride(problem) >= problem.k && output_[static_cast<size_t>(i)] != kPoison) {
      return fmt::format("the gap behind output row {} was written", i / out_stride(problem));
    }
  }
  return "";
}

std::string Bench::judge_row(int64_t row) const {
  const int64_t begin = start(row);
  std::vector<uint32_t> visible(static_cast<size_t>(length(row)));
  for (size_t column = 0; column < visible.size(); ++column) {
    visible[column] = problem.bits(row, begin + static_cast<int64_t>(column));
  }
  std::vector<int32_t> indices = slots(row);
  if ((kernel_.modes & EXACTK_MODE_ABSOLUTE) != 0) {
    for (int32_t& index : indices) {
      if (index >= 0) {  // a column before the window must not become a sentinel
        index = index >= begin ? index - static_cast<int32_t>(begin)
                               : std::numeric_limits<int32_t>::max();
      }
    }
  }
  const std::vector<int32_t> before(indices.size(), kPoison);
  oracle::TopkJudge judge(problem.width);
  const oracle::RowJudgement judgement =
      judge.judge({visible, indices, before},
                  kernel_.modes & (oracle::kSet | oracle::kPrefix | oracle::kStable));
  if (judgement.ok()) {
    return "";
  }
  std::string story = fmt::format("row {} of length {}:", row, visible.size());
  for (int kind = 0; kind < oracle::kFaultKinds; ++kind) {
    const auto fault = static_cast<oracle::FaultKind>(kind);
    if (judgement.faults.has(fault)) {
      story += fmt::format(" {},", oracle::name(fault));
    }
  }
  return story + fmt::format(" {} bad slots, {} missing columns", judgement.bad_slots,
                             judgement.missing_columns);
}

std::string Bench::judge() {
  if (!broken_.empty()) {
    return broken_;
  }
  for (const Result<void>& step :
       {device_->synchronize(stream_),
        buffers_[kIndices].download(std::as_writable_bytes(std::span(output_))),
        buffers_[kActive].download(std::as_writable_bytes(std::span(active_)))}) {
    if (!step) {
      return step.error();
    }
  }
  std::string error = check_guards();
  error = error.empty() ? check_gaps() : error;
  for (int64_t row = 0; row < problem.rows && error.empty(); ++row) {
    error = judge_row(row);
  }
  return error;
}

std::string Bench::run() {
  std::string error = prepare();
  error = error.empty() ? launch() : error;
  return error.empty() ? judge() : error;
}

std::vector<int32_t> Bench::slots(int64_t row) const {
  const auto first = output_.begin() + row * out_stride(problem);
  return {first, first + problem.k};
}

std::vector<int32_t> Bench::active_blocks() const {
  return active_;
}

std::string run(std::string_view kernel_name, const Problem& problem, const Options& options) {
  return Bench(kernel(kernel_name), problem, options).run();
}

}  // namespace exactk::kernels::test
