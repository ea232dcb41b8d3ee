#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/cli/json_report.h"
#include "props/cli/progress.h"
#include "props/generators.h"
#include "props/ledger.h"
#include "props/report.h"

namespace exactk::props::cli {
namespace {

using fixtures::Case;

constexpr int kReportsInFull = 10;  // later failures get their replay line only

struct RunCommand {
  DeviceOptions device;
  std::vector<std::string> lines;
  std::vector<std::string> files;
  std::string filter;
  int64_t random = 0;
  uint64_t seed = 1;
  double budget_s = 0;  // 0: none
  std::string json;
  bool allow_weak = false;
  bool summary = false;
};

// The listed cases: files in the order given, then the lines.
fixtures::Result<std::vector<Case>> listed_cases(const RunCommand& command) {
  std::vector<Case> cases;
  for (const std::string& file : command.files) {
    auto read = fixtures::read_case_file(file);
    if (!read) return tl::unexpected(read.error());
    for (const fixtures::FileCase& c : *read) cases.push_back(c.value);
  }
  for (const std::string& line : command.lines) {
    auto read = fixtures::read_case_text(line, "command line");
    if (!read) return tl::unexpected(read.error());
    for (const fixtures::FileCase& c : *read) cases.push_back(c.value);
  }
  if (command.filter.empty()) return cases;
  std::vector<Case> kept;
  for (const Case& c : cases) {
    if (glob_match(command.filter, fixtures::print_case(c))) kept.push_back(c);
  }
  return kept;
}

class Session {
 public:
  Session(const RunCommand& command, Workbench bench, int64_t runs)
      : command_(command),
        bench_(std::move(bench)),
        progress_(runs),
        start_(std::chrono::steady_clock::now()) {}

  bool out_of_budget() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return command_.budget_s > 0 && spent.count() >= command_.budget_s;
  }

  // Kernels of the case's operation.
  int64_t kernels_for(const Case& c) const {
    return std::count_if(bench_.kernels.begin(), bench_.kernels.end(),
                         [&](const KernelUnderTest& kernel) { return is_of(kernel, c); });
  }

  // Random cases are of operations that a selected kernel has.
  DrawLimits draw_limits() const {
    DrawLimits limits;
    for (const KernelUnderTest& kernel : bench_.kernels) {
      if (const auto op = fixtures::op_named(kernel.kernel->op)) limits.ops.push_back(*op);
    }
    return limits;
  }

  // One case on every wave width and kernel of its operation.
  void run(Case c) {
    if (command_.device.schedule_seed) c.schedule = *command_.device.schedule_seed;
    if (kernels_for(c) == 0) ++without_kernel_;
    for (const int wave : bench_.waves) {
      for (const KernelUnderTest& kernel : bench_.kernels) {
        if (!is_of(kernel, c)) continue;
        Job job{c, kernel, {}};
        job.options.wave_width = wave;
        job.options.logits_from = logits_from(bench_.device);
        add(bench_.run(job));
      }
    }
  }

  // Plugins that were refused are failures like those of kernels.
  void add_refused() {
    for (const Outcome& outcome : bench_.refused) add(outcome);
  }

  const Ledger& ledger() const { return ledger_; }
  int64_t without_kernel() const { return without_kernel_; }  // cases
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  Progress& progress() { return progress_; }

 private:
  void add(Outcome outcome) {
    ledger_.add(outcome);
    using oracle::Verdict;
    const bool quiet = outcome.verdict == Verdict::kPassed || outcome.verdict == Verdict::kSkipped;
    if (!quiet) {
      progress_.clear();
      if (++reported_ <= kReportsInFull) {
        fmt::print("{}\n", outcome.report);
      } else {
        fmt::print("{}  {}\n", oracle::name(outcome.verdict), replay_line(outcome));
      }
      std::fflush(stdout);
    }
    ++runs_;
    progress_.step(runs_, reported_, outcome.kernel + " " + fixtures::print_case(outcome.value));
    if (command_.json.empty()) return;
    outcomes_.push_back(std::move(outcome));
  }

  const RunCommand& command_;
  Workbench bench_;
  Ledger ledger_;
  Progress progress_;
  std::vector<Outcome> outcomes_;
  std::chrono::steady_clock::time_point start_;
  int64_t runs_ = 0;
  int64_t reported_ = 0;
  int64_t without_kernel_ = 0;
};

int exit_code(const RunCommand& command, const Ledger& ledger, bool budget_ended) {
  if (ledger.any_failure()) return kKernelFailed;
  if (budget_ended)
    return complain(kBudgetEnded, "the budget ended before every listed case was run");
  if (ledger.judged() == 0)
    return complain(kNothingJudged,
                    "nothing was judged: every run was skipped, see the reasons above");
  if (ledger.count(oracle::Verdict::kWeak) > 0 && !command.allow_weak) {
    return complain(kNothingJudged, "weak cases prove nothing; mend them or give --allow-weak");
  }
  return kAllPassed;
}

void print_end(const RunCommand& command, const Session& session) {
  const Ledger& ledger = session.ledger();
  if (command.summary || ledger.judged() == 0) fmt::print("{}", ledger.summary());
  if (session.without_kernel() > 0) {
    fmt::print("{} cases have no kernel of their operation among those of --kernel '{}'\n",
               session.without_kernel(), command.device.kernel);
  }
  if (!ledger.failing_replays().empty()) fmt::print("first failures:\n");
  for (const std::string& line : ledger.failing_replays()) fmt::print("  {}\n", line);
  fmt::print("{}\n", ledger.totals());
  std::fflush(stdout);
}

int run(const RunCommand& command) {
  if (command.lines.empty() && command.files.empty() && command.random == 0) {
    return complain(kUsage, "nothing to run; give case lines, --cases FILE or --random N");
  }
  auto cases = listed_cases(command);
  if (!cases) return complain(kUsage, cases.error());
  if (cases->empty() && command.random == 0) {
    return complain(kNothingJudged,
                    command.filter.empty()
                        ? std::string("the files hold no case")
                        : fmt::format("no case matches --filter '{}'", command.filter));
  }
  if (!command.json.empty() && !std::ofstream(command.json)) {
    return complain(kUsage,
                    fmt::format("can't write to --json '{}'; check the folder", command.json));
  }
  auto opened = open_workbench(command.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  Workbench bench = std::get<Workbench>(std::move(opened));
  if (command.random > 0) fmt::print("seed {}\n", command.seed);
  // Random cases may be of several operations, so their runs can't be counted beforehand.
  int64_t runs = 0;
  for (const Case& c : *cases) {
    if (command.random > 0) break;
    const auto is_one = [&](const KernelUnderTest& kernel) { return is_of(kernel, c); };
    runs +=
        std::count_if(bench.kernels.begin(), bench.kernels.end(), is_one) * std::ssize(bench.waves);
  }

  Session session(command, std::move(bench), command.budget_s > 0 ? 0 : runs);
  session.add_refused();
  bool budget_ended = false;
  for (const Case& c : *cases) {
    budget_ended = session.out_of_budget();
    if (budget_ended) break;
    session.run(c);
  }
  const DrawLimits limits = session.draw_limits();
  for (int64_t index = 0; index < command.random && !session.out_of_budget(); ++index) {
    session.run(draw_case(command.seed, index, limits));
  }
  session.progress().clear();
  print_end(command, session);
  const int code = exit_code(command, session.ledger(), budget_ended);
  if (command.json.empty()) return code;
  const std::string error = write_json(command.json, session.outcomes(), session.ledger(), code);
  if (error.empty()) return code;
  // A failing kernel must not hide behind a full disk.
  return complain(code == kAllPassed ? kUsage : static_cast<ExitCode>(code), error);
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "run", "judge kernels on cases from files, from the line, or drawn at random");
  auto options = std::make_shared<RunCommand>();
  command->add_option("case", options->lines, "case lines, quoted");
  command->add_option("--cases", options->files, "case files")->take_all();
  command->add_option("--filter", options->filter,
                      "only listed cases whose text matches, * and ? as in a shell");
  command->add_option("--random", options->random, "this many random cases")
      ->check(at_least_zero());
  command->add_option("--seed", options->seed, "seed of the random cases")
      ->check(at_least_zero())
      ->capture_default_str();
  command
      ->add_option("--budget", options->budget_s,
                   "seconds; listed cases must all be run, random ones end quietly")
      ->check(at_least_zero());
  add_device_options(*command, options->device);
  command->add_option("--json", options->json, "write a report to this file");
  command->add_flag("--allow-weak", options->allow_weak, "weak cases do not fail the run");
  command->add_flag("--summary", options->summary, "print what was exercised");
  command->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace exactk::props::cli
