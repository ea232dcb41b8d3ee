// Runs each case in a child process, so that a kernel that crashes, hangs or exits decides one run
// and not the suite.
//
// The child opens the device and keeps it from run to run; after a crash or a timeout the next run
// gets a fresh one. The parent never touches a device and stays single-threaded, so that fork is
// safe.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "props/kernel_under_test.h"
#include "props/outcome.h"
#include "props/runner.h"

namespace exactk::props {

struct Job {
  fixtures::Case value;
  KernelUnderTest kernel;
  RunnerOptions options;
};

// Finds a kernel by its name in the child.
using KernelLookup = std::function<kernels::Result<KernelUnderTest>(std::string_view name)>;

class IsolatedRunner {
 public:
  // `device` as in open_device(). A run that gives no sign of life for `timeout_s` seconds is
  // ended; every judged launch is a sign of life.
  IsolatedRunner(std::string device, double timeout_s, KernelLookup lookup);
  ~IsolatedRunner();
  IsolatedRunner(const IsolatedRunner&) = delete;
  IsolatedRunner& operator=(const IsolatedRunner&) = delete;

  // Opens the device in the first child. The error is one sentence.
  kernels::Result<kernels::DeviceInfo> start();

  // Runs the job in the child. A child that ends by a signal, by exit or by timeout gives kFailed
  // with a reason that says so. Throws InternalError if the child met one, or if no child can be
  // had.
  Outcome run(const Job& job);

 private:
  struct Child;
  Outcome lost(const Job& job, const std::string& reason) const;

  std::string device_;
  double timeout_s_;
  KernelLookup lookup_;
  kernels::DeviceInfo info_;
  std::unique_ptr<Child> child_;
};

}  // namespace exactk::props
