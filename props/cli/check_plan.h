// exactk check --op mla.plan: the options and the verdict of a recorded work plan.
#pragma once

#include <CLI/CLI.hpp>

#include "props/recorded_plan.h"

namespace exactk::props::cli {

void add_plan_options(CLI::App& command, RecordedPlanFiles& files);

// Whether one of the plan's own files is given.
bool any_plan_file(const RecordedPlanFiles& files);

// Judges, prints and gives the exit code.
int check_plan(const RecordedPlanFiles& files);

}  // namespace exactk::props::cli
