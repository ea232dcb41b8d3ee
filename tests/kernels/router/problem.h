// Small inputs of the router, whose answers are judged row by row. Values are drawn by the counter
// generator, so that a problem is a function of its numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/abi/exactk_abi.h"
#include "oracle/grouped_topk.h"
#include "tests/kernels/index/harness.h"

namespace exactk::kernels::test {

struct RouterNumbers {
  int64_t tokens = 5;
  int64_t experts = 64;
  int64_t groups = 8;
  int64_t topk_groups = 4;
  int64_t k = 8;
  oracle::RouterScoring scoring = oracle::RouterScoring::kSigmoid;
  bool biased = true;
  bool renormalize = true;
  double scaling = 2.5;
  bool bf16 = false;
  int64_t logit_pad = 0;  // beyond the experts
  int64_t out_pad = 0;    // beyond k
  uint64_t seed = 1;
};

struct RouterProblem final : Problem {
  RouterNumbers n;
  std::vector<float> logits;  // [tokens, experts], bf16 where it is meant to be
  std::vector<float> bias;    // [experts], or empty

  float& logit(int64_t token, int64_t expert) {
    return logits[static_cast<size_t>(token * n.experts + expert)];
  }

  std::vector<Output> outputs() const override;
  // "token 3: intruder, expert 5"
  std::string judge(Buffers& buffers, uint8_t before) const override;
  void upload_inputs(Buffers& buffers) const override;
  const void* descriptor(const Buffers& buffers, const Place& place) override;

 private:
  oracle::RouterSpec spec() const;
  std::string judge_row(int64_t token, std::span<const int32_t> ids, std::span<const float> weights,
                        int32_t before) const;

  exactk_router d_{};
};

// Logits in [-4, 4) and bias in [-0.5, 0.5), in steps that bf16 does not round.
RouterProblem router_problem(const RouterNumbers& numbers);

}  // namespace exactk::kernels::test
