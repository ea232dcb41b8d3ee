// What a failing launch of attention looks like, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/sparse_attention.h"
#include "props/attention_problem.h"

namespace exactk::props {

struct AttentionEvidence {
  const AttentionProblem& problem;
  const AttentionStep& inputs;
  const oracle::AttentionJudgement& judgement;
  int64_t changed_gaps = 0;  // elements between tokens that were written
  int64_t step = 0;
  int variant = 0;
};

// One sentence: how many rows, which outputs are wrong in them, and what the failing ones have in
// common and no other has.
std::string diagnose(const AttentionEvidence& evidence);

// The tokens of the bad elements that are listed, ascending, without repeats.
std::vector<int64_t> failing_tokens(const AttentionEvidence& evidence);

// The first failing rows with their bad elements.
std::string attention_anatomy(const AttentionEvidence& evidence);

}  // namespace exactk::props
