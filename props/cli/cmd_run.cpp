#include <fmt/format.h>

#include <algorithm>

#include "props/cli/case_options.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/cli/json_report.h"
#include "props/cli/progress.h"
#include "props/ledger.h"
#include "props/report.h"

namespace exactk::props::cli {
namespace {

using fixtures::Case;

constexpr int kReportsInFull = 10;  // later failures get their replay line only

struct RunCommand {
  DeviceOptions device;
  CaseOptions cases;
  double budget_s = 0;  // 0: none
  std::string json;
  bool allow_weak = false;
  bool summary = false;
};

class Session {
 public:
  Session(const RunCommand& command, Workbench bench, int64_t runs)
      : command_(command), bench_(std::move(bench)), progress_(runs), budget_(command.budget_s) {}

  bool out_of_budget() const { return budget_.ended(); }

  // Kernels of the case's operation.
  int64_t kernels_for(const Case& c) const {
    return std::count_if(bench_.kernels.begin(), bench_.kernels.end(),
                         [&](const KernelUnderTest& kernel) { return is_of(kernel, c); });
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

  const std::vector<KernelUnderTest>& kernels() const { return bench_.kernels; }
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
  Budget budget_;
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
  auto listed = listed_cases(command.cases);
  if (std::holds_alternative<int>(listed)) return std::get<int>(listed);
  const std::vector<Case> cases = std::get<0>(std::move(listed));
  if (const std::string error = unwritable(command.json); !error.empty())
    return complain(kUsage, error);
  auto opened = open_workbench(command.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  Workbench bench = std::get<Workbench>(std::move(opened));
  if (command.cases.random > 0) fmt::print("seed {}\n", command.cases.seed);
  // Random cases may be of several operations, so their runs can't be counted beforehand.
  int64_t runs = 0;
  for (const Case& c : cases) {
    if (command.cases.random > 0) break;
    const auto is_one = [&](const KernelUnderTest& kernel) { return is_of(kernel, c); };
    runs +=
        std::count_if(bench.kernels.begin(), bench.kernels.end(), is_one) * std::ssize(bench.waves);
  }

  Session session(command, std::move(bench), command.budget_s > 0 ? 0 : runs);
  session.add_refused();
  bool budget_ended = false;
  for (const Case& c : cases) {
    budget_ended = session.out_of_budget();
    if (budget_ended) break;
    session.run(c);
  }
  for (int64_t index = 0; index < command.cases.random && !session.out_of_budget(); ++index) {
    session.run(random_case(command.cases, index, session.kernels()));
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
  add_case_options(*command, options->cases);
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
