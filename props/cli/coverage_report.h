// What a run did not visit of the input space, in words.
#pragma once

#include <string>
#include <vector>

#include "props/coverage.h"

namespace exactk::props::cli {

// One sentence that names the missing bins of a tier, the first ten of many, and a case that visits
// one of those, where it is quickly found.
std::string missing_text(const std::string& tier, const std::vector<Bin>& missing);

}  // namespace exactk::props::cli
