// The machine-readable report of a run.
#pragma once

#include <string>
#include <vector>

#include "props/coverage.h"
#include "props/ledger.h"
#include "props/outcome.h"

namespace exactk::props::cli {

// One sentence if --json names a file that can't be written; empty for no name.
std::string unwritable(const std::string& file);

// Writes a whole file; an error is one sentence.
std::string write_report(const std::string& file, const std::string& text);

// Writes one JSON document: {"exactk": ..., "runs": [...], "bins": [...], "totals": {...}}; `bins`
// holds each that was visited or is required. An error is one sentence.
std::string write_json(const std::string& file, const std::vector<Outcome>& outcomes,
                       const Ledger& ledger, const Coverage& coverage,
                       const std::vector<Bin>& required, int exit_code);

}  // namespace exactk::props::cli
