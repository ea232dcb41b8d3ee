// Small inputs of the router, and a launch that is judged row by row. Values are drawn by the
// counter generator, so that a problem is a function of its numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

struct RouterProblem {
  RouterNumbers n;
  std::vector<float> logits;  // [tokens, experts], bf16 where it is meant to be
  std::vector<float> bias;    // [experts], or empty

  float& logit(int64_t token, int64_t expert) {
    return logits[static_cast<size_t>(token * n.experts + expert)];
  }
  oracle::RouterSpec spec() const;
};

// Logits in [-4, 4) and bias in [-0.5, 0.5), in steps that bf16 does not round.
RouterProblem router_problem(const RouterNumbers& numbers);

// The struct over these buffers; they may hold nothing yet.
exactk_router describe(const RouterProblem& problem, const Buffers& buffers, void* stream);

// Runs the kernel and judges every row, the gaps and the guards. Empty, or the first that is wrong:
// "token 3: intruder, expert 5".
std::string run(std::string_view kernel_name, const RouterProblem& problem,
                const Options& options = {});

// The same for a graph that is captured over the first problem and replayed over each.
std::string replay(std::string_view kernel_name, const std::vector<RouterProblem>& problems,
                   const Options& options = {});

}  // namespace exactk::kernels::test
