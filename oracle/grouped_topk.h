// The MoE router: experts chosen by group, and the judge of one row of a kernel's answer.
//
// Source: vLLM grouped_topk and biased_grouped_topk. For the logits x of a token:
//   s = sigmoid(x) or softmax(x); c = s + bias, or s;
//   a group's score is the sum of its two largest c with a bias, its largest c without;
//   the topk_groups best groups stay, and of their experts the topk with the largest c win;
//   weight = s (never c), with `renormalize` divided by the sum over the winners, times `scaling`.
// Logits and bias are taken as they are (bf16 widened) and computed in float; the order of the
// winners is free. An expert of an excluded group never wins, whatever the sign of c.
//
// Selection has a margin. u = unit, f = error of the function: |computed s - s| <= b with
//   sigmoid  s (f + 2 u |x| (1 - s)) + 2^-126        exp of an argument that was rounded twice
//   softmax  s (2 f + 6 u A + gamma(experts + 1)) + 2^-126, A = max |x|: numerator and sum
// c may be off by b + u (|c| + b), a group's score by that of its two best and one more addition.
// Any answer is right that some scores inside these bands lead to. Weights are judged per chosen
// expert: [s - b, s + b], over the sum of the chosen ones +- gamma(topk + 2), times scaling (1 u);
// with `weight_from_biased` (c - bias, as one kernel has it) plus 3 u (|c| + |bias|).
//
// NaN: an expert with a NaN c never wins and lifts no group, as -infinity. A row is open, and only
// range and duplicates are checked, if fewer than topk_groups groups have a score that is finite,
// or too few finite c for the topk are left; as is a softmax row with a NaN, a +inf or only -inf.
// Weights whose sum may be zero are open, as are those with a NaN where a group that may win has
// too few numbers.
//
// What it does not check: rows that must stay untouched, guard bytes, the order of ties.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracle/band.h"
#include "oracle/verdict.h"

namespace exactk::oracle {

enum class RouterScoring : uint8_t { kSigmoid, kSoftmax };

struct RouterSpec {
  int64_t groups = 1;       // divides the experts
  int64_t topk_groups = 1;  // in [1, groups]
  int64_t topk = 1;         // in [1, topk_groups * experts / groups]
  RouterScoring scoring = RouterScoring::kSigmoid;
  bool renormalize = true;
  double scaling = 1;  // finite
};

struct RouterPrecision {
  double unit = 0x1p-24;
  double function_error = 0x1p-21;  // 8 ulp of float at most: a fast exp and a fast reciprocal
  bool weight_from_biased = false;
};

struct RouterRow {
  std::span<const float> logits{};  // [experts]
  std::span<const float> bias{};    // [experts], or empty: none
};

// One sentence if the sizes do not fit together, else empty. The functions below need it empty.
std::string problem_of(const RouterSpec& spec, const RouterRow& row);

// The winners without a margin, best first, ties to the smaller id; NaN as above.
std::vector<int32_t> grouped_topk(const RouterSpec& spec, const RouterRow& row);

struct BadChoice {
  int64_t slot = -1;    // of the answer; -1 for an expert that is missing
  int32_t expert = -1;  // as answered, or the missing one
  FaultKind kind{};     // kMissingWinner, kIntruder, kDuplicate, kOutOfRange, kWrongValue (weight)
  Band want;            // of a weight
  double got = 0;
};

struct RouterJudgement {
  FaultSet faults;
  // Of a wrong selection: the differences from the winners without a margin.
  std::vector<BadChoice> bad;
  bool open = false;  // the contract says nothing of the choice
  bool ok() const { return faults.empty(); }
};

// `ids` and `weights` have topk elements.
RouterJudgement judge_router(const RouterSpec& spec, const RouterPrecision& precision,
                             const RouterRow& row, std::span<const int32_t> ids,
                             std::span<const float> weights);

}  // namespace exactk::oracle
