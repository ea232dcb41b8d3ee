// What a run does with its failures once everything was judged: it runs them again, and makes the
// first of each kernel small.
#pragma once

#include <string>
#include <vector>

#include "props/cli/common.h"
#include "props/cli/failure_log.h"
#include "props/shrink.h"

namespace exactk::props::cli {

struct Failure {
  Job job;
  Outcome outcome;          // the first evidence
  std::vector<Job> before;  // what the same process had run before
};

// Examines the failures one after the other, each at most once, until `seconds` are over, and
// prints what came out. Each is in `log` already; what is found is added.
void examine_failures(const std::vector<Failure>& failures, const Workbench& bench,
                      const ShrinkLimits& limits, FailureLog& log);

// Prints what shrinking came to.
void print_shrunk(const ShrinkResult& result);

}  // namespace exactk::props::cli
