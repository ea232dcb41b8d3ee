// What a failing launch of top-k looks like, for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "props/judge_launch.h"

namespace exactk::props {

// The evidence of a launch that broke the contract.
struct TopkEvidence {
  const TopkProblem& problem;
  int64_t step = 0;  // 0: the first launch
  int variant = 0;   // 0: the case's own poison, 1: the other one
  const LaunchJudgement& judgement;
  const TopkInputs& inputs;
  bool replayed;                    // of a captured call
  const TopkInputs& first_inputs;   // of the capture where it was replayed, else of launch 0
  std::span<const int32_t> output;  // the whole output tensor
};

// One sentence: how many rows, what the failing rows have in common and no passing row has, and
// what the bad slots have in common.
std::string diagnose(const TopkEvidence& evidence);

// The first failing rows with their bad positions.
std::string topk_anatomy(const TopkEvidence& evidence);

// "contract prefix": the weakest promise that broke.
std::string topk_broke(const TopkEvidence& evidence);

// "1.5 (0x3fc00000)"
std::string logit_text(uint32_t bits);

}  // namespace exactk::props
