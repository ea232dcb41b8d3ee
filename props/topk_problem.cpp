#include "props/topk_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "fixtures/checksum.h"
#include "fixtures/lengths.h"
#include "oracle/row_length.h"
#include "props/internal_error.h"

namespace exactk::props {
namespace {

using fixtures::Op;

constexpr int64_t kKeptElemsMax = int64_t{1} << 30;  // 4 GiB

std::vector<uint64_t> row_checksums(const TopkProblem& p, std::span<const uint32_t> logits) {
  std::vector<uint64_t> sums(static_cast<size_t>(p.rows));
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const int64_t parts = std::clamp<int64_t>(std::ssize(logits) >> 19, 1, std::min(cores, p.rows));
  const auto sum = [&](int64_t part) {
    for (int64_t row = p.rows * part / parts; row < p.rows * (part + 1) / parts; ++row) {
      sums[static_cast<size_t>(row)] =
          fixtures::checksum(logits.data() + row * p.row_stride, p.width, p.c.column_stride);
    }
  };
  std::vector<std::thread> others;
  for (int64_t part = 1; part < parts; ++part) others.emplace_back(sum, part);
  sum(0);
  for (std::thread& other : others) other.join();
  return sums;
}

// The rows' bounds as the kernel gets them.
void feed_bounds(const TopkProblem& p, TopkInputs& inputs) {
  const std::vector<int64_t> starts = fixtures::row_starts(p.c, inputs.step);
  // A prefill rule gives lengths below 0 for rows that end before they start.
  std::vector<int64_t> lengths = fixtures::row_lengths(p.c, inputs.step);
  if (p.c.op == Op::kTopkPrefill) {
    const std::vector<int32_t> drawn = fixtures::seq_lens(p.c, inputs.step);
    lengths.assign(drawn.begin(), drawn.end());
  }
  for (size_t row = 0; row < starts.size(); ++row) {
    inputs.row_starts.push_back(static_cast<int32_t>(starts[row]));
    inputs.row_ends.push_back(static_cast<int32_t>(starts[row] + lengths[row]));
  }
}

// What the rows see, by the oracle.
std::vector<fixtures::RowWindow> windows_of(const TopkProblem& p, const TopkInputs& inputs) {
  std::vector<fixtures::RowWindow> windows(static_cast<size_t>(p.rows));
  for (int64_t row = 0; row < p.rows; ++row) {
    const size_t at = static_cast<size_t>(row);
    windows[at] =
        p.prefill ? fixtures::RowWindow{inputs.row_starts[at],
                                        oracle::bounded_length(inputs.row_starts[at],
                                                               inputs.row_ends[at])}
                  : fixtures::RowWindow{0, oracle::row_length({p.rows, p.c.next_n, p.c.lens_dim},
                                                              inputs.seq_lens, row)};
  }
  return windows;
}

}  // namespace

TopkProblem topk_problem(const fixtures::Case& c, bool absolute) {
  TopkProblem p;
  p.c = c;
  p.prefill = c.op == Op::kTopkPrefill || c.op == Op::kChainPrefill;
  p.absolute = absolute;
  const fixtures::LogitsShape shape = fixtures::logits_shape(c);
  p.rows = shape.rows;
  p.width = shape.width;
  p.k = c.k;
  p.row_stride = fixtures::row_stride_elems(c);
  p.out_stride = is_a_stage(c.op) ? c.k : fixtures::out_stride_elems(c);
  return p;
}

bool is_a_stage(Op op) {
  return op != Op::kTopkDecode && op != Op::kTopkPrefill;
}

oracle::TopkShape topk_shape(const TopkProblem& p) {
  const fixtures::Case& c = p.c;
  oracle::TopkShape shape;
  shape.rows = p.rows;
  shape.width = p.width;
  shape.k = p.k;
  shape.column_stride = c.column_stride;
  shape.arch = fixtures::name(c.arch);
  shape.compress_ratio = c.op == Op::kTopkDecode ? c.ratio : 1;
  shape.full_graph = c.full_graph;
  shape.max_seq_len_hint = p.width;
  const auto set = [](auto& published, int64_t injected) {
    if (injected != 0)
      published = static_cast<std::remove_reference_t<decltype(published)>>(injected);
  };
  set(shape.tuning.radix_width, c.tune.radix_width);
  set(shape.tuning.split_width, c.tune.split_width);
  set(shape.tuning.split_blocks, c.tune.split_blocks);
  set(shape.tuning.policy_shift, c.tune.policy_shift);
  set(shape.tuning.min_chunk, c.tune.min_chunk);
  set(shape.tuning.radix_rows, c.tune.radix_rows);
  return shape;
}

std::span<const std::byte> TopkInputs::bytes(size_t tensor) const {
  switch (tensor) {
    case kLogits:
      return std::as_bytes(std::span(logits));
    case kSeqLens:
      return std::as_bytes(std::span(seq_lens));
    case kRowStarts:
      return std::as_bytes(std::span(row_starts));
    case kRowEnds:
      return std::as_bytes(std::span(row_ends));
    default:
      return {};
  }
}

int64_t TopkInputs::longest() const {
  int64_t longest = 0;
  for (const fixtures::RowWindow& window : windows) longest = std::max(longest, window.length);
  return longest;
}

TopkInputs make_topk_inputs(const TopkProblem& p, int64_t step, LogitsFrom from) {
  TopkInputs inputs;
  inputs.step = step;
  if (p.prefill) {
    feed_bounds(p, inputs);
  } else {
    inputs.seq_lens = fixtures::seq_lens(p.c, step);
  }
  inputs.windows = windows_of(p, inputs);
  const std::vector<int64_t> drawn = fixtures::row_lengths(p.c, step);
  for (size_t row = 0; row < drawn.size(); ++row) {
    if (inputs.windows[row].length == drawn[row]) continue;
    throw InternalError(
        fmt::format("generator and oracle disagree about the length of row {} of launch {} of: {}",
                    row, step, fixtures::print_case(p.c)));
  }
  if (!fixtures::reads(p.c.op, "pattern")) return inputs;  // an earlier stage computes the logits
  const int64_t elements = fixtures::logits_elems(p.c);
  if (from == LogitsFrom::kDevice && elements > kKeptElemsMax) return inputs;
  inputs.logits.resize(static_cast<size_t>(elements));
  fixtures::logits_tensor(p.c, step, inputs.windows, inputs.logits);
  if (from == LogitsFrom::kDevice) inputs.row_checksums = row_checksums(p, inputs.logits);
  return inputs;
}

std::span<const uint32_t> visible_row(const TopkProblem& p, const TopkInputs& inputs, int64_t row,
                                      std::vector<uint32_t>& scratch) {
  const fixtures::RowWindow window = inputs.windows[static_cast<size_t>(row)];
  const size_t length = static_cast<size_t>(window.length);
  if (length == 0) return {};
  if (inputs.recorded) return inputs.recorded->visible(row, scratch);
  if (inputs.logits.empty()) {
    scratch.resize(static_cast<size_t>(p.width));
    fixtures::logits_row(p.c, inputs.step, row, window, scratch);
    return std::span(scratch).subspan(static_cast<size_t>(window.start), length);
  }
  const int64_t first = row * p.row_stride + window.start * p.c.column_stride;
  if (p.c.column_stride == 1)
    return std::span(inputs.logits).subspan(static_cast<size_t>(first), length);
  scratch.resize(length);
  for (size_t i = 0; i < length; ++i) {
    scratch[i] =
        inputs.logits[static_cast<size_t>(first) + i * static_cast<size_t>(p.c.column_stride)];
  }
  return scratch;
}

}  // namespace exactk::props
