// logits.mqa and logits.mqa_paged: every number judged by the oracle, bitwise or by its bound.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "props/logits_problem.h"
#include "props/operation.h"

namespace exactk::props {

// The arguments of a logits operation.
class LogitsCall : public Call {
 public:
  LogitsCall(const LogitsProblem& problem, int64_t max_seq_len_hint);
  void place(const Placement& at) override;
  const void* descriptor() const override;
  exactk_mqa_logits_paged* paged() { return is_paged_ ? &paged_ : nullptr; }

 private:
  bool is_paged_;
  exactk_mqa_logits ragged_{};
  exactk_mqa_logits_paged paged_{};
};

class LogitsOperation : public Operation {
 public:
  LogitsOperation(const fixtures::Case& c, const KernelUnderTest& kernel);

  const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  std::shared_ptr<const StepInputs> make_inputs(int64_t step, LogitsFrom from) const override;
  Bytes poison(int64_t step, int variant, size_t tensor) const override;
  std::unique_ptr<Call> call(std::optional<int64_t> launch) const override;
  Findings judge(const Launched& launched) const override;
  bool loosely_right(Judge judge, const Launched& launched, const Findings& found) const override;
  bool holds_nan(const StepInputs& inputs) const override;
  std::string launch_difference(int64_t step, const std::vector<Bytes>& a,
                                const std::vector<Bytes>& b) const override;

  const LogitsProblem& problem() const { return problem_; }
  int64_t length_hint(std::optional<int64_t> launch) const;

 private:
  LogitsProblem problem_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace exactk::props
