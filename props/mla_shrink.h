// Makes a failing program of metadata steps as small as it can be while it fails alike.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "props/mla_program.h"
#include "props/mla_session.h"

namespace exactk::props {

struct MlaShrinkLimits {
  int64_t executions = 2000;  // in all
  double seconds = 20;        // after which nothing more is tried
};

struct MlaShrunk {
  MlaProgram program;
  MlaOutcome outcome;  // of it
  int64_t executions = 0;
  bool minimal = false;  // no candidate fails alike, and no limit ended the search
};

// Programs without a problem that are simpler than this one, the boldest first: without a command,
// without a request in one or all builds, with smaller numbers, with a host that knows the lengths.
std::vector<MlaProgram> smaller_programs(const MlaProgram& program);

// Greedy, as shrink() of cases: the first candidate that fails in the same place takes the place of
// the program, until none does. No program is run twice. `failed` is the outcome of `program`, a
// failure; `run` gives that of another one.
MlaShrunk shrink_mla_program(const MlaProgram& program, const MlaOutcome& failed,
                             const std::function<MlaOutcome(const MlaProgram&)>& run,
                             const MlaShrinkLimits& limits = {});

}  // namespace exactk::props
