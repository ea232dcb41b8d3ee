#include "props/cli/common.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "props/report.h"
#include "props/runner.h"

namespace exactk::props::cli {

int complain(ExitCode code, const std::string& sentence) {
  fmt::print(stderr, "exactk: {}\n", sentence);
  return code;
}

std::vector<Job> jobs_of(const Workbench& bench, const DeviceOptions& options, fixtures::Case c) {
  if (options.schedule_seed) c.schedule = *options.schedule_seed;
  std::vector<Job> jobs;
  for (const int wave : bench.waves) {
    for (const KernelUnderTest& kernel : bench.kernels) {
      if (!is_of(kernel, c)) continue;
      jobs.push_back({c, kernel, {}});
      jobs.back().options.wave_width = wave;
      jobs.back().options.workers = options.workers;
      jobs.back().options.logits_from = logits_from(bench.device);
    }
  }
  return jobs;
}

std::vector<int> waves_of(const DeviceOptions& options, const kernels::DeviceInfo& device) {
  if (device.kind != "host") return {device.wave_width};
  if (options.wave == "both") return {32, 64};
  return {options.wave == "32" ? 32 : 64};
}

std::variant<std::vector<KernelUnderTest>, int> kernels_of(const DeviceOptions& options,
                                                           const kernels::DeviceInfo& device,
                                                           const Plugins& plugins) {
  const std::vector<KernelUnderTest> outside = plugins.kernels();
  if (!options.plugins.empty() && !options.kernel_given) return outside;
  auto kernels = select_kernels(device.kind, options.kernel, {outside, plugins.refused.empty()});
  if (kernels) return std::move(*kernels);
  const bool glob = options.kernel.find_first_of("*?") != std::string::npos;
  return complain(glob ? kNothingJudged : kUsage, kernels.error());
}

std::vector<Outcome> refused_of(const DeviceOptions& options, const kernels::DeviceInfo& device,
                                const Plugins& plugins) {
  std::vector<Outcome> refused;
  for (const kernels::Refusal& refusal : plugins.refused) {
    if (refusal.kernel.empty() || globs_match(options.kernel, refusal.kernel))
      refused.push_back(refused_outcome(refusal, device));
  }
  return refused;
}

void report_refused(const std::vector<Outcome>& refused, Ledger& ledger) {
  for (const Outcome& outcome : refused) {
    ledger.add(outcome);
    fmt::print("{}\n", outcome.report);
  }
  std::fflush(stdout);
}

namespace {

// Fills in how runs are judged, and on what; the error is one sentence.
kernels::Result<std::shared_ptr<const Plugins>> open_in_process(const DeviceOptions& options,
                                                                Workbench& bench) {
  auto device = kernels::open_device(options.device);
  if (!device) return tl::unexpected(device.error());
  bench.device = (*device)->info();
  std::shared_ptr<kernels::Device> shared = std::move(*device);
  auto plugins = std::make_shared<const Plugins>(load_plugins(options.plugins, *shared));
  bench.run = [shared, plugins, runner = std::make_shared<Runner>(*shared)](const Job& job) {
    Outcome outcome = runner->run(job.value, job.kernel, job.options);
    outcome.report = report_text(outcome);
    return outcome;
  };
  return plugins;
}

kernels::Result<std::shared_ptr<const Plugins>> open_isolated(const DeviceOptions& options,
                                                              Workbench& bench) {
  const std::string kind = options.device.substr(0, options.device.find(':'));
  const double timeout_s = options.timeout_s > 0 ? options.timeout_s : kind == "host" ? 120 : 30;
  auto by_name = [kind](std::string_view name) -> kernels::Result<KernelUnderTest> {
    auto found = select_kernels(kind, name);
    if (!found) return tl::unexpected(found.error());
    return found->front();
  };
  auto runner =
      std::make_shared<IsolatedRunner>(options.device, timeout_s, by_name, options.plugins);
  auto device = runner->start();
  if (!device) return tl::unexpected(device.error());
  bench.device = *device;
  bench.run = [runner](const Job& job) { return runner->run(job); };
  bench.ran = [runner] { return std::vector<Job>(runner->ran().begin(), runner->ran().end()); };
  bench.restart = [runner] { runner->restart(); };
  return std::shared_ptr<const Plugins>(runner, &runner->plugins());
}

}  // namespace

std::variant<Workbench, int> open_workbench(const DeviceOptions& options) {
  Workbench bench;
  const auto opened =
      options.in_process ? open_in_process(options, bench) : open_isolated(options, bench);
  if (!opened) return complain(kNoDevice, opened.error());
  const Plugins& plugins = **opened;
  bench.refused = refused_of(options, bench.device, plugins);
  auto kernels = kernels_of(options, bench.device, plugins);
  if (std::holds_alternative<int>(kernels)) return std::get<int>(kernels);
  bench.kernels = std::get<0>(std::move(kernels));
  bench.waves = waves_of(options, bench.device);
  return bench;
}

namespace {

std::string number_problem(const std::string& text, bool zero_allowed) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool number = !text.empty() && *end == '\0' && std::isfinite(value);
  if (number && (value > 0 || (zero_allowed && value == 0 && text[0] != '-'))) return "";
  return fmt::format("'{}' is not a number {}", text, zero_allowed ? "of at least 0" : "above 0");
}

}  // namespace

CLI::Validator at_least_zero() {
  return CLI::Validator([](const std::string& text) { return number_problem(text, true); }, "");
}

CLI::Validator above_zero() {
  return CLI::Validator([](const std::string& text) { return number_problem(text, false); }, "");
}

void add_plugin_option(CLI::App& command, DeviceOptions& options) {
  command
      .add_option("--plugin", options.plugins,
                  "a shared library with kernels; may be given several times")
      ->check(CLI::ExistingFile)
      ->allow_extra_args(false);
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
                  "kernels to judge, * and ? as in a shell, several with commas; mutants only by "
                  "'mutant.*'; with --plugin its kernels by default")
      ->each([&options](const std::string&) { options.kernel_given = true; })
      ->capture_default_str();
  add_plugin_option(command, options);
  command
      .add_option("--schedule-seed", options.schedule_seed,
                  "host device: order of blocks, waves and lanes, instead of the cases' own")
      ->check(at_least_zero());
  command.add_option("--workers", options.workers, "host device: threads that run blocks")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command
      .add_option("--timeout", options.timeout_s,
                  "seconds without an answer after which a run has failed (default 120 on the host "
                  "device, 30 on a GPU)")
      ->check(above_zero());
  command.add_flag("--in-process", options.in_process,
                   "no child process: for a debugger; a crash or a hang takes the tool with it");
}

}  // namespace exactk::props::cli
