// One sentence about a failure: how many rows, what the failing rows have in common and no passing
// row has, and what the bad slots have in common.
#pragma once

#include <string>

#include "fixtures/case.h"
#include "props/outcome.h"

namespace exactk::props {

std::string diagnose(const fixtures::Case& c, const Evidence& evidence);

}  // namespace exactk::props
