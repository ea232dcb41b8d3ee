// The logits of a case, launch by launch: its inputs as arguments of a kernel, and as the oracle
// judges what came out.
#pragma once

#include <string>
#include <string_view>

#include "fixtures/case.h"
#include "fixtures/logits_inputs.h"
#include "oracle/mqa_logits.h"
#include "tests/kernels/index/harness.h"

namespace exactk::kernels::test {

class LogitsProblem : public Problem {
 public:
  // The text of a case; aborts the test program where it is none.
  explicit LogitsProblem(std::string_view text);
  void go_to(int64_t step) { in = fixtures::mqa_inputs(c, step); }

  std::vector<Output> outputs() const override;
  std::string judge(Buffers& buffers, uint8_t before) const override;
  void upload_inputs(Buffers& buffers) const override;
  const void* descriptor(const Buffers& buffers, const Place& place) override;

  fixtures::Case c;
  fixtures::MqaShape shape;
  fixtures::MqaInputs in;

 private:
  exactk_mqa_logits ragged_{};
  exactk_mqa_logits_paged paged_{};
};

// The kernel that ships for the problem's operation.
std::string_view shipped_kernel(const LogitsProblem& problem);

}  // namespace exactk::kernels::test
