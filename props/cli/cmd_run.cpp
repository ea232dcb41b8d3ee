#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "props/cli/aftermath.h"
#include "props/cli/case_options.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/cli/coverage_report.h"
#include "props/cli/failure_log.h"
#include "props/cli/json_report.h"
#include "props/cli/junit_report.h"
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
  std::string json, junit;
  std::string failures = "exactk-failures.jsonl";  // "none": not kept
  ShrinkLimits shrink;                             // of all failures together; 0 seconds: none
  bool allow_weak = false;
  bool summary = false;
  bool coverage = false;
  std::string tier;  // whose bins are required; empty: none
};

class RunSession {
 public:
  RunSession(const RunCommand& command, Workbench bench, int64_t runs)
      : command_(command),
        bench_(std::move(bench)),
        progress_(runs),
        log_(command.failures == "none" ? "" : command.failures) {
    // Plugins that were refused are failures like those of kernels.
    for (const Outcome& outcome : bench_.refused) add(outcome, {});
  }

  // One case on every wave width and kernel of its operation.
  void run(const Case& c) {
    const std::vector<Job> jobs = jobs_of(bench_, command_.device, c);
    if (jobs.empty()) ++without_kernel_;
    for (const Job& job : jobs) {
      const std::vector<Job> before = bench_.ran();
      Outcome outcome = bench_.run(job);
      const bool examined =
          oracle::is_failure(outcome.verdict) && outcome.verdict != oracle::Verdict::kInvalid;
      if (examined && failed_kernels_.insert(outcome.kernel).second)
        to_examine_.push_back({job, outcome, before});
      add(std::move(outcome), before);
    }
  }

  // The first failure of each kernel, run again and made small.
  void examine() {
    progress_.clear();
    if (command_.shrink.seconds > 0) examine_failures(to_examine_, bench_, command_.shrink, log_);
  }

  const Ledger& ledger() const { return ledger_; }
  int64_t without_kernel() const { return without_kernel_; }  // cases
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  const FailureLog& log() const { return log_; }
  const Coverage& coverage() const { return coverage_; }

 private:
  void add(Outcome outcome, const std::vector<Job>& before) {
    ledger_.add(outcome);
    if (is_judged(outcome)) cover(outcome.value);
    if (oracle::is_failure(outcome.verdict)) keep(outcome, before);
    report(outcome);
    ++runs_;
    progress_.step(runs_, reported_, outcome.kernel + " " + fixtures::print_case(outcome.value));
    if (command_.json.empty() && command_.junit.empty()) return;
    outcomes_.push_back(std::move(outcome));
  }

  // The kernels and wave widths of a case come one after the other.
  void cover(const Case& c) {
    if (bins_.empty() || c != bins_of_) {
      bins_of_ = c;
      bins_ = bins_of(c);
    }
    coverage_.add(bins_);
  }

  void keep(const Outcome& outcome, const std::vector<Job>& before) {
    const std::string error = log_.add("run", outcome, before);
    if (error.empty() || log_failed_) return;
    log_failed_ = true;
    progress_.clear();
    (void)complain(kUsage, error);
  }

  void report(const Outcome& outcome) {
    using oracle::Verdict;
    if (outcome.verdict == Verdict::kPassed || outcome.verdict == Verdict::kSkipped) return;
    progress_.clear();
    if (++reported_ <= kReportsInFull) {
      fmt::print("{}\n", outcome.report);
    } else {
      fmt::print("{}  {}\n", oracle::name(outcome.verdict), replay_line(outcome));
    }
    std::fflush(stdout);
  }

  const RunCommand& command_;
  Workbench bench_;
  Ledger ledger_;
  Progress progress_;
  FailureLog log_;
  Coverage coverage_;
  Case bins_of_;        // the last judged case,
  std::set<Bin> bins_;  // and what it visits
  std::vector<Outcome> outcomes_;
  std::vector<Failure> to_examine_;
  std::set<std::string> failed_kernels_;
  int64_t runs_ = 0;
  int64_t reported_ = 0;
  int64_t without_kernel_ = 0;
  bool log_failed_ = false;
};

int exit_code(const RunCommand& command, const RunSession& session, bool budget_ended) {
  const Ledger& ledger = session.ledger();
  if (ledger.any_failure()) return kKernelFailed;
  if (budget_ended)
    return complain(kBudgetEnded, "the budget ended before every listed case was run");
  if (ledger.judged() == 0)
    return complain(kNothingJudged,
                    "nothing was judged: every run was skipped, see the reasons above");
  if (ledger.count(oracle::Verdict::kWeak) > 0 && !command.allow_weak) {
    return complain(kNothingJudged, "weak cases prove nothing; mend them or give --allow-weak");
  }
  const std::vector<Bin> missing = session.coverage().missing(required_bins(command.tier));
  return missing.empty() ? kAllPassed
                         : complain(kNothingJudged, missing_text(command.tier, missing));
}

void print_end(const RunCommand& command, const RunSession& session) {
  const Ledger& ledger = session.ledger();
  if (command.summary || ledger.judged() == 0) fmt::print("{}", ledger.summary());
  if (command.coverage) fmt::print("{}", session.coverage().table(required_bins(command.tier)));
  if (session.without_kernel() > 0) {
    fmt::print("{} cases have no kernel of their operation among those of --kernel '{}'\n",
               session.without_kernel(), command.device.kernel);
  }
  if (!ledger.failing_replays().empty()) fmt::print("first failures:\n");
  for (const std::string& line : ledger.failing_replays()) fmt::print("  {}\n", line);
  if (session.log().lines() > 0) fmt::print("all of them: {}\n", session.log().file());
  fmt::print("{}\n", ledger.totals());
  std::fflush(stdout);
}

// One sentence if a file that the run is to write can't be written; better now than at the end.
std::string unwritable_files(const RunCommand& command) {
  for (const std::string& file : {command.json, command.junit}) {
    if (std::string error = unwritable(file); !error.empty()) return error;
  }
  return FailureLog(command.failures == "none" ? "" : command.failures).unwritable();
}

// Random cases may be of several operations, so their runs can't be counted beforehand: 0.
int64_t runs_of(const RunCommand& command, const Workbench& bench, const std::vector<Case>& cases) {
  if (command.cases.random > 0 || command.budget_s > 0) return 0;
  int64_t runs = 0;
  for (const Case& c : cases) runs += std::ssize(jobs_of(bench, command.device, c));
  return runs;
}

// The reports of a run that ends with `code`; its exit code.
int write_reports(const RunCommand& command, const RunSession& session, int code) {
  std::string error;
  if (!command.json.empty())
    error = write_json(command.json, session.outcomes(), session.ledger(), session.coverage(),
                       required_bins(command.tier), code);
  if (error.empty() && !command.junit.empty())
    error = write_report(command.junit, junit_text(session.outcomes(), command.allow_weak));
  if (error.empty()) return code;
  // A failing kernel must not hide behind a full disk.
  return complain(code == kAllPassed ? kUsage : static_cast<ExitCode>(code), error);
}

int run(const RunCommand& command) {
  auto listed = listed_cases(command.cases);
  if (std::holds_alternative<int>(listed)) return std::get<int>(listed);
  const std::vector<Case> cases = std::get<0>(std::move(listed));
  if (const std::string error = unwritable_files(command); !error.empty())
    return complain(kUsage, error);
  auto opened = open_workbench(command.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  Workbench bench = std::get<Workbench>(std::move(opened));
  const RandomCases random(command.cases, bench.kernels);
  random.announce();
  const int64_t runs = runs_of(command, bench, cases);
  RunSession session(command, std::move(bench), runs);
  const bool budget_ended =
      run_cases(cases, random, command.budget_s, [&](const Case& c) { session.run(c); });
  session.examine();
  print_end(command, session);
  const int code = exit_code(command, session, budget_ended);
  return write_reports(command, session, code);
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
  command->add_option("--junit", options->junit, "write a report for CI servers to this file");
  command
      ->add_option("--failures", options->failures,
                   "add each failure to this file, a line of JSON, before anything else is "
                   "launched; 'none': nowhere")
      ->capture_default_str();
  command
      ->add_option("--shrink-budget", options->shrink.seconds,
                   "seconds in all to run the first failure of each kernel again and to make it "
                   "small; 0: not at all")
      ->check(at_least_zero())
      ->capture_default_str();
  command
      ->add_option("--shrink-executions", options->shrink.executions,
                   "runs of the kernel for each failure that is made small")
      ->check(above_zero())
      ->capture_default_str();
  auto* allow_weak =
      command->add_flag("--allow-weak", options->allow_weak, "weak cases do not fail the run");
  command
      ->add_option("--require", options->tier,
                   "fail unless every bin that this tier of stored cases requires is visited")
      ->check(CLI::IsMember(tier_list()))
      ->excludes(allow_weak);
  command->add_flag("--coverage", options->coverage,
                    "print which part of the input space was visited");
  command->add_flag("--summary", options->summary, "print what was exercised");
  command->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace exactk::props::cli
