// The attention of a case, launch by launch: its inputs as arguments of a kernel, and as the oracle
// judges what came out.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "oracle/sparse_attention.h"
#include "props/attention_operation.h"
#include "tests/kernels/index/harness.h"

namespace exactk::kernels::test {

class AttentionCase : public Problem {
 public:
  // The text of a case; aborts the test program where it is none.
  explicit AttentionCase(std::string_view text);
  void go_to(int64_t step);

  std::vector<Output> outputs() const override;
  std::string judge(Buffers& buffers, uint8_t before) const override;
  void upload_inputs(Buffers& buffers) const override;
  const void* descriptor(const Buffers& buffers, const Place& place) override;

  // Of the last judge().
  const oracle::AttentionJudgement& judgement() const { return judgement_; }
  const std::vector<props::Bytes>& answer() const { return answer_; }

  props::AttentionProblem problem;
  props::AttentionStep step;

 private:
  std::vector<props::TensorSpec> tensors_;
  std::unique_ptr<props::AttentionCall> call_;
  mutable oracle::AttentionJudgement judgement_;
  mutable std::vector<props::Bytes> answer_;
};

// The kernels that ship for the problem's operation.
std::vector<std::string_view> shipped_kernels(const AttentionCase& attention);

}  // namespace exactk::kernels::test
