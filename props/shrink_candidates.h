// Smaller cases to try in place of one that fails.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fixtures/case.h"
#include "props/outcome.h"

namespace exactk::props {

// How big a case is, compared like a word: by the first number that differs. Every candidate is
// smaller by it, and a word of so many numbers from 0 on cannot become smaller for ever. In order:
// launches; launch mode; rows, or the most tokens; requests, or drafts of one; width or context; by
// which rule lengths come; k, window, images, heads and dims; what other rules and their lists are;
// the sum of their values; the pattern's kind; its arguments; members that are not the default,
// tuned numbers and single logits counted each; the sum of strides and tuned numbers; characters of
// the text.
using ShrinkMeasure = std::array<int64_t, 14>;
ShrinkMeasure shrink_measure(const fixtures::Case& c);

struct ShrinkCandidate {
  fixtures::Case value;
  std::string_view pass;  // what is made smaller: "diagnosis", "launches", "rows", ...
};

// Tens of cases, the boldest first, each valid, smaller than `c` by shrink_measure(), and no two
// the same: what the failing rows and the failing launch of `hints` suggest, then pass by pass.
// `hints`: an outcome of `c`; one that knows no rows and no launch suggests nothing.
std::vector<ShrinkCandidate> shrink_candidates(const fixtures::Case& c, const Outcome& hints);

}  // namespace exactk::props
