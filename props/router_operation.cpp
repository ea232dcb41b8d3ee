#include "props/router_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fixtures/index_inputs.h"
#include "props/router_report.h"
#include "props/trial.h"

namespace exactk::props {
namespace {

constexpr int64_t kBelievableSteps = 1000;  // of weights in [0, 1)

exactk_router describe(const RouterProblem& p) {
  exactk_router d{};
  d.struct_size = sizeof(d);
  d.scoring = p.spec.scoring == oracle::RouterScoring::kSigmoid ? EXACTK_ROUTER_SIGMOID
                                                                : EXACTK_ROUTER_SOFTMAX;
  d.logit_bytes = p.c.dtype == fixtures::DataType::kF32 ? 4 : 2;
  d.has_bias = p.c.bias != fixtures::BiasKind::kNone ? 1 : 0;
  d.renormalize = p.spec.renormalize ? 1 : 0;
  d.scaling = static_cast<float>(p.spec.scaling);
  d.tokens = p.shape.tokens;
  d.experts = p.shape.experts;
  d.groups = p.spec.groups;
  d.topk_groups = p.spec.topk_groups;
  d.k = p.spec.topk;
  d.logit_stride_elems = p.shape.logit_stride;
  d.out_stride_elems = p.shape.out_stride;
  return d;
}

// Believable poison of weights: numbers that could be some.
void make_weights(std::vector<int32_t>& words) {
  for (int32_t& word : words) {
    if (word < 0 || word >= kBelievableSteps) continue;
    const float weight = static_cast<float>(word) / static_cast<float>(kBelievableSteps);
    std::memcpy(&word, &weight, sizeof(word));
  }
}

}  // namespace

RouterCall::RouterCall(const RouterProblem& p) : d_(describe(p)) {}

void RouterCall::place(const Placement& at) {
  d_.logits = at.tensors[kRouterLogits];
  d_.bias = at.tensors[kRouterBias];
  d_.ids = reinterpret_cast<int32_t*>(at.tensors[kRouterIds]);
  d_.weights = reinterpret_cast<float*>(at.tensors[kRouterWeights]);
  d_.workspace = at.workspace;
  d_.workspace_bytes = at.workspace_bytes;
  d_.stream = at.stream;
}

RouterOperation::RouterOperation(const fixtures::Case& c, const KernelUnderTest& kernel)
    : Operation(c, kernel), problem_(router_problem(c)), tensors_(router_tensors(problem_)) {}

std::shared_ptr<const StepInputs> RouterOperation::make_inputs(int64_t step, LogitsFrom) const {
  return std::make_shared<RouterStep>(case_, step);
}

Bytes RouterOperation::poison(int64_t step, int variant, size_t tensor) const {
  std::vector<int32_t> words(static_cast<size_t>(tensors_[tensor].bytes / 4));
  const bool ids = tensor == kRouterIds;
  fixtures::poison_fill(
      case_, step, variant,
      {problem_.shape.out_stride, ids ? problem_.shape.experts : kBelievableSteps, tensor}, words);
  if (!ids) make_weights(words);
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

std::unique_ptr<Call> RouterOperation::call(std::optional<int64_t>) const {
  return std::make_unique<RouterCall>(problem_);
}

Findings RouterOperation::judge(const Launched& l) const {
  const fixtures::RouterInputs& in = static_cast<const RouterStep&>(*l.inputs).in;
  const std::vector<JudgedToken> judged = judge_tokens(problem_, in, l.after, l.before);
  Findings found;
  found.rows = problem_.shape.tokens;
  found.elements = 2 * problem_.shape.tokens * problem_.c.k;
  for (const JudgedToken& token : judged) {
    found.rows_selected += token.judgement.open ? 0 : 1;
    found.faults.merge(token.judgement.faults);
    if (token.gap_writes > 0) found.faults.add(oracle::FaultKind::kGuardBroken);
    if (!token.ok()) found.failing_rows.push_back(token.token);
  }
  if (found.failing_rows.empty()) return found;
  const RouterEvidence evidence{problem_, l.step, l.variant, in, l.after, judged};
  found.why = diagnose(evidence);
  found.anatomy = router_anatomy(evidence);
  found.broke = router_broke(evidence);
  return found;
}

bool RouterOperation::loosely_right(Judge judge, const Launched& l, const Findings& found) const {
  if (judge != Judge::kOverlap) return Operation::loosely_right(judge, l, found);
  const fixtures::RouterInputs& in = static_cast<const RouterStep&>(*l.inputs).in;
  int64_t wrong = 0;
  for (const JudgedToken& token : judge_tokens(problem_, in, l.after, l.before)) {
    const auto is_choice = [](const oracle::BadChoice& bad) {
      return bad.slot >= 0 && bad.kind != oracle::FaultKind::kWrongValue;
    };
    wrong += std::count_if(token.judgement.bad.begin(), token.judgement.bad.end(), is_choice);
  }
  return wrong * 20 <= problem_.shape.tokens * problem_.c.k;
}

bool RouterOperation::holds_nan(const StepInputs& inputs) const {
  const fixtures::RouterInputs& in = static_cast<const RouterStep&>(inputs).in;
  const auto is_nan = [](float value) { return std::isnan(value); };
  return std::any_of(in.logits.begin(), in.logits.end(), is_nan) ||
         std::any_of(in.bias.begin(), in.bias.end(), is_nan);
}

std::string RouterOperation::difference(const std::vector<Bytes>& a,
                                        const std::vector<Bytes>& b) const {
  for (int64_t token = 0; token < problem_.shape.tokens; ++token) {
    const RouterAnswer one = router_answer(problem_, a, token);
    const RouterAnswer other = router_answer(problem_, b, token);
    for (size_t slot = 0; slot < one.ids.size(); ++slot) {
      const bool same = one.ids[slot] == other.ids[slot] &&
                        std::memcmp(&one.weights[slot], &other.weights[slot], 4) == 0;
      if (same) continue;
      return fmt::format(
          "token {} slot {} holds expert {} with {} in one run and expert {} with {} in the other",
          token, slot, one.ids[slot], one.weights[slot], other.ids[slot], other.weights[slot]);
    }
  }
  return "";
}

}  // namespace exactk::props
