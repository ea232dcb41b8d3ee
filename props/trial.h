// A run without a part of the suite, or by another judge, to measure what each part is worth. What
// comes out is a measurement and never a verdict on a kernel: only `exactk power` makes trials.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fixtures/case.h"
#include "oracle/verdict.h"
#include "props/topk_problem.h"

namespace exactk::props {

// The parts of the suite that can be left out; flags.
enum Ingredient : uint32_t {
  kInputs = 1u << 0,              // shapes, lengths, layouts and data of the case
  kExactJudge = 1u << 1,          // instead: the comparator "set, then values"
  kPoisonDifferential = 1u << 2,  // the second poison
  kGuards = 1u << 3,              // bytes around buffers, and inputs that stay as they are
  kReplay = 1u << 4,              // launches after the first
  kRepeat = 1u << 5,              // the same launch again
  kSchedule = 1u << 6,            // orders of blocks, waves and lanes of the host device
  kLaunchModes = 1u << 7,         // streams and graphs, and what a graph consists of
};
inline constexpr int kIngredients = 8;
std::string_view name(Ingredient ingredient);  // "inputs", "exact judge", ...

// The exact judge, and comparators as public tests have them. Those look at the first min(k, L)
// slots of a top-k row; of index operations they look at all but -1 tails and gaps.
enum class Judge : int32_t {
  kExact,
  kSetThenValues,  // the same set, or else sorted values within 1e-5
  kOverlap,        // 95 % of the indices
  kSortedValues,   // sorted values within 1e-5
};
inline constexpr int kJudges = 4;
std::string_view name(Judge judge);

struct Trial {
  uint32_t without = 0;  // Ingredient flags
  Judge judge = Judge::kExact;
  friend bool operator==(const Trial&, const Trial&) = default;
};

// The case without the ingredients that are a matter of the case: inputs, replay, repeat, schedule,
// launch modes. Always valid.
fixtures::Case trial_case(fixtures::Case c, uint32_t without);

// Whether the comparator takes the output, [rows, out_stride], for right.
bool loosely_right(Judge judge, const TopkProblem& problem, const TopkInputs& inputs,
                   std::span<const int32_t> output);

// Whether a comparator that looks at no tail and no gap would see these faults.
bool loosely_seen(oracle::FaultSet faults);

}  // namespace exactk::props
