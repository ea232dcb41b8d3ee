// The exit codes of the tool; docs/TOOL.md documents them.
#pragma once

namespace exactk::props::cli {

enum ExitCode : int {
  kAllPassed = 0,
  kKernelFailed = 1,
  kUsage = 2,          // usage, or an unreadable case
  kNothingJudged = 3,  // nothing was judged, weak cases where they are not
                       // allowed, or required bins that no case visited
  kNoDevice = 4,
  kBudgetEnded = 5,  // before the required cases were run
  kInternal = 70,    // the suite contradicts itself
};

}  // namespace exactk::props::cli
