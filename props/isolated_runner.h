// Runs each case in a child process, so that a kernel that crashes, hangs or exits decides one run
// and not the suite.
//
// The child opens the device and keeps it from run to run; after a crash or a timeout the next run
// gets a fresh one. The parent never touches a device and stays single-threaded, so that fork is
// safe. Plugins are loaded in the child only, and again in every fresh one. One that is refused, or
// ends the child while it is loaded, is left out from then on: no child goes on after that.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "props/kernel_under_test.h"
#include "props/outcome.h"
#include "props/plugins.h"
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
  // `plugins`: paths; their kernels come before those that `lookup` finds.
  IsolatedRunner(std::string device, double timeout_s, KernelLookup lookup,
                 const std::vector<std::string>& plugins = {});
  ~IsolatedRunner();
  IsolatedRunner(const IsolatedRunner&) = delete;
  IsolatedRunner& operator=(const IsolatedRunner&) = delete;

  // Opens the device and loads the plugins, in the first child. The error, one sentence, is about
  // the device.
  kernels::Result<kernels::DeviceInfo> start();

  // What the plugins brought, after start(). Their kernels stand for those of the child, and live
  // as long as the runner.
  const Plugins& plugins() const { return plugins_; }

  // Runs the job in the child. A child that ends by a signal, by exit or by timeout gives kFailed
  // with a reason that says so. Throws InternalError if the child met one, or if no child can be
  // had.
  Outcome run(const Job& job);

  // What the child that runs the next job has run, the last one last; at most kJobsKept.
  static constexpr size_t kJobsKept = 8;
  const std::deque<Job>& ran() const { return ran_; }

  // Ends the child; the next job begins a fresh one.
  void restart();

 private:
  struct Child;
  kernels::Result<void> open_device();
  bool load_plugins();
  std::string load_plugin(const std::string& path);
  std::string refusal_of(const KernelUnderTest& kernel) const;
  Outcome lost(const Job& job, const std::string& reason) const;
  Outcome run_in_child(const Job& job);

  std::string device_;
  double timeout_s_;
  KernelLookup lookup_;
  std::vector<std::string> paths_;  // of the plugins that were not refused
  Plugins plugins_;
  kernels::DeviceInfo info_;
  std::unique_ptr<Child> child_;
  std::deque<Job> ran_;
};

}  // namespace exactk::props
