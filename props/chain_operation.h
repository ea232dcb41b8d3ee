// chain.decode and chain.prefill: top-k, then the mapping of its indices, on one stream. Both
// stages are judged: the first against its own contract and the prefix that the second relies on,
// the second against the indices that it really read. Together that is the direct definition: the
// mapped set of a valid top-k set.
#pragma once

#include <memory>
#include <vector>

#include "props/index_operation.h"
#include "props/operation.h"
#include "props/topk_operation.h"

namespace exactk::props {

class ChainOperation : public Operation {
 public:
  ChainOperation(const fixtures::Case& c, const KernelUnderTest& kernel);

  // Those of top-k, then those of the mapping.
  const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  std::shared_ptr<const StepInputs> make_inputs(int64_t step, LogitsFrom from) const override;
  Bytes poison(int64_t step, int variant, size_t tensor) const override;
  std::unique_ptr<Call> call(std::optional<int64_t> launch) const override;
  Findings judge(const Launched& launched) const override;
  bool loosely_right(Judge judge, const Launched& launched, const Findings& found) const override;
  bool holds_nan(const StepInputs& inputs) const override {
    return topk_.holds_nan(inputs.of_logits());
  }
  bool policy_takes() const override { return topk_.policy_takes(); }
  std::string difference(const std::vector<Bytes>& a, const std::vector<Bytes>& b) const override {
    return topk_.difference(a, b);
  }
  kernels::Result<std::unique_ptr<DeviceFill>> device_fill(kernels::Device&) const override;

 private:
  Launched top_k_stage(const Launched& launched) const;
  Findings judge_mapping(const Launched& launched) const;

  TopkOperation topk_;
  IndexProblem index_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace exactk::props
