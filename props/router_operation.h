// router.grouped_topk: which experts a token goes to, judged with a margin, and their weights.
#pragma once

#include <memory>
#include <vector>

#include "props/operation.h"
#include "props/router_problem.h"

namespace exactk::props {

class RouterCall : public Call {
 public:
  explicit RouterCall(const RouterProblem& problem);
  void place(const Placement& at) override;
  const void* descriptor() const override { return &d_; }

 private:
  exactk_router d_{};
};

class RouterOperation : public Operation {
 public:
  RouterOperation(const fixtures::Case& c, const KernelUnderTest& kernel);

  const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  std::shared_ptr<const StepInputs> make_inputs(int64_t step, LogitsFrom from) const override;
  Bytes poison(int64_t step, int variant, size_t tensor) const override;
  std::unique_ptr<Call> call(std::optional<int64_t> launch) const override;
  Findings judge(const Launched& launched) const override;
  // By the overlap: 95 % of the experts of a launch, and no weights.
  bool loosely_right(Judge judge, const Launched& launched, const Findings& found) const override;
  bool holds_nan(const StepInputs& inputs) const override;
  // Of ids and of the bits of weights.
  std::string difference(const std::vector<Bytes>& a, const std::vector<Bytes>& b) const override;

 private:
  RouterProblem problem_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace exactk::props
