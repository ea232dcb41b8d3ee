// The router as it is judged: the layout of a case, what one launch is fed, and the judgement of
// its rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fixtures/case.h"
#include "fixtures/router_inputs.h"
#include "oracle/grouped_topk.h"
#include "props/operation.h"

namespace exactk::props {

struct RouterProblem {
  fixtures::Case c;
  fixtures::RouterShape shape;
  oracle::RouterSpec spec;
};
RouterProblem router_problem(const fixtures::Case& c);

enum RouterTensor : size_t {
  kRouterLogits,
  kRouterBias,
  kRouterIds,      // out
  kRouterWeights,  // out
  kRouterTensors
};
std::vector<TensorSpec> router_tensors(const RouterProblem& problem);

struct RouterStep : StepInputs {
  RouterStep(const fixtures::Case& c, int64_t step);
  std::span<const std::byte> bytes(size_t tensor) const override;
  int64_t kept_bytes() const override;

  fixtures::RouterInputs in;
  Bytes logits;  // as the kernel gets them
  Bytes bias;
};

oracle::RouterRow router_row(const RouterProblem& problem, const fixtures::RouterInputs& in,
                             int64_t token);

// The answer to a token, [k].
struct RouterAnswer {
  std::span<const int32_t> ids;
  std::span<const float> weights;
};
RouterAnswer router_answer(const RouterProblem& problem, std::span<const Bytes> after,
                           int64_t token);

struct JudgedToken {
  int64_t token = 0;
  oracle::RouterJudgement judgement;
  int64_t gap_writes = 0;  // elements behind the row, of both outputs, that changed
  bool ok() const { return judgement.ok() && gap_writes == 0; }
};
// All tokens of a launch.
std::vector<JudgedToken> judge_tokens(const RouterProblem& problem,
                                      const fixtures::RouterInputs& in,
                                      std::span<const Bytes> after, std::span<const Bytes> before);

// Whether any launch of the case has a token whose experts the contract fixes.
bool any_choice_at_stake(const fixtures::Case& c);

}  // namespace exactk::props
