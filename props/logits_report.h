// What a failing launch of a logits operation looks like, for people.
#pragma once

#include <span>
#include <string>

#include "props/logits_problem.h"

namespace exactk::props {

struct LogitsEvidence {
  const LogitsProblem& problem;
  int64_t step = 0;
  int variant = 0;
  const oracle::LogitsJudgement& judgement;
};

// One sentence: how many rows, what the failing ones have in common and no other has, and what the
// bad columns have in common.
std::string diagnose(const LogitsEvidence& evidence);

// The first failing rows with their bad columns.
std::string logits_anatomy(const LogitsEvidence& evidence);

}  // namespace exactk::props
