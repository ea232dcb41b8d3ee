#include "props/topk_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fixtures/index_inputs.h"
#include "fixtures/lengths.h"
#include "oracle/dispatch_policy.h"
#include "props/device_fill.h"
#include "props/judge_launch.h"
#include "props/topk_report.h"
#include "props/trial.h"

namespace exactk::props {
namespace {

constexpr int32_t kNotReported = INT32_MIN;
constexpr uint64_t kChainPoisonSalt = 0x70b;

std::span<const int32_t> words(const Bytes& bytes) {
  return {reinterpret_cast<const int32_t*>(bytes.data()), bytes.size() / 4};
}

Bytes bytes_of(std::span<const int32_t> words) {
  const auto bytes = std::as_bytes(words);
  return {bytes.begin(), bytes.end()};
}

exactk_topk_tuning tuning_of(const fixtures::Case& c) {
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
  t.radix_rows = c.tune.radix_rows;
  return t;
}

// What decode and prefill descriptors have in common.
template <class Descriptor>
void describe(const TopkProblem& p, const exactk_topk_tuning& tuning, exactk_topk_report& report,
              Descriptor& d) {
  d.struct_size = sizeof(d);
  d.rows = p.rows;
  d.width = p.width;
  d.k = p.k;
  d.row_stride_elems = p.row_stride;
  d.column_stride_elems = p.c.column_stride;
  d.out_stride_elems = p.out_stride;
  d.arch = fixtures::name(p.c.arch).data();
  d.tuning = &tuning;
  d.report = &report;
}

template <class Descriptor>
void place_common(const Placement& at, Descriptor& d) {
  d.logits = reinterpret_cast<const float*>(at.tensors[kLogits]);
  d.indices = reinterpret_cast<int32_t*>(at.tensors[kIndices]);
  d.workspace = at.workspace;
  d.workspace_bytes = at.workspace_bytes;
  d.stream = at.stream;
}

}  // namespace

TopkCall::TopkCall(const TopkProblem& p, int64_t max_seq_len_hint)
    : prefill_only_(p.prefill), tuning_(tuning_of(p.c)) {
  report_.struct_size = sizeof(report_);
  report_.path = EXACTK_PATH_UNKNOWN;
  describe(p, tuning_, report_, decode_);
  describe(p, tuning_, report_, prefill_);
  decode_.seq_lens_dim = p.c.lens_dim;
  decode_.next_n = p.c.next_n;
  decode_.max_seq_len_hint = max_seq_len_hint;
  decode_.compress_ratio = topk_shape(p).compress_ratio;
  decode_.full_graph = p.c.full_graph ? 1 : 0;
}

void TopkCall::place(const Placement& at) {
  place_common(at, decode_);
  place_common(at, prefill_);
  decode_.seq_lens = reinterpret_cast<const int32_t*>(at.tensors[kSeqLens]);
  prefill_.row_starts = reinterpret_cast<const int32_t*>(at.tensors[kRowStarts]);
  prefill_.row_ends = reinterpret_cast<const int32_t*>(at.tensors[kRowEnds]);
  report_.active_blocks = reinterpret_cast<int32_t*>(at.tensors[kActiveBlocks]);
}

const void* TopkCall::descriptor() const {
  if (prefill_only_) return &prefill_;
  return &decode_;
}

TopkOperation::TopkOperation(const fixtures::Case& c, const KernelUnderTest& kernel,
                             uint32_t promised)
    : Operation(c, kernel),
      problem_(topk_problem(c, (promised & EXACTK_MODE_ABSOLUTE) != 0)),
      promised_(promised),
      tensors_(kTopkTensors) {
  const int64_t row_words = problem_.rows * 4;
  const int64_t lens = c.lens_dim == 1 ? problem_.rows / c.next_n : problem_.rows;
  const int64_t indices = (problem_.rows - 1) * problem_.out_stride + problem_.k;
  const bool prefill = problem_.prefill;
  tensors_[kLogits] = {"logits", Role::kInput, fixtures::logits_elems(c) * 4, c.misalign * 4};
  tensors_[kSeqLens] = {"seq_lens", Role::kInput, prefill ? 0 : lens * 4};
  tensors_[kRowStarts] = {"row_starts", Role::kInput, prefill ? row_words : 0};
  tensors_[kRowEnds] = {"row_ends", Role::kInput, prefill ? row_words : 0};
  tensors_[kIndices] = {"indices", Role::kOutput, indices * 4};
  tensors_[kActiveBlocks] = {"active_blocks", Role::kOutput, row_words};
}

std::shared_ptr<const StepInputs> TopkOperation::make_inputs(int64_t step, LogitsFrom from) const {
  return std::make_shared<TopkInputs>(make_topk_inputs(problem_, step, from));
}

Bytes TopkOperation::poison(int64_t step, int variant, size_t tensor) const {
  if (tensor == kActiveBlocks) {
    return bytes_of(std::vector<int32_t>(static_cast<size_t>(problem_.rows), kNotReported));
  }
  std::vector<int32_t> slots(static_cast<size_t>(tensors_[tensor].bytes / 4));
  if (is_a_stage(case_.op)) {
    fixtures::poison_fill(case_, step, variant,
                          {problem_.out_stride, problem_.width, kChainPoisonSalt}, slots);
  } else {
    fixtures::output_poison(case_, step, variant, slots);
  }
  return bytes_of(slots);
}

int64_t TopkOperation::length_hint(std::optional<int64_t> launch) const {
  if (!launch) return problem_.width;
  const std::vector<int64_t> lengths = fixtures::row_lengths(case_, *launch);
  return *std::max_element(lengths.begin(), lengths.end());
}

std::unique_ptr<Call> TopkOperation::call(std::optional<int64_t> launch) const {
  return std::make_unique<TopkCall>(problem_, length_hint(launch));
}

bool TopkOperation::loosely_right(Judge judge, const Launched& l, const Findings&) const {
  return props::loosely_right(judge, problem_, static_cast<const TopkInputs&>(*l.inputs),
                              words(l.after[kIndices]));
}

bool TopkOperation::holds_nan(const StepInputs& inputs) const {
  const auto& topk = static_cast<const TopkInputs&>(inputs);
  const auto is_nan = [](uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; };
  std::vector<uint32_t> scratch;
  for (int64_t row = 0; row < problem_.rows; ++row) {
    const auto view = visible_row(problem_, topk, row, scratch);
    if (std::any_of(view.begin(), view.end(), is_nan)) return true;
  }
  return false;
}

bool TopkOperation::policy_takes() const {
  return !kernel_.method || oracle::topk_dispatch(*kernel_.method, topk_shape(problem_)).accepted;
}

// The path that the launch reports against the published policy. An empty text: they agree.
std::string TopkOperation::path_difference(const Launched& l) const {
  if (!kernel_.method) return "";
  oracle::TopkShape shape = topk_shape(problem_);
  shape.max_seq_len_hint =
      static_cast<const TopkInputs&>(l.replayed ? *l.first_inputs : *l.inputs).longest();
  const oracle::TopkDispatch want = oracle::topk_dispatch(*kernel_.method, shape);
  const exactk_topk_report& got = *l.call.report();
  if (got.path == EXACTK_PATH_UNKNOWN) return "the launch did not report the path that it took";
  if (got.path != static_cast<int32_t>(want.path) || got.max_blocks != want.max_blocks ||
      got.launches != want.launches) {
    return fmt::format(
        "the launch took path {} with at most {} blocks per row and {} kernels; the policy says {} "
        "with {} and {}",
        oracle::name(static_cast<oracle::TopkPath>(got.path)), got.max_blocks, got.launches,
        oracle::name(want.path), want.max_blocks, want.launches);
  }
  const auto& inputs = static_cast<const TopkInputs&>(*l.inputs);
  const std::span<const int32_t> reported = words(l.after[kActiveBlocks]);
  for (int64_t row = 0; row < problem_.rows; ++row) {
    const int64_t length = inputs.length(row);
    const int32_t blocks = reported[static_cast<size_t>(row)];
    const int32_t expected = oracle::active_blocks(want, shape, length);
    if (blocks == expected) continue;
    const std::string seen =
        blocks == kNotReported ? "no active blocks" : fmt::format("{} active blocks", blocks);
    return fmt::format("row {} of length {} reports {}; the policy says {}", row, length, seen,
                       expected);
  }
  return "";
}

Findings TopkOperation::judge(const Launched& l) const {
  const auto& inputs = static_cast<const TopkInputs&>(*l.inputs);
  const std::span<const int32_t> output = words(l.after[kIndices]);
  const LaunchJudgement judgement =
      judge_launch(problem_, inputs, output, words(l.before[kIndices]), promised_, l.row_checksums);
  Findings found;
  found.rows = judgement.rows;
  found.rows_cut = judgement.rows_cut;
  found.rows_selected = judgement.rows_selected;
  for (const fixtures::RowWindow& window : inputs.windows) found.elements += window.length;
  const exactk_topk_report& report = *l.call.report();
  if (report.path != EXACTK_PATH_UNKNOWN) {
    found.path = fmt::format("{} x{}", oracle::name(static_cast<oracle::TopkPath>(report.path)),
                             report.max_blocks);
  }
  if (judgement.ok()) {
    found.why = path_difference(l);
    return found;
  }
  const TopkEvidence evidence{problem_,
                              l.step,
                              l.variant,
                              judgement,
                              inputs,
                              l.replayed,
                              static_cast<const TopkInputs&>(*l.first_inputs),
                              output};
  found.why = diagnose(evidence);
  found.anatomy = topk_anatomy(evidence);
  found.broke = topk_broke(evidence);
  found.faults = judgement.faults;
  for (const RowFailure& failure : judgement.failures) found.failing_rows.push_back(failure.row);
  return found;
}

std::string TopkOperation::difference(const std::vector<Bytes>& a,
                                      const std::vector<Bytes>& b) const {
  const std::span<const int32_t> one = words(a[kIndices]);
  const std::span<const int32_t> other = words(b[kIndices]);
  const int64_t stride = problem_.out_stride;
  for (int64_t at = 0; at < static_cast<int64_t>(one.size()); ++at) {
    const size_t slot = static_cast<size_t>(at);
    if (at % stride >= problem_.k || one[slot] == other[slot]) continue;
    return fmt::format("row {} pos {} holds {} in one run and {} in the other", at / stride,
                       at % stride, one[slot], other[slot]);
  }
  return "";
}

kernels::Result<std::unique_ptr<DeviceFill>> TopkOperation::device_fill(
    kernels::Device& device) const {
  return DeviceFill::make(device, problem_);
}

}  // namespace exactk::props
