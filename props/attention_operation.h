// attention.sparse_prefill and attention.sparse_decode, judged by bands around the exact result.
#pragma once

#include <memory>
#include <vector>

#include "props/attention_problem.h"
#include "props/operation.h"

namespace exactk::props {

// The arguments of an attention, and what the launch said of its rounding.
class AttentionCall : public Call {
 public:
  AttentionCall(const AttentionProblem& problem, const fixtures::LongestLists& known);
  void place(const Placement& at) override;
  const void* descriptor() const override;
  const exactk_attention_report& rounding() const { return report_; }
  exactk_sparse_decode* decode() { return decode_ ? &decode_d_ : nullptr; }

 private:
  bool decode_;
  exactk_sparse_prefill prefill_d_{};
  exactk_sparse_decode decode_d_{};
  exactk_attention_report report_{};
};

class AttentionOperation : public Operation {
 public:
  AttentionOperation(const fixtures::Case& c, const KernelUnderTest& kernel);

  const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  std::shared_ptr<const StepInputs> make_inputs(int64_t step, LogitsFrom from) const override;
  Bytes poison(int64_t step, int variant, size_t tensor) const override;
  std::unique_ptr<Call> call(std::optional<int64_t> launch) const override;
  Findings judge(const Launched& launched) const override;
  bool loosely_right(Judge judge, const Launched& launched, const Findings& found) const override;
  bool holds_nan(const StepInputs& inputs) const override;
  std::string difference(const std::vector<Bytes>& a, const std::vector<Bytes>& b) const override;

  const AttentionProblem& problem() const { return problem_; }

 private:
  AttentionProblem problem_;
  std::vector<TensorSpec> tensors_;
  // Flags: what the launch that was judged last said not to answer.
  mutable uint32_t unanswered_ = 0;
};

}  // namespace exactk::props
