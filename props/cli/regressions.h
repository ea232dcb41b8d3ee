// The corpus of cases that once failed: a numbered case file each, run first in every tier.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fixtures/case.h"
#include "props/outcome.h"

namespace exactk::props::cli {

// Writes FOLDER/NNNN-slug.cases with the next free number: where and why the case failed as
// comments, then its line. The path, or one sentence: a folder that is not there, a slug that is no
// file name (small letters, digits and hyphens), a case that the corpus has already.
fixtures::Result<std::filesystem::path> add_regression(const std::filesystem::path& folder,
                                                       const std::string& slug,
                                                       const fixtures::Case& c,
                                                       const std::vector<Outcome>& outcomes);

}  // namespace exactk::props::cli
