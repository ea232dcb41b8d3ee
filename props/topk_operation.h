// topk.decode and topk.prefill: judged row by row, relationally.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "props/operation.h"
#include "props/topk_problem.h"

namespace exactk::props {

// The arguments of top-k, decode or prefill.
class TopkCall : public Call {
 public:
  TopkCall(const TopkProblem& problem, int64_t max_seq_len_hint);
  TopkCall(const TopkCall&) = delete;
  void place(const Placement& at) override;
  const void* descriptor() const override;
  const exactk_topk_report* report() const override { return &report_; }
  int64_t max_seq_len_hint() const { return decode_.max_seq_len_hint; }

  exactk_topk_decode* decode() { return prefill_only_ ? nullptr : &decode_; }
  exactk_topk_prefill* prefill() { return prefill_only_ ? &prefill_ : nullptr; }

 private:
  bool prefill_only_;
  exactk_topk_tuning tuning_{};
  exactk_topk_report report_{};
  exactk_topk_decode decode_{};
  exactk_topk_prefill prefill_{};
};

class TopkOperation : public Operation {
 public:
  // `promised`: the modes that the rows are judged by.
  TopkOperation(const fixtures::Case& c, const KernelUnderTest& kernel, uint32_t promised);

  const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  std::shared_ptr<const StepInputs> make_inputs(int64_t step, LogitsFrom from) const override;
  Bytes poison(int64_t step, int variant, size_t tensor) const override;
  std::unique_ptr<Call> call(std::optional<int64_t> launch) const override;
  // What a host knows of the longest row when it calls.
  int64_t length_hint(std::optional<int64_t> launch) const;
  Findings judge(const Launched& launched) const override;
  bool loosely_right(Judge judge, const Launched& launched, const Findings& found) const override;
  bool holds_nan(const StepInputs& inputs) const override;
  bool policy_takes() const override;
  std::string difference(const std::vector<Bytes>& a, const std::vector<Bytes>& b) const override;
  kernels::Result<std::unique_ptr<DeviceFill>> device_fill(kernels::Device&) const override;

  const TopkProblem& problem() const { return problem_; }

 private:
  std::string path_difference(const Launched& launched) const;

  TopkProblem problem_;
  uint32_t promised_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace exactk::props
