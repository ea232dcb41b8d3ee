// A case of attention as the runner and the judge see it: tensors, inputs, and the oracle's view of
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fixtures/attention_inputs.h"
#include "fixtures/case.h"
#include "oracle/sparse_attention.h"
#include "props/operation.h"

namespace exactk::props {

enum AttentionTensor : size_t {
  kAttentionQuery,
  kMainKeys,
  kMainIndices,
  kMainLens,
  kMainIndptr,
  kExtraKeys,
  kExtraIndices,
  kExtraLens,
  kExtraIndptr,
  kAttentionSink,
  kAttentionOut,
  kAttentionLse,
  kAttentionMax,
  kAttentionTensors,
};

struct AttentionProblem {
  fixtures::Case c;
  fixtures::AttentionShape shape;
  bool decode = false;
  float scale = 1;  // 1 / sqrt(dim)
};
AttentionProblem attention_problem(const fixtures::Case& c);
std::vector<TensorSpec> attention_tensors(const AttentionProblem& p);

// Inputs of one launch, and the same as numbers: keys [keys, dim] dequantised, queries.
struct AttentionStep : StepInputs {
  fixtures::AttentionInputs in;
  std::vector<float> query;
  std::vector<float> main_keys;
  std::vector<float> extra_keys;
  std::span<const std::byte> bytes(size_t tensor) const override;
  int64_t kept_bytes() const override;
};
AttentionStep attention_step(const AttentionProblem& p, int64_t step);
AttentionStep attention_step(const AttentionProblem& p, fixtures::AttentionInputs in);

// Views into the step, which must outlive them.
oracle::AttentionInput attention_input(const AttentionProblem& p, const AttentionStep& step);

// What a launch says of its rounding, with the contract's numbers where it says nothing.
oracle::AttentionPrecision precision_of(const exactk_attention_report& report);
// One sentence if the report holds numbers that no arithmetic has, else empty.
std::string problem_of(const exactk_attention_report& report);

// The oracle's judgement of a launch's outputs, by tensor.
oracle::AttentionJudgement judge_attention_outputs(const AttentionProblem& p,
                                                   const AttentionStep& step,
                                                   const exactk_attention_report& report,
                                                   const std::vector<Bytes>& after);

// Entries of a token that count, of both lists, with repetition.
struct TokenEntries {
  int64_t main = 0;
  int64_t extra = 0;
  int64_t all() const { return main + extra; }
};
TokenEntries entries_of(const AttentionProblem& p, const fixtures::AttentionInputs& in,
                        int64_t token);

// Whether any launch of the case has an entry that counts.
bool attention_at_stake(const fixtures::Case& c);

}  // namespace exactk::props
