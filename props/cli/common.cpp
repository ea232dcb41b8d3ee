#include "props/cli/common.h"

#include <fmt/format.h>

#include <cstdio>

namespace exactk::props::cli {

int complain(ExitCode code, const std::string& sentence) {
  fmt::print(stderr, "exactk: {}\n", sentence);
  return code;
}

std::variant<Workbench, int> open_workbench(const DeviceOptions& options) {
  Workbench bench;
  auto kernels = select_kernels(options.kernel);
  if (!kernels) {
    const bool glob = options.kernel.find_first_of("*?") != std::string::npos;
    return complain(glob ? kNothingJudged : kUsage, kernels.error());
  }
  bench.kernels = std::move(*kernels);
  auto device = kernels::open_device(options.device);
  if (!device) return complain(kNoDevice, device.error());
  bench.device = std::move(*device);
  if (bench.device->info().kind != "host") {
    bench.waves = {bench.device->info().wave_width};
  } else if (options.wave == "both") {
    bench.waves = {32, 64};
  } else {
    bench.waves = {options.wave == "32" ? 32 : 64};
  }
  return bench;
}

void add_device_options(CLI::App& command, DeviceOptions& options) {
  command
      .add_option("--device", options.device,
                  "host, hip or cuda, with an optional index as in cuda:1")
      ->capture_default_str();
  command.add_option("--wave", options.wave, "host device: wave width")
      ->check(CLI::IsMember({"32", "64", "both"}))
      ->capture_default_str();
  command
      .add_option("--kernel", options.kernel,
                  "kernels to judge, * and ? as in a shell; mutants only by 'mutant.*'")
      ->capture_default_str();
  command.add_option("--schedule-seed", options.schedule_seed,
                     "host device: order of blocks, waves and lanes, instead of the cases' own");
}

}  // namespace exactk::props::cli
