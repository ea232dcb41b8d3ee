#include <fmt/format.h>

#include <string>

#include "fixtures/case_file.h"
#include "kernels/mutants/metadata_mutants.h"
#include "kernels/registry.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/launch_session.h"
#include "props/report.h"

namespace exactk::props::cli {
namespace {

// Every device kind has the same kernels, from the same sources.
const kernels::TargetKernels& built_kernels() {
  return *kernels::target_kernels(kernels::device_kinds().front());
}

void print_kernel(const exactk_kernel& kernel) {
  fmt::print("{:<18} {:<12} contract {:<8} {}\n", kernel.name, kernel.op, modes_text(kernel.modes),
             kernel.description);
}

// The kernels of the plugins alone, loaded as for a run.
int list_plugins(const DeviceOptions& device) {
  auto opened = open_workbench(device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  const Workbench bench = std::get<Workbench>(std::move(opened));
  for (const KernelUnderTest& kernel : bench.kernels) print_kernel(*kernel.kernel);
  Ledger ledger;
  report_refused(bench.refused, ledger);
  return ledger.any_failure() ? kKernelFailed : kAllPassed;
}

int list_kernels() {
  for (const exactk_kernel* kernel : built_kernels().shipped) print_kernel(*kernel);
  return kAllPassed;
}

// Where a fault shows, if not everywhere.
std::string shows_on(const kernels::Mutant& mutant) {
  if (mutant.host_only) return " (host device alone)";
  return mutant.wave_width != 0 ? fmt::format(" (wave {} alone)", mutant.wave_width) : "";
}

int list_mutants() {
  for (const kernels::Mutant& mutant : built_kernels().mutants) {
    fmt::print("{:<32} {}  of {:<17} {}{}\n{:<32} reached by: {}\n", mutant.kernel->name,
               mutant.kind, mutant.base, mutant.kernel->description, shows_on(mutant), "",
               mutant.reaching_case);
  }
  return kAllPassed;
}

int list_metadata() {
  for (const kernels::metadata::Variant& shipped : kernels::metadata::shipped_variants())
    fmt::print("{:<34} {}\n", shipped.name, shipped.description);
  for (const kernels::metadata::Variant& mutant : kernels::planted::metadata_mutants()) {
    fmt::print("{:<34} {}  of {}  {}{}\n{:<34} reached by: {}\n", mutant.name, mutant.kind,
               mutant.base, mutant.description, mutant.host_only ? " (host device alone)" : "", "",
               mutant.reaching_program);
  }
  return kAllPassed;
}

int list_devices() {
  for (const kernels::DeviceInfo& device : kernels::list_devices()) {
    fmt::print("{}:{}  {}  {}  {} free\n", device.kind, device.index, device.name, device.arch,
               bytes_text(device.memory_free_bytes));
  }
  return kAllPassed;
}

int list_patterns() {
  for (const fixtures::PatternInfo& p : fixtures::pattern_list()) {
    fmt::print("pattern={:<28} {}\n", fmt::format("{}{}", p.name, p.arguments), p.text);
  }
  for (const fixtures::LengthInfo& l : fixtures::length_list()) {
    fmt::print("lens={:<31} {}\n", fmt::format("{}{}", l.name, l.arguments), l.text);
  }
  return kAllPassed;
}

int list_cases(const std::string& file) {
  if (file.empty())
    return complain(kUsage, "`exactk list cases` needs a case file: exactk list cases FILE");
  auto cases = fixtures::read_case_file(file);
  if (!cases) return complain(kUsage, cases.error());
  for (const fixtures::FileCase& c : *cases) fmt::print("{}\n", fixtures::print_case(c.value));
  return kAllPassed;
}

struct ListCommand {
  std::string what = "kernels";
  std::string file;
  DeviceOptions device;  // of the plugins
};

int list(const ListCommand& command) {
  const std::string& what = command.what;
  if (!command.device.plugins.empty()) {
    if (what == "kernels") return list_plugins(command.device);
    return complain(kUsage, "--plugin is for `exactk list kernels`");
  }
  if (what == "kernels") return list_kernels();
  if (what == "mutants") return list_mutants();
  if (what == "metadata") return list_metadata();
  if (what == "devices") return list_devices();
  if (what == "patterns") return list_patterns();
  return list_cases(command.file);
}

}  // namespace

void add_list(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "list", "kernels, devices, patterns, mutants, metadata builders, or the cases of a file");
  auto options = std::make_shared<ListCommand>();
  command
      ->add_option("what", options->what, "kernels, devices, patterns, mutants, metadata or cases")
      ->check(CLI::IsMember({"kernels", "devices", "patterns", "mutants", "metadata", "cases"}));
  command->add_option("file", options->file, "with cases: the case file to expand");
  add_plugin_option(*command, options->device);
  command
      ->add_option("--device", options->device.device,
                   "with --plugin: the device that the plugin is loaded for")
      ->capture_default_str();
  command->callback([&chosen, options] { chosen = [options] { return list(*options); }; });
}

}  // namespace exactk::props::cli
