// The report of a run for CI servers.
#pragma once

#include <string>
#include <vector>

#include "props/outcome.h"

namespace exactk::props::cli {

// JUnit's XML: a test suite per kernel, a test case per run, named by case line and wave width. A
// failure's text is the whole report, case and replay line among it. A weak run is a failure unless
// weak ones are allowed, as the run's exit code has it.
std::string junit_text(const std::vector<Outcome>& outcomes, bool allow_weak);

}  // namespace exactk::props::cli
