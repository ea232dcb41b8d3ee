#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "kernels/registry.h"
#include "props/cli/case_options.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/cli/json_report.h"
#include "props/cli/power_report.h"
#include "props/cli/progress.h"
#include "props/report.h"

namespace exactk::props::cli {
namespace {

using fixtures::Case;

struct PowerCommand {
  DeviceOptions device;
  CaseOptions cases;
  std::string json, html;
  int64_t at_least = 90;  // percent of the reachable faults that each tier must kill
  bool no_baseline = false;
};

// A tier per case file, named like it, one of the lines, and one of the random cases.
fixtures::Result<std::vector<PowerTier>> tiers_of(const PowerCommand& command,
                                                  const std::vector<KernelUnderTest>& kernels) {
  std::vector<PowerTier> tiers;
  for (const std::string& file : command.cases.files) {
    const auto read = fixtures::read_case_file(file);
    if (!read) return tl::unexpected(read.error());
    tiers.push_back({std::filesystem::path(file).stem().string(), {}});
    for (const fixtures::FileCase& c : *read) tiers.back().cases.push_back(c.value);
  }
  if (!command.cases.lines.empty()) tiers.push_back({"lines", {}});
  for (const std::string& line : command.cases.lines) {
    const auto read = fixtures::read_case_text(line, "command line");
    if (!read) return tl::unexpected(read.error());
    for (const fixtures::FileCase& c : *read) tiers.back().cases.push_back(c.value);
  }
  RandomCases random(command.cases, kernels);
  random.announce();
  if (command.cases.random > 0) tiers.push_back({"random", {}});
  while (const auto c = random.next()) tiers.back().cases.push_back(*c);
  return tiers;
}

// The selected planted faults, as they are registered.
std::vector<PlantedFault> faults_of(const Workbench& bench) {
  std::vector<PlantedFault> faults;
  for (const kernels::Mutant& mutant : kernels::target_kernels(bench.device.kind)->mutants) {
    for (const KernelUnderTest& kernel : bench.kernels) {
      if (kernel.kernel != mutant.kernel) continue;
      faults.push_back({mutant.kernel->name, std::string(mutant.base), std::string(mutant.kind),
                        *fixtures::parse_case(mutant.reaching_case), kernel});
    }
  }
  return faults;
}

// The unmodified kernels that the faults were planted in.
fixtures::Result<std::vector<KernelUnderTest>> bases_of(const std::vector<PlantedFault>& faults,
                                                        const std::string& kind) {
  std::string names;
  for (const PlantedFault& fault : faults) names += (names.empty() ? "" : ",") + fault.base;
  return select_kernels(kind, names);
}

int exit_code(const PowerCommand& command, const PowerReport& report) {
  for (size_t tier = 0; tier < report.tiers.size(); ++tier) {
    const TierPower power = tier_power(report.faults, report.tiers, tier);
    if (power.reachable == 0)
      return complain(kNothingJudged, fmt::format("no fault is reachable in tier {}", power.name));
    if (100 * power.killed[kWhole] < command.at_least * power.reachable) {
      return complain(
          kKernelFailed,
          fmt::format("tier {} kills {} of {} reachable faults, and --at-least is {} %", power.name,
                      power.killed[kWhole], power.reachable, command.at_least));
    }
  }
  return kAllPassed;
}

int write_reports(const PowerCommand& command, const PowerReport& report, int code) {
  std::string error;
  if (!command.json.empty()) error = write_report(command.json, power_json(report));
  if (error.empty() && !command.html.empty())
    error = write_report(command.html, power_html(report));
  if (error.empty()) return code;
  return complain(code == kAllPassed ? kUsage : static_cast<ExitCode>(code), error);
}

int power(const PowerCommand& command) {
  for (const std::string& file : {command.json, command.html}) {
    if (const std::string error = unwritable(file); !error.empty()) return complain(kUsage, error);
  }
  if (command.cases.files.empty() && command.cases.lines.empty() && command.cases.random == 0)
    return complain(kUsage, "no tier is given; give --cases FILE, case lines or --random N");
  auto opened = open_workbench(command.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  const Workbench bench = std::get<Workbench>(std::move(opened));
  const std::vector<PlantedFault> faults = faults_of(bench);
  if (faults.empty())
    return complain(kUsage, fmt::format("no planted fault matches --kernel '{}'; `exactk list "
                                        "mutants` names them",
                                        command.device.kernel));
  const auto start = std::chrono::steady_clock::now();
  PowerReport report;
  auto tiers = tiers_of(command, bench.kernels);
  if (!tiers) return complain(kUsage, tiers.error());
  report.tiers = std::move(*tiers);
  report.device = bench.device.kind;
  if (bench.device.kind == "host")
    report.device += bench.waves.size() == 2 ? ", wave 32 and 64"
                                             : fmt::format(", wave {}", bench.waves.front());
  Progress progress(0);
  int64_t runs = 0;
  std::string now;
  const std::function<void()> step = [&] { progress.step(++runs, 0, now); };
  const RunJob run = [&](const Job& job) {
    Job wanted = job;
    wanted.options.workers = command.device.workers;
    wanted.options.logits_from = logits_from(bench.device);
    return bench.run(wanted);
  };
  if (!command.no_baseline) {
    const auto bases = bases_of(faults, bench.device.kind);
    if (!bases) return complain(kUsage, bases.error());
    now = "unmodified kernels";
    report.visited.resize(report.tiers.size());
    const auto seen = [&](size_t tier, const Outcome& outcome) {
      if (is_judged(outcome)) report.visited[tier].add(bins_of(outcome.value));
      step();
    };
    const Outcome failed = first_baseline_failure(*bases, report.tiers, bench.waves, run, seen);
    progress.clear();
    if (oracle::is_failure(failed.verdict)) {
      fmt::print("{}\n", failed.report);
      return complain(kKernelFailed,
                      "an unmodified kernel fails, so the faults planted in it say nothing");
    }
    report.baseline_runs = runs;
  }
  for (const PlantedFault& fault : faults) {
    now = fault.name;
    report.faults.push_back(measure_fault(fault, report.tiers, bench.waves, run, step));
  }
  progress.clear();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  report.seconds = took.count();
  fmt::print("{}", power_text(report));
  std::fflush(stdout);
  return write_reports(command, report, exit_code(command, report));
}

}  // namespace

void add_power(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "power", "how many planted faults the cases kill, how fast, and by which part of the suite");
  auto options = std::make_shared<PowerCommand>();
  options->device.kernel = "mutant.*";
  options->device.timeout_s = 3;
  add_case_options(*command, options->cases);
  command->remove_option(command->get_option("--filter"));
  add_device_options(*command, options->device);
  command->add_option("--json", options->json, "write a report to this file");
  command->add_option("--html", options->html, "write a page with the matrix to this file");
  command
      ->add_option("--at-least", options->at_least,
                   "percent of the reachable faults that each tier must kill")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command->add_flag("--no-baseline", options->no_baseline,
                    "do not judge the unmodified kernels first");
  command->callback([&chosen, options] { chosen = [options] { return power(*options); }; });
}

}  // namespace exactk::props::cli
