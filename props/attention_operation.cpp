#include "props/attention_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fixtures/index_inputs.h"
#include "props/attention_report.h"
#include "props/trial.h"

namespace exactk::props {
namespace {

using fixtures::CacheFormat;
using fixtures::Variant;

int32_t attention_variant(Variant variant) {
  switch (variant) {
    case Variant::kFull:
      return EXACTK_ATTENTION_FULL;
    case Variant::kRagged:
      return EXACTK_ATTENTION_RAGGED;
    default:
      return EXACTK_ATTENTION_DENSE;
  }
}

int32_t kv_format(CacheFormat cache) {
  switch (cache) {
    case CacheFormat::kV32:
      return EXACTK_KV_V32;
    case CacheFormat::kV4:
      return EXACTK_KV_V4;
    default:
      return EXACTK_KV_BF16;
  }
}

template <class T>
T* as(const Placement& at, size_t tensor) {
  return reinterpret_cast<T*>(at.tensors[tensor]);
}

// What both descriptors have.
template <class Descriptor>
void describe(const AttentionProblem& p, exactk_attention_report& report, Descriptor& d) {
  d.struct_size = sizeof(d);
  d.variant = attention_variant(p.c.variant);
  d.tokens = p.shape.tokens;
  d.heads = p.c.heads;
  d.dim = p.c.dim;
  d.dim_v = p.c.dim_v;
  d.out_stride_elems = p.shape.out_stride;
  d.scale = p.scale;
  d.report = &report;
}

template <class Descriptor>
void place_common(const Placement& at, Descriptor& d) {
  d.query = as<const uint16_t>(at, kAttentionQuery);
  d.sink = as<const float>(at, kAttentionSink);
  d.out = as<uint16_t>(at, kAttentionOut);
  d.lse = as<float>(at, kAttentionLse);
  d.max_score = as<float>(at, kAttentionMax);
  d.workspace = at.workspace;
  d.workspace_bytes = at.workspace_bytes;
  d.stream = at.stream;
}

exactk_kv_list describe_list(const AttentionProblem& p, const fixtures::AttentionListShape& s,
                             int64_t known) {
  exactk_kv_list list{};
  list.blocks = s.blocks;
  list.block_size = p.shape.block_size;
  list.block_stride_bytes = s.block_bytes;
  list.k = s.k;
  list.max_len_hint = known;
  list.index_stride_elems = s.stride;
  list.fp8 = s.fnuz ? EXACTK_FP8_FNUZ : EXACTK_FP8_FN;
  return list;
}

void place_list(const Placement& at, size_t first, exactk_kv_list& list) {
  list.cache = as<const void>(at, first);
  list.indices = as<const int32_t>(at, first + 1);
  list.lens = as<const int32_t>(at, first + 2);
  list.indptr = as<const int32_t>(at, first + 3);
}

// Elements of the output between tokens that a launch changed.
int64_t changed_gaps(const AttentionProblem& p, const Bytes& after, const Bytes& before) {
  const int64_t row = p.c.heads * p.c.dim_v;
  int64_t changed = 0;
  for (int64_t at = 0; at < std::ssize(after) / 2; ++at) {
    if (at % p.shape.out_stride < row) continue;
    if (std::memcmp(&after[static_cast<size_t>(2 * at)], &before[static_cast<size_t>(2 * at)], 2) !=
        0)
      ++changed;
  }
  return changed;
}

}  // namespace

AttentionCall::AttentionCall(const AttentionProblem& p, const fixtures::LongestLists& known)
    : decode_(p.decode) {
  report_.struct_size = sizeof(report_);
  describe(p, report_, prefill_d_);
  prefill_d_.key_count = p.shape.main.keys;
  prefill_d_.k = p.shape.main.k;
  prefill_d_.max_len_hint = known.main;
  prefill_d_.index_stride_elems = p.shape.main.stride;
  describe(p, report_, decode_d_);
  decode_d_.format = kv_format(p.c.cache);
  decode_d_.main = describe_list(p, p.shape.main, known.main);
  decode_d_.extra = describe_list(p, p.shape.extra, known.extra);
  decode_d_.next_n = p.c.next_n;
  decode_d_.rope = p.c.rope;
}

void AttentionCall::place(const Placement& at) {
  place_common(at, prefill_d_);
  prefill_d_.keys = as<const uint16_t>(at, kMainKeys);
  prefill_d_.indices = as<const int32_t>(at, kMainIndices);
  prefill_d_.lens = as<const int32_t>(at, kMainLens);
  prefill_d_.indptr = as<const int32_t>(at, kMainIndptr);
  place_common(at, decode_d_);
  place_list(at, kMainKeys, decode_d_.main);
  place_list(at, kExtraKeys, decode_d_.extra);
}

const void* AttentionCall::descriptor() const {
  if (decode_) return &decode_d_;
  return &prefill_d_;
}

AttentionOperation::AttentionOperation(const fixtures::Case& c, const KernelUnderTest& kernel)
    : Operation(c, kernel), problem_(attention_problem(c)), tensors_(attention_tensors(problem_)) {}

std::shared_ptr<const StepInputs> AttentionOperation::make_inputs(int64_t step, LogitsFrom) const {
  return std::make_shared<AttentionStep>(attention_step(problem_, step));
}

Bytes AttentionOperation::poison(int64_t step, int variant, size_t tensor) const {
  const int64_t bytes = tensors_[tensor].bytes;
  std::vector<int32_t> words(static_cast<size_t>((bytes + 3) / 4));
  // A small number in both halves of a word looks like a result too.
  constexpr int64_t kBelievable = 1 << 14;
  fixtures::poison_fill(case_, step, variant, {problem_.shape.out_stride, kBelievable, tensor},
                        words);
  const auto raw = std::as_bytes(std::span(words)).first(static_cast<size_t>(bytes));
  return {raw.begin(), raw.end()};
}

std::unique_ptr<Call> AttentionOperation::call(std::optional<int64_t> launch) const {
  const fixtures::LongestLists known =
      launch ? fixtures::longest_lists(case_, *launch)
             : fixtures::LongestLists{problem_.shape.main.k, problem_.shape.extra.k};
  return std::make_unique<AttentionCall>(problem_, known);
}

Findings AttentionOperation::judge(const Launched& l) const {
  const auto& step = static_cast<const AttentionStep&>(*l.inputs);
  const exactk_attention_report& report = static_cast<const AttentionCall&>(l.call).rounding();
  unanswered_ = report.unanswered;
  Findings found;
  found.why = problem_of(report);
  if (!found.why.empty()) return found;
  const oracle::AttentionJudgement judgement =
      judge_attention_outputs(problem_, step, report, l.after);
  found.rows = judgement.rows;
  found.rows_selected = judgement.entries > 0 ? judgement.rows - judgement.open_rows : 0;
  found.elements = judgement.rows * (problem_.c.dim_v + 2);
  found.faults = judgement.faults;
  const int64_t gaps = changed_gaps(problem_, l.after[kAttentionOut], l.before[kAttentionOut]);
  if (gaps > 0) found.faults.add(oracle::FaultKind::kGuardBroken);
  if (judgement.ok() && gaps == 0) return found;
  const AttentionEvidence evidence{problem_, step, judgement, gaps, l.step, l.variant};
  found.why = diagnose(evidence);
  found.anatomy = attention_anatomy(evidence);
  found.broke = "contract of the attention";
  found.failing_rows = failing_tokens(evidence);
  return found;
}

// Public tests look at the output alone, with a tolerance.
bool AttentionOperation::loosely_right(Judge, const Launched& l, const Findings&) const {
  constexpr double kTolerance = 2e-2;  // absolute and relative
  const auto& step = static_cast<const AttentionStep&>(*l.inputs);
  const exactk_attention_report& report = static_cast<const AttentionCall&>(l.call).rounding();
  if (!problem_of(report).empty()) return false;
  const oracle::AttentionJudgement judgement =
      judge_attention_outputs(problem_, step, report, l.after);
  if (judgement.bad_elements > oracle::kBadAttentionMax) return false;
  return std::all_of(judgement.bad.begin(), judgement.bad.end(),
                     [](const oracle::BadAttention& bad) {
                       if (bad.part != oracle::AttentionPart::kOut) return true;
                       if (bad.want.kind != oracle::BandKind::kInterval) return true;
                       const double want = (bad.want.low + bad.want.high) / 2;
                       return std::abs(bad.got - want) <= kTolerance * (1 + std::abs(want));
                     });
}

bool AttentionOperation::holds_nan(const StepInputs& inputs) const {
  const auto& step = static_cast<const AttentionStep&>(inputs);
  const auto is_nan = [](float value) { return std::isnan(value); };
  if (std::any_of(step.query.begin(), step.query.end(), is_nan)) return true;
  const oracle::AttentionInput input = attention_input(problem_, step);
  const auto names_nan = [&](const oracle::KeyList& list) {
    for (const int32_t index : list.indices.data) {
      if (index < 0 || index >= list.keys.keys) continue;
      const auto key = list.keys.data.subspan(static_cast<size_t>(index * list.keys.stride),
                                              static_cast<size_t>(problem_.c.dim));
      if (std::any_of(key.begin(), key.end(), is_nan)) return true;
    }
    return false;
  };
  return names_nan(input.main) || names_nan(input.extra);
}

std::string AttentionOperation::difference(const std::vector<Bytes>& a,
                                           const std::vector<Bytes>& b) const {
  const int64_t row = problem_.c.heads * problem_.c.dim_v;
  for (const size_t tensor : {kAttentionOut, kAttentionLse, kAttentionMax}) {
    const bool out = tensor == kAttentionOut;
    if ((tensor == kAttentionLse && (unanswered_ & EXACTK_UNANSWERED_LSE) != 0) ||
        (tensor == kAttentionMax && (unanswered_ & EXACTK_UNANSWERED_MAX) != 0))
      continue;
    const int64_t size = out ? 2 : 4;
    for (int64_t at = 0; at < std::ssize(a[tensor]) / size; ++at) {
      if (out && at % problem_.shape.out_stride >= row) continue;
      const auto place = static_cast<size_t>(at * size);
      if (std::memcmp(&a[tensor][place], &b[tensor][place], static_cast<size_t>(size)) == 0)
        continue;
      return fmt::format("element {} of {} holds other bytes in one run than in the other", at,
                         tensors_[tensor].name);
    }
  }
  return "";
}

}  // namespace exactk::props
