// Times the calls of one kernel on one case. Nothing is judged here: time what was judged right.
#pragma once

#include <cstdint>
#include <memory>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "props/kernel_under_test.h"
#include "props/launch_session.h"
#include "props/runner.h"

namespace exactk::props {

class KernelTimer {
 public:
  // Feeds the case's first launch and warms the kernel up. A device holds one graph, so two timers
  // that take turns need a device each. The error is one sentence.
  static kernels::Result<std::unique_ptr<KernelTimer>> open(kernels::Device& device,
                                                            const fixtures::Case& c,
                                                            const KernelUnderTest& kernel,
                                                            const RunnerOptions& options);

  // Seconds of one call. On a GPU the mean of many that follow each other, so that the wait for the
  // last one weighs little.
  kernels::Result<double> call_s();

 private:
  std::unique_ptr<Operation> operation_;
  std::unique_ptr<LaunchSession> session_;
  int calls_ = 1;
};

}  // namespace exactk::props
