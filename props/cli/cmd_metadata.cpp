#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "props/build_info.h"
#include "props/cli/case_options.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/cli/json_report.h"
#include "props/cli/progress.h"
#include "props/mla_generator.h"
#include "props/mla_session.h"
#include "props/mla_shrink.h"
#include "props/mla_variants.h"

namespace exactk::props::cli {
namespace {

using kernels::metadata::Variant;
using nlohmann::json;

struct MetadataCommand {
  DeviceOptions device;
  std::vector<std::string> lines, files;
  int64_t random = 0;
  std::optional<uint64_t> seed;  // none: of the commit
  double budget_s = 0;
  MlaShrinkLimits shrink;
  std::string json;
};

// Programs of a file: one a line, '#' begins a comment. The error is one sentence.
fixtures::Result<std::vector<MlaProgram>> read_programs(const MetadataCommand& command) {
  std::vector<MlaProgram> programs;
  const auto add = [&](const std::string& text, const std::string& where) -> fixtures::Error {
    auto program = parse_mla_program(text);
    if (!program) return fmt::format("{}: {}", where, program.error());
    programs.push_back(std::move(*program));
    return "";
  };
  for (const std::string& file : command.files) {
    std::ifstream in(file);
    if (!in) return tl::unexpected(fmt::format("can't read '{}'", file));
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      line.resize(std::min(line.size(), line.find('#')));
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (auto error = add(line, fmt::format("{}:{}", file, number)); !error.empty())
        return tl::unexpected(std::move(error));
    }
  }
  for (const std::string& line : command.lines) {
    if (auto error = add(line, "command line"); !error.empty())
      return tl::unexpected(std::move(error));
  }
  return programs;
}

std::string replay_line(const std::string& program, const Variant& variant,
                        const kernels::DeviceInfo& device, const MetadataCommand& command,
                        int wave) {
  std::string line = fmt::format("exactk metadata '{}' --kernel {} --device {}", program,
                                 variant.name, device.kind);
  if (device.kind == "host") line += fmt::format(" --wave {}", wave);
  if (command.device.schedule_seed)
    line += fmt::format(" --schedule-seed {}", *command.device.schedule_seed);
  return line;
}

// Runs programs, prints the failures and counts.
class Judge {
 public:
  Judge(const MetadataCommand& command, kernels::Device& device)
      : command_(command), device_(device), info_(device.info()) {}

  // `listed`: the report has it also where it passes; random ones are many.
  void run(const MlaProgram& program, const Variant& variant, int wave, bool listed) {
    const auto run_one = [&](const MlaProgram& one) {
      return run_mla_program(device_, variant, one,
                             {wave, command_.device.workers, command_.device.schedule_seed});
    };
    const MlaOutcome outcome = run_one(program);
    commands_ += outcome.commands;
    reused_ += outcome.plans_reused;
    const bool weak = !outcome.failure && outcome.keys == 0;
    ++(outcome.failure ? failed_ : weak ? weak_ : passed_);
    json entry = {{"kernel", variant.name},
                  {"device", info_.kind},
                  {"wave", wave},
                  {"program", print_mla_program(program)},
                  {"verdict", outcome.failure ? "failed"
                              : weak          ? "weak"
                                              : "passed"}};
    if (outcome.failure) {
      report(program, outcome, variant, wave);
      const bool first = shrunk_.insert(&variant).second;
      if (first && command_.shrink.seconds > 0) {
        const MlaShrunk small = shrink_mla_program(program, outcome, run_one, command_.shrink);
        report_shrunk(small, variant, wave);
        entry["shrunk"] = print_mla_program(small.program);
        entry["minimal"] = small.minimal;
      }
      entry["command"] = outcome.failure->command + 1;
      entry["what"] = outcome.failure->what;
      entry["why"] = outcome.failure->why;
      entry["replay"] = replay_line(print_mla_program(program), variant, info_, command_, wave);
    }
    if (listed || outcome.failure) runs_.push_back(std::move(entry));
  }

  int64_t failed() const { return failed_; }
  int64_t judged() const { return passed_ + failed_; }
  int64_t weak() const { return weak_; }
  std::string totals() const {
    return fmt::format("passed {}, failed {}, weak {}; {} commands, {} plans reused", passed_,
                       failed_, weak_, commands_, reused_);
  }
  std::string write(int exit_code) const {
    if (command_.json.empty()) return "";
    const json document = {{"exactk", {{"commit", build_commit()}, {"compiler", build_compiler()}}},
                           {"runs", runs_},
                           {"totals",
                            {{"passed", passed_},
                             {"failed", failed_},
                             {"weak", weak_},
                             {"commands", commands_},
                             {"plans_reused", reused_}}},
                           {"exit_code", exit_code}};
    return write_report(command_.json, document.dump(1) + "\n");
  }

 private:
  void report(const MlaProgram& program, const MlaOutcome& outcome, const Variant& variant,
              int wave) const {
    const MlaFailure& failure = *outcome.failure;
    fmt::print("FAILED  {}  {}{}\n", variant.name, info_.kind,
               info_.kind == "host" ? fmt::format(" wave={}", wave) : "");
    fmt::print("program {}\n", print_mla_program(program));
    if (failure.command < program.commands.size())
      fmt::print("step {:<2} {}\n", failure.command + 1,
                 print_mla_command(program.commands[failure.command]));
    fmt::print("  BAD   {}: {}\n", failure.what, failure.why);
    fmt::print("replay  {}\nbuilt   commit {}, {}\n",
               replay_line(print_mla_program(program), variant, info_, command_, wave),
               build_commit(), build_compiler());
    std::fflush(stdout);
  }

  void report_shrunk(const MlaShrunk& small, const Variant& variant, int wave) const {
    fmt::print("small   {} commands after {} runs{}\n", small.program.commands.size(),
               small.executions, small.minimal ? ", minimal" : "");
    report(small.program, small.outcome, variant, wave);
  }

  const MetadataCommand& command_;
  kernels::Device& device_;
  kernels::DeviceInfo info_;
  std::set<const Variant*> shrunk_;
  json runs_ = json::array();
  int64_t passed_ = 0, failed_ = 0, weak_ = 0, commands_ = 0, reused_ = 0;
};

int finish(const Judge& judge, bool any_weak_listed) {
  int code = kAllPassed;
  if (judge.failed() > 0) {
    code = kKernelFailed;
  } else if (judge.judged() == 0 || any_weak_listed) {
    code = kNothingJudged;
  }
  if (const std::string error = judge.write(code); !error.empty())
    return complain(code == kAllPassed ? kUsage : static_cast<ExitCode>(code), error);
  fmt::print("programs {}\n", judge.totals());
  std::fflush(stdout);
  if (code == kNothingJudged)
    return complain(kNothingJudged,
                    "nothing was at stake: there is a program in which no token "
                    "sees a key");
  return code;
}

int metadata(const MetadataCommand& command) {
  if (const std::string error = unwritable(command.json); !error.empty())
    return complain(kUsage, error);
  const auto listed = read_programs(command);
  if (!listed) return complain(kUsage, listed.error());
  if (listed->empty() && command.random == 0)
    return complain(kNothingJudged,
                    "no program is given; give programs, --programs FILE or --random N");
  const auto variants = select_variants(command.device.kernel);
  if (!variants) return complain(kUsage, variants.error());
  auto device = kernels::open_device(command.device.device);
  if (!device) return complain(kNoDevice, device.error());
  const std::vector<int> waves = waves_of(command.device, (*device)->info());
  Judge judge(command, **device);
  const auto run_all = [&](const MlaProgram& program, bool listed) {
    for (const int wave : waves) {
      for (const Variant* variant : *variants) judge.run(program, *variant, wave, listed);
    }
  };
  const Budget budget(command.budget_s);
  for (const MlaProgram& program : *listed) {
    if (budget.ended())
      return complain(kBudgetEnded, "the budget ended before every listed program was run");
    run_all(program, true);
  }
  const bool any_weak_listed = judge.weak() > 0;
  const BaseSeed seed = base_seed(command.seed);
  if (command.random > 0)
    fmt::print("seed {} ({}): program i follows from it and i alone\n", seed.value, seed.origin);
  Progress progress(command.random);
  for (int64_t i = 0; i < command.random && !budget.ended(); ++i) {
    run_all(random_mla_program(seed.value, static_cast<uint64_t>(i)), false);
    progress.step(i + 1, judge.failed(), "programs");
  }
  progress.clear();
  return finish(judge, any_weak_listed);
}

}  // namespace

void add_metadata(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "metadata", "builders of sparse-MLA metadata, by programs of steps, replays and changes");
  auto options = std::make_shared<MetadataCommand>();
  command->add_option("program", options->lines,
                      "programs, quoted: 'mla k=4 ; build 1/10 3/10 ; run ; capture ; replay'");
  command
      ->add_option("--programs", options->files, "a file of programs, one a line, # for comments")
      ->take_all();
  command->add_option("--random", options->random, "this many random programs")
      ->check(at_least_zero());
  command
      ->add_option("--seed", options->seed,
                   "seed of the random programs (default: the first 8 hex digits of the commit)")
      ->check(at_least_zero());
  command
      ->add_option("--budget", options->budget_s,
                   "seconds; listed programs must all run within it, random ones end quietly")
      ->check(above_zero());
  command
      ->add_option("--shrink-budget", options->shrink.seconds,
                   "seconds to make the first failure of each builder small; 0: not at all")
      ->check(at_least_zero())
      ->capture_default_str();
  command->add_option("--shrink-executions", options->shrink.executions, "runs of it for that")
      ->check(above_zero())
      ->capture_default_str();
  add_device_options(*command, options->device);
  for (const char* other : {"--plugin", "--timeout", "--in-process"})
    command->remove_option(command->get_option(other));
  command->add_option("--json", options->json, "write a report to this file");
  command->callback([&chosen, options] { chosen = [options] { return metadata(*options); }; });
}

}  // namespace exactk::props::cli
