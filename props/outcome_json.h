// Outcomes as JSON: between the processes of a run, and in reports. The evidence of rows stays
// behind; its text goes along.
#pragma once

#include <string>
#include <string_view>

#include "props/outcome.h"

namespace exactk::props {

// One line, no newline.
std::string outcome_to_json(const Outcome& outcome);

// The inverse, without evidence. Throws InternalError on anything that outcome_to_json did not
// write.
Outcome outcome_from_json(std::string_view text);

}  // namespace exactk::props
