#include "props/logits_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "fixtures/index_inputs.h"
#include "props/logits_report.h"
#include "props/trial.h"

namespace exactk::props {
namespace {

using oracle::ExpectedLogit;
using oracle::WantLogit;

// Comparators of public tests: DeepGEMM's similarity of whole tensors, the similarity of rows of
// vLLM's gfx942 test, and the tolerance of its Triton test.
constexpr double kTensorDistance = 5e-6;
constexpr double kRowDistance = 0.05;
constexpr double kAbsolute = 1.0;
constexpr double kRelative = 0.2;

std::span<const float> floats(const Bytes& bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / 4};
}

template <class T>
T* as(const Placement& at, LogitsTensor tensor) {
  return reinterpret_cast<T*>(at.tensors[tensor]);
}

int32_t outside_of(fixtures::OutsideKind outside) {
  switch (outside) {
    case fixtures::OutsideKind::kAny:
      return EXACTK_OUTSIDE_ANY;
    case fixtures::OutsideKind::kClean:
      return EXACTK_OUTSIDE_CLEAN;
    case fixtures::OutsideKind::kUntouched:
      return EXACTK_OUTSIDE_UNTOUCHED;
  }
  return EXACTK_OUTSIDE_ANY;
}

// What both descriptors have.
template <class Descriptor>
void describe(const LogitsProblem& p, Descriptor& d) {
  d.struct_size = sizeof(d);
  d.fp8 = p.c.fp8 == fixtures::Fp8::kFn ? EXACTK_FP8_FN : EXACTK_FP8_FNUZ;
  d.outside = outside_of(p.c.outside);
  d.rows = p.shape.rows;
  d.width = p.shape.width;
  d.heads = p.c.index_heads;
  d.dim = p.c.index_dim;
  d.query_stride_bytes = p.shape.query_stride;
  d.head_stride_bytes = p.shape.head_stride;
  d.weight_stride_elems = p.shape.weight_stride;
  d.out_stride_elems = p.shape.out_stride;
}

template <class Descriptor>
void place_common(const Placement& at, Descriptor& d) {
  d.queries = as<const uint8_t>(at, kMqaQueries);
  d.weights = as<const float>(at, kMqaWeights);
  d.logits = as<float>(at, kMqaLogits);
  d.workspace = at.workspace;
  d.workspace_bytes = at.workspace_bytes;
  d.stream = at.stream;
}

// Products of what a row holds and what it should, over its finite numbers.
struct Products {
  double wanted = 0;  // squared
  double got = 0;
  double both = 0;
  void add(const Products& other) {
    wanted += other.wanted;
    got += other.got;
    both += other.both;
  }
  double distance() const { return wanted + got == 0 ? 0 : 1 - 2 * both / (wanted + got); }
};

struct LooseRow {
  Products products;
  bool close = true;
  bool same_nan = true;
};

LooseRow compare_loosely(std::span<const ExpectedLogit> expected, std::span<const float> got) {
  LooseRow row;
  for (size_t column = 0; column < expected.size(); ++column) {
    if (expected[column].want != WantLogit::kNumber) continue;
    const double want = expected[column].value;
    const double have = got[column];
    if (!std::isfinite(want) || !std::isfinite(have)) {
      row.same_nan = row.same_nan && std::isfinite(want) == std::isfinite(have);
      continue;
    }
    row.products.add({want * want, have * have, want * have});
    row.close = row.close && std::fabs(have - want) <= kAbsolute + kRelative * std::fabs(want);
  }
  return row;
}

}  // namespace

LogitsCall::LogitsCall(const LogitsProblem& p, int64_t max_seq_len_hint)
    : is_paged_(p.shape.paged) {
  describe(p, ragged_);
  ragged_.compressed = p.c.compressed ? 1 : 0;
  ragged_.key_count = p.shape.width;
  ragged_.key_stride_bytes = p.shape.key_stride;
  describe(p, paged_);
  paged_.seq_lens_dim = p.c.lens_dim;
  paged_.next_n = p.c.next_n;
  paged_.blocks = p.shape.blocks;
  paged_.block_size = p.c.block_size;
  paged_.block_stride_bytes = p.shape.block_stride;
  paged_.table_blocks = p.shape.table_blocks;
  paged_.table_stride_elems = p.shape.table_stride;
  paged_.max_seq_len_hint = max_seq_len_hint;
}

void LogitsCall::place(const Placement& at) {
  place_common(at, ragged_);
  ragged_.keys = as<const uint8_t>(at, kMqaKeys);
  ragged_.scales = as<const float>(at, kMqaScales);
  ragged_.starts = as<const int32_t>(at, kMqaStarts);
  ragged_.ends = as<const int32_t>(at, kMqaEnds);
  place_common(at, paged_);
  paged_.cache = as<const uint8_t>(at, kMqaKeys);
  paged_.block_table = as<const int32_t>(at, kMqaBlockTable);
  paged_.seq_lens = as<const int32_t>(at, kMqaSeqLens);
}

const void* LogitsCall::descriptor() const {
  if (is_paged_) return &paged_;
  return &ragged_;
}

LogitsOperation::LogitsOperation(const fixtures::Case& c, const KernelUnderTest& kernel)
    : Operation(c, kernel), problem_(logits_problem(c)), tensors_(logits_tensors(problem_)) {}

std::shared_ptr<const StepInputs> LogitsOperation::make_inputs(int64_t step, LogitsFrom) const {
  auto made = std::make_shared<LogitsStep>();
  made->in = fixtures::mqa_inputs(case_, step);
  return made;
}

// Believable logits, where the poison of a case is to be believed.
Bytes LogitsOperation::poison(int64_t step, int variant, size_t tensor) const {
  constexpr auto kImplausible = static_cast<int32_t>(0xa5a5a5a5u);
  std::vector<int32_t> words(static_cast<size_t>(tensors_[tensor].bytes / 4));
  fixtures::poison_fill(case_, step, variant,
                        {problem_.shape.out_stride, problem_.shape.width, tensor}, words);
  for (int32_t& word : words) {
    if (word != kImplausible) word = std::bit_cast<int32_t>(static_cast<float>(word));
  }
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

int64_t LogitsOperation::length_hint(std::optional<int64_t> launch) const {
  if (!launch) return problem_.shape.width;
  int64_t hint = 0;
  for (const LogitsRow& row : logits_rows(problem_, *launch))
    hint = std::max(hint, row.end - row.begin);
  return hint;
}

std::unique_ptr<Call> LogitsOperation::call(std::optional<int64_t> launch) const {
  return std::make_unique<LogitsCall>(problem_, length_hint(launch));
}

Findings LogitsOperation::judge(const Launched& l) const {
  const fixtures::MqaInputs& in = static_cast<const LogitsStep&>(*l.inputs).in;
  const oracle::LogitsJudgement judgement =
      judge_logits(problem_, in, l.step, floats(l.after[kMqaLogits]), floats(l.before[kMqaLogits]));
  Findings found;
  found.rows = problem_.shape.rows;
  found.elements = judgement.numbers;
  for (const LogitsRow& row : logits_rows(problem_, l.step))
    found.rows_selected += row.end > row.begin ? 1 : 0;
  if (judgement.ok()) return found;
  const LogitsEvidence evidence{problem_, l.step, l.variant, judgement};
  found.why = diagnose(evidence);
  found.anatomy = logits_anatomy(evidence);
  found.broke = problem_.compare == oracle::CompareLogits::kBitwise ? "contract of every bit"
                                                                    : "contract of the bound";
  found.faults = judgement.faults;
  found.failing_rows = judgement.failing_rows;
  return found;
}

bool LogitsOperation::loosely_right(Judge judge, const Launched& l, const Findings&) const {
  const fixtures::MqaInputs& in = static_cast<const LogitsStep&>(*l.inputs).in;
  const std::span<const float> got = floats(l.after[kMqaLogits]);
  Products all;
  for (int64_t row = 0; row < problem_.shape.rows; ++row) {
    const LooseRow loose =
        compare_loosely(expected_logits(problem_, in, row),
                        got.subspan(static_cast<size_t>(row * problem_.shape.out_stride)));
    if (!loose.same_nan) return false;
    if (judge == Judge::kSortedValues && !loose.close) return false;
    if (judge == Judge::kOverlap && loose.products.distance() > kRowDistance) return false;
    all.add(loose.products);
  }
  return judge != Judge::kSetThenValues || all.distance() < kTensorDistance;
}

bool LogitsOperation::holds_nan(const StepInputs& inputs) const {
  const fixtures::MqaInputs& in = static_cast<const LogitsStep&>(inputs).in;
  for (int64_t row = 0; row < problem_.shape.rows; ++row) {
    const auto expected = expected_logits(problem_, in, row);
    if (std::any_of(expected.begin(), expected.end(),
                    [](const ExpectedLogit& e) { return std::isnan(e.value); }))
      return true;
  }
  return false;
}

std::string LogitsOperation::launch_difference(int64_t step, const std::vector<Bytes>& a,
                                               const std::vector<Bytes>& b) const {
  const std::vector<LogitsRow> rows = logits_rows(problem_, step);
  for (size_t row = 0; row < rows.size(); ++row) {
    const size_t first = row * static_cast<size_t>(problem_.shape.out_stride);
    for (int64_t column = rows[row].begin; column < rows[row].end; ++column) {
      const size_t at = first + static_cast<size_t>(column);
      const float one = floats(a[kMqaLogits])[at];
      const float other = floats(b[kMqaLogits])[at];
      const bool same = std::bit_cast<uint32_t>(one) == std::bit_cast<uint32_t>(other);
      if (same || (std::isnan(one) && std::isnan(other))) continue;
      return fmt::format("row {} column {} holds {} in one run and {} in the other", row, column,
                         one, other);
    }
  }
  return "";
}

}  // namespace exactk::props
