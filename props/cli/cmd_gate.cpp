#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "props/build_info.h"
#include "props/cli/case_options.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/cli/gate_timing.h"
#include "props/cli/json_report.h"
#include "props/cli/progress.h"
#include "props/gate.h"

namespace exactk::props::cli {
namespace {

using fixtures::Case;
using nlohmann::json;

constexpr size_t kShownOfEach = 10;

struct GateCommand {
  DeviceOptions device;
  CaseOptions cases;
  std::string baseline, candidate;  // names of kernels, or libraries
  double budget_s = 0;              // 0: none
  std::string json;
  bool allow_weak = false;
  bool time = false;
  int64_t repeats = 25;
  std::optional<double> time_limit;  // of the ratio candidate / baseline
};

// One of the two: where it runs, and by which name among the kernels there.
struct Side {
  DeviceOptions device;
  Workbench bench;
  KernelUnderTest kernel;
};

// "LIB" or "LIB:KERNEL" where the file is there, else a name of a kernel.
void name_kernel(const std::string& given, DeviceOptions& device) {
  const size_t colon = given.rfind(':');
  const std::string library = given.substr(0, colon);
  std::error_code ignored;
  device.kernel = given;
  device.kernel_given = true;  // a built-in kernel may stand against one of a plugin
  if (std::filesystem::is_regular_file(given, ignored)) {
    device.plugins = {given};
    device.kernel_given = false;
  } else if (colon != std::string::npos && std::filesystem::is_regular_file(library, ignored)) {
    device.plugins = {library};
    device.kernel = given.substr(colon + 1);
  }
}

std::variant<Side, int> open_side(const GateCommand& command, const std::string& given) {
  if (given.find_first_of("*?,") != std::string::npos)
    return complain(kUsage, fmt::format("'{}' may name several kernels; give one", given));
  Side side;
  side.device = command.device;
  name_kernel(given, side.device);
  auto opened = open_workbench(side.device);
  if (std::holds_alternative<int>(opened)) return std::get<int>(opened);
  side.bench = std::get<Workbench>(std::move(opened));
  if (!side.bench.refused.empty()) {
    Ledger ledger;
    report_refused(side.bench.refused, ledger);
    return complain(kKernelFailed,
                    "a plugin or a kernel of it was refused, so nothing is compared");
  }
  if (side.bench.kernels.size() != 1) {
    return complain(kUsage, fmt::format("'{}' has {} kernels; name one, of a library as LIB:KERNEL",
                                        given, side.bench.kernels.size()));
  }
  side.kernel = side.bench.kernels.front();
  return side;
}

class GateSession {
 public:
  GateSession(const GateCommand& command, Side& baseline, Side& candidate)
      : command_(command), baseline_(baseline), candidate_(candidate), progress_(0) {}

  void run(Case c) {
    if (command_.device.schedule_seed) c.schedule = *command_.device.schedule_seed;
    if (!is_of(candidate_.kernel, c)) {
      ++of_others_;
      return;
    }
    for (const int wave : candidate_.bench.waves) run_pair(c, wave);
  }

  const GateReport& report() const { return report_; }
  int64_t of_others() const { return of_others_; }  // cases of other operations than the kernels'
  std::vector<TimedPair> to_time() { return std::move(to_time_); }
  Progress& progress() { return progress_; }

 private:
  void run_pair(const Case& c, int wave) {
    using oracle::Verdict;
    Job job{c, baseline_.kernel, {}};
    job.options.wave_width = wave;
    job.options.workers = command_.device.workers;
    job.options.logits_from = logits_from(baseline_.bench.device);
    const Outcome baseline = baseline_.bench.run(job);
    job.kernel = candidate_.kernel;
    const Outcome candidate = candidate_.bench.run(job);
    if (fails_gate(report_.add(baseline, candidate))) ++failed_;
    // Of a case that is declined, the reason in the list says all.
    if (candidate.verdict == Verdict::kFailed && ++shown_ <= kShownOfEach) {
      progress_.clear();
      fmt::print("{}\n", candidate.report);
      std::fflush(stdout);
    }
    progress_.step(report_.pairs(), failed_, fixtures::print_case(c));
    const bool both_passed =
        baseline.verdict == Verdict::kPassed && candidate.verdict == Verdict::kPassed;
    if (command_.time && both_passed) to_time_.push_back({c, job.options, {}, {}, ""});
  }

  const GateCommand& command_;
  Side& baseline_;
  Side& candidate_;
  GateReport report_;
  Progress progress_;
  std::vector<TimedPair> to_time_;
  int64_t failed_ = 0;
  size_t shown_ = 0;  // reports
  int64_t of_others_ = 0;
};

// The exit code, with its sentence where the lines above do not say why.
int exit_code(const GateCommand& command, const GateReport& report, bool budget_ended,
              const std::optional<TimingResult>& timing) {
  if (report.fails()) return kKernelFailed;
  if (budget_ended)
    return complain(kBudgetEnded, "the budget ended before every listed case was run");
  if (report.judged_by_both() == 0)
    return complain(kNothingJudged, "nothing was judged on both kernels, so nothing is compared");
  if (report.weak() > 0 && !command.allow_weak)
    return complain(kNothingJudged, "weak cases prove nothing; mend them or give --allow-weak");
  if (!command.time_limit || !timing) return kAllPassed;
  const double slowest = largest_lower_bound(*timing);
  if (slowest > *command.time_limit) {
    return complain(kKernelFailed,
                    fmt::format("the candidate takes at least {:.3f} times as long as the "
                                "baseline, and --time-limit is {}",
                                slowest, *command.time_limit));
  }
  if (timing->timed == 0 || timing->timed < std::ssize(timing->pairs))
    return complain(kNothingJudged, "--time-limit is given, and not every case could be timed");
  return kAllPassed;
}

json interval_json(const RatioInterval& interval) {
  // Without a bound the upper one is infinite, which JSON has no number for.
  return {{"ratio", interval.median},
          {"lower", interval.lower},
          {"upper", std::isfinite(interval.upper) ? json(interval.upper) : json()},
          {"pairs", interval.pairs},
          {"is", name_of(interval)}};
}

json timing_json(const TimingResult& timing) {
  json cases = json::array();
  auto interval = timing.intervals.begin();
  for (const TimedPair& pair : timing.pairs) {
    json one = pair.error.empty() ? interval_json(*interval++) : json{{"error", pair.error}};
    one["case"] = fixtures::print_case(pair.value);
    one["wave"] = pair.options.wave_width;
    cases.push_back(one);
  }
  json made = {{"error_max", timing.error_max}, {"cases", cases}};
  if (timing.timed > 0) made["all"] = interval_json(timing.all);
  return made;
}

json gate_json(const GateCommand& command, const GateReport& report,
               const std::optional<TimingResult>& timing, int code) {
  json differences = json::array();
  for (const GateDifference& d : report.differences()) {
    differences.push_back({{"change", name(d.change)},
                           {"case", d.case_line},
                           {"wave", d.wave_width},
                           {"baseline", oracle::name(d.baseline)},
                           {"candidate", oracle::name(d.candidate)},
                           {"reason", d.reason},
                           {"replay", d.replay}});
  }
  json totals = json::object();
  for (int change = 0; change < kGateChanges; ++change) {
    const auto kind = static_cast<GateChange>(change);
    totals[std::string(name(kind))] = report.count(kind);
  }
  json made = {{"exactk", {{"commit", build_commit()}, {"compiler", build_compiler()}}},
               {"baseline", command.baseline},
               {"candidate", command.candidate},
               {"differences", differences},
               {"coverage", report.coverage().axes()},
               {"judged_by_both", report.judged_by_both()},
               {"totals", totals},
               {"exit_code", code}};
  if (timing) made["time"] = timing_json(*timing);
  return made;
}

void print_end(const GateCommand& command, const GateSession& session, int code,
               const std::optional<TimingResult>& timing) {
  fmt::print("{}", session.report().text(kShownOfEach));
  if (session.of_others() > 0) {
    fmt::print("{} cases are not of the operation of {} and {}\n", session.of_others(),
               command.baseline, command.candidate);
  }
  if (timing) fmt::print("{}", timing_text(*timing, kShownOfEach));
  fmt::print("gate {}: {} against {}: {}\n", code == kAllPassed ? "passed" : "FAILED",
             command.candidate, command.baseline, session.report().totals());
  std::fflush(stdout);
}

// Ends the runs first: the children that judged give their memory back.
TimingResult time_sides(const GateCommand& command, Side baseline, Side candidate,
                        std::vector<TimedPair> pairs) {
  const NamedKernel first{baseline.device, std::string(baseline.kernel.name())};
  const NamedKernel second{candidate.device, std::string(candidate.kernel.name())};
  baseline.bench = candidate.bench = Workbench{};
  return time_pairs(first, second, std::move(pairs), command.repeats);
}

int gate(const GateCommand& command) {
  auto listed = listed_cases(command.cases);
  if (std::holds_alternative<int>(listed)) return std::get<int>(listed);
  if (const std::string error = unwritable(command.json); !error.empty())
    return complain(kUsage, error);
  auto first = open_side(command, command.baseline);
  if (std::holds_alternative<int>(first)) return std::get<int>(first);
  auto second = open_side(command, command.candidate);
  if (std::holds_alternative<int>(second)) return std::get<int>(second);
  Side baseline = std::get<Side>(std::move(first)), candidate = std::get<Side>(std::move(second));
  if (std::string_view(baseline.kernel.kernel->op) != candidate.kernel.kernel->op) {
    return complain(kUsage, fmt::format("{} is a kernel of {} and {} one of {}; give two of one "
                                        "operation",
                                        command.baseline, baseline.kernel.kernel->op,
                                        command.candidate, candidate.kernel.kernel->op));
  }
  const RandomCases random(command.cases, {candidate.kernel});
  random.announce();
  GateSession session(command, baseline, candidate);
  const bool budget_ended = run_cases(std::get<0>(listed), random, command.budget_s,
                                      [&](const Case& c) { session.run(c); });
  session.progress().clear();
  std::optional<TimingResult> timing;
  if (command.time && !session.report().fails())
    timing = time_sides(command, std::move(baseline), std::move(candidate), session.to_time());
  const int code = exit_code(command, session.report(), budget_ended, timing);
  print_end(command, session, code, timing);
  if (command.json.empty()) return code;
  const json document = gate_json(command, session.report(), timing, code);
  const std::string error = write_report(command.json, document.dump(1) + "\n");
  if (error.empty()) return code;
  return complain(code == kAllPassed ? kUsage : static_cast<ExitCode>(code), error);
}

}  // namespace

void add_gate(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "gate", "a candidate kernel against a baseline on the same cases: one verdict for a merge");
  auto options = std::make_shared<GateCommand>();
  command
      ->add_option("--baseline", options->baseline,
                   "name of a kernel, a plugin with one kernel, or LIB:KERNEL")
      ->required();
  command->add_option("--candidate", options->candidate, "the same; may have the same name")
      ->required();
  add_case_options(*command, options->cases);
  command
      ->add_option("--budget", options->budget_s,
                   "seconds; listed cases must all be run, random ones end quietly")
      ->check(at_least_zero());
  add_device_options(*command, options->device);
  command->remove_option(command->get_option("--kernel"));  // the two names choose them
  command->add_option("--json", options->json, "write a report to this file");
  command->add_flag("--allow-weak", options->allow_weak, "weak cases do not fail the gate");
  command->add_flag("--time", options->time, "compare the times of what both are right on");
  command->add_option("--repeats", options->repeats, "pairs of timed calls of each case")
      ->check(CLI::Range(5, 1000))
      ->capture_default_str();
  command
      ->add_option("--time-limit", options->time_limit,
                   "with --time: fail if the candidate surely takes more than this many times as "
                   "long as the baseline")
      ->check(above_zero());
  command->get_option("--time-limit")->needs(command->get_option("--time"));
  command->callback([&chosen, options] { chosen = [options] { return gate(*options); }; });
}

}  // namespace exactk::props::cli
