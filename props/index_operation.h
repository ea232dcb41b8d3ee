// index.combine, index.translate and index.swa: every element is fixed by the contract, so the
// judgement is a comparison.
#pragma once

#include <memory>
#include <vector>

#include "props/index_problem.h"
#include "props/operation.h"

namespace exactk::props {

// The arguments of an index operation.
class IndexCall : public Call {
 public:
  explicit IndexCall(const IndexProblem& problem);
  void place(const Placement& at) override;
  const void* descriptor() const override;

  exactk_combine* combine() { return op_ == IndexOp::kCombine ? &combine_ : nullptr; }
  exactk_translate* translate() { return op_ == IndexOp::kTranslate ? &translate_ : nullptr; }

 private:
  IndexOp op_;
  exactk_combine combine_{};
  exactk_translate translate_{};
  exactk_swa swa_{};
};

// A launch judged: outputs of kSlots, kLens and kIndptr by tensor. `local`: the local indices that
// the operation read.
Findings judge_index(const IndexProblem& problem, const fixtures::IndexInputs& in,
                     std::span<const int32_t> local, const Launched& launched,
                     std::span<const Bytes> after, std::span<const Bytes> before);

// What output `tensor` holds before launch `step`.
Bytes index_poison(const IndexProblem& problem, int64_t step, int variant, size_t tensor);

class IndexOperation : public Operation {
 public:
  IndexOperation(const fixtures::Case& c, const KernelUnderTest& kernel);

  const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  std::shared_ptr<const StepInputs> make_inputs(int64_t step, LogitsFrom from) const override;
  Bytes poison(int64_t step, int variant, size_t tensor) const override;
  std::unique_ptr<Call> call(std::optional<int64_t> launch) const override;
  Findings judge(const Launched& launched) const override;

 private:
  IndexProblem problem_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace exactk::props
