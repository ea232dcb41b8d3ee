// What a failing launch of an index operation looks like, for people.
#pragma once

#include <string>
#include <vector>

#include "oracle/expected.h"
#include "props/index_problem.h"

namespace exactk::props {

struct JudgedTensor {
  IndexExpected expected;
  oracle::TensorJudgement judgement;
};

struct IndexEvidence {
  const IndexProblem& problem;
  int64_t step = 0;
  int variant = 0;
  const fixtures::IndexInputs& inputs;
  const std::vector<JudgedTensor>& tensors;
};

// One sentence: how many tokens, what the failing ones have in common and no other has, and what
// the bad elements have in common.
std::string diagnose(const IndexEvidence& evidence);

// The tokens that fail, ascending, without repeats; an element of indptr counts for its row.
std::vector<int64_t> failing_tokens(const IndexEvidence& evidence);

// The first failing tokens with their bad elements.
std::string index_anatomy(const IndexEvidence& evidence);

}  // namespace exactk::props
