// Random cases, drawn with RapidCheck. RapidCheck only ever sees a Case; large arrays are derived
// from it.
#pragma once

#include <cstdint>
#include <vector>

#include "fixtures/case.h"

namespace exactk::props {

struct DrawLimits {
  int64_t elements_max = 60000;        // logits of one launch
  int64_t launches_max = 6;            // launches of one case
  std::vector<fixtures::Op> ops = {};  // of which operations; none given: of all
};

// Case number `index` of the run with `seed`: a pure function, so that results depend neither on
// order nor on which other cases are run. Always valid.
fixtures::Case draw_case(uint64_t seed, int64_t index, const DrawLimits& limits);

// Whether any launch of the case has an index to get right. One that has none would be weak.
bool anything_at_stake(const fixtures::Case& c);

}  // namespace exactk::props
