// What several commands share: opening a device with an exit code, wave widths, kernels.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fixtures/case_file.h"
#include "kernels/device/device.h"
#include "props/cli/exit_code.h"
#include "props/kernel_under_test.h"
#include "props/runner.h"

namespace exactk::props::cli {

// Prints one sentence on stderr and hands the code back.
int complain(ExitCode code, const std::string& sentence);

struct DeviceOptions {
  std::string device = "host";
  std::string wave = "both";  // host only: 32, 64, both
  std::string kernel = "topk.*";
  std::optional<uint64_t> schedule_seed;  // overrides the cases' own
};

void add_device_options(CLI::App& command, DeviceOptions& options);

// What the options stand for, opened and checked.
struct Workbench {
  std::unique_ptr<kernels::Device> device;
  std::vector<int> waves;
  std::vector<KernelUnderTest> kernels;
};
std::variant<Workbench, int> open_workbench(const DeviceOptions& options);

}  // namespace exactk::props::cli
