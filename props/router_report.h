// What a failing launch of the router looks like, for people.
#pragma once

#include <string>
#include <vector>

#include "props/router_problem.h"

namespace exactk::props {

struct RouterEvidence {
  const RouterProblem& problem;
  int64_t step = 0;
  int variant = 0;
  const fixtures::RouterInputs& inputs;
  const std::vector<Bytes>& after;
  const std::vector<JudgedToken>& tokens;  // all of them
};

// One sentence: how many tokens, and what is wrong with how many experts and weights.
std::string diagnose(const RouterEvidence& evidence);

// The first failing tokens with their bad slots and missing experts.
std::string router_anatomy(const RouterEvidence& evidence);

// The part of the contract that is broken: the choice says more than weights.
std::string router_broke(const RouterEvidence& evidence);

}  // namespace exactk::props
