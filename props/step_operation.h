// step.decode: logits, top-k, translation and attention, each judged against what the stage before
// it really wrote: the logits bit by bit, the top-k as a set of these logits, its slots exactly,
// the attention by its definition over these slots. Together that is the dense definition
// restricted to a valid selection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "props/attention_operation.h"
#include "props/index_operation.h"
#include "props/logits_operation.h"
#include "props/operation.h"
#include "props/topk_operation.h"

namespace exactk::props {

class StepOperation : public Operation {
 public:
  StepOperation(const fixtures::Case& c, const KernelUnderTest& kernel);

  // Those of the stages, one stage after the other; what a stage reads of the one before has no
  // bytes.
  const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  std::shared_ptr<const StepInputs> make_inputs(int64_t step, LogitsFrom from) const override;
  Bytes poison(int64_t step, int variant, size_t tensor) const override;
  std::unique_ptr<Call> call(std::optional<int64_t> launch) const override;
  Findings judge(const Launched& launched) const override;
  bool loosely_right(Judge judge, const Launched& launched, const Findings& found) const override;
  bool policy_takes() const override { return topk_.policy_takes(); }

 private:
  LogitsOperation logits_;
  TopkOperation topk_;
  IndexProblem index_;
  AttentionOperation attention_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace exactk::props
