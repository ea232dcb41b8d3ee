// The text of outcomes: for people, and for the last line of a run.
#pragma once

#include <string>

#include "props/ledger.h"
#include "props/outcome.h"

namespace exactk::props {

// The whole anatomy of a failure: kernel, case, failing rows with their bad positions, why, replay,
// built. For the other verdicts one or two lines.
std::string report_text(const Outcome& outcome);

// exactk replay '...' --kernel ... --device ... : fails again, on another machine too.
std::string replay_line(const Outcome& outcome);

// "prefix, repeatable": the strongest names of a set of contract modes.
std::string modes_text(uint32_t modes);

}  // namespace exactk::props
