// What several commands share: opening a device with an exit code, wave widths, kernels.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fixtures/case_file.h"
#include "kernels/device/device.h"
#include "props/cli/exit_code.h"
#include "props/isolated_runner.h"
#include "props/kernel_under_test.h"
#include "props/ledger.h"
#include "props/plugins.h"

namespace exactk::props::cli {

// Prints one sentence on stderr and hands the code back.
int complain(ExitCode code, const std::string& sentence);

// Seconds from now on; 0: without an end.
class Budget {
 public:
  explicit Budget(double seconds) : seconds_(seconds) {}
  bool ended() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return seconds_ > 0 && spent.count() >= seconds_;
  }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct DeviceOptions {
  std::string device{kernels::device_kinds().front()};
  std::string wave = "both";  // host only: 32, 64, both
  std::string kernel = "*";
  std::optional<uint64_t> schedule_seed;  // overrides the cases' own
  double timeout_s = 0;                   // 0: 120 on the host device, 30 on a GPU
  int workers = 2;                        // host only: threads that run blocks
  bool in_process = false;
  std::vector<std::string> plugins;  // paths of shared libraries
  bool kernel_given = false;         // --kernel; without it plugins are judged alone
};
// Checks with messages that say what to give instead.
CLI::Validator at_least_zero();
CLI::Validator above_zero();

void add_plugin_option(CLI::App& command, DeviceOptions& options);
void add_device_options(CLI::App& command, DeviceOptions& options);

// What the options stand for, checked.
struct Workbench {
  kernels::DeviceInfo device;
  std::vector<int> waves;
  std::vector<KernelUnderTest> kernels;
  std::vector<Outcome> refused;            // plugins and kernels of them: failures, with a report
  std::function<Outcome(const Job&)> run;  // judges, with a report
  // What the process that runs the next job has run, as far as it is kept; and a fresh process for
  // it. In the process itself: nothing, and nothing happens.
  std::function<std::vector<Job>()> ran = [] { return std::vector<Job>(); };
  std::function<void()> restart = [] {};
};
std::variant<Workbench, int> open_workbench(const DeviceOptions& options);

// Whether the kernel is one of the case's operation.
inline bool is_of(const KernelUnderTest& kernel, const fixtures::Case& c) {
  return kernel.kernel->op == fixtures::name(c.op);
}

// A GPU fills its own logits; on the host device it would save nothing.
inline LogitsFrom logits_from(const kernels::DeviceInfo& device) {
  return device.kind == "host" ? LogitsFrom::kHost : LogitsFrom::kDevice;
}

// The case on every wave width and kernel of its operation, as the options want it.
std::vector<Job> jobs_of(const Workbench& bench, const DeviceOptions& options, fixtures::Case c);

// Wave widths to run on: of the host device as asked for, else the device's own.
std::vector<int> waves_of(const DeviceOptions& options, const kernels::DeviceInfo& device);

// The kernels that the options name; the error is an exit code, its sentence printed.
std::variant<std::vector<KernelUnderTest>, int> kernels_of(const DeviceOptions& options,
                                                           const kernels::DeviceInfo& device,
                                                           const Plugins& plugins);

// The failures that the refused plugins and kernels are, as far as the options name them.
std::vector<Outcome> refused_of(const DeviceOptions& options, const kernels::DeviceInfo& device,
                                const Plugins& plugins);

// Prints what was refused and adds it to the ledger.
void report_refused(const std::vector<Outcome>& refused, Ledger& ledger);

}  // namespace exactk::props::cli
