#include "props/shrink.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <unordered_set>

#include "props/shrink_candidates.h"

namespace exactk::props {
namespace {

using fixtures::Case;
using oracle::Verdict;

class Search {
 public:
  Search(const Outcome& failed, const std::function<Outcome(const Case&)>& judge,
         const ShrinkLimits& limits)
      : judge_(judge), limits_(limits), start_(std::chrono::steady_clock::now()) {
    result_.first = failed;
    result_.outcome = failed;
    seen_.insert(fixtures::print_case(failed.value));
  }

  ShrinkResult run() {
    rerun_first();
    if (result_.first_again.runs > 0 && result_.first_again.failed == 0) return result_;
    result_.minimal = search();
    rerun_smallest();
    return result_;
  }

 private:
  bool time_left() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return spent.count() < limits_.seconds;
  }

  Outcome execute(const Case& c) {
    ++result_.executions;
    return judge_(c);
  }

  void rerun_first() {
    Reruns& again = result_.first_again;
    while (again.failed == 0 && again.runs < limits_.reruns &&
           result_.executions < limits_.executions && time_left()) {
      ++again.runs;
      again.failed += fails_alike(result_.first, execute(result_.first.value)) ? 1 : 0;
    }
  }

  // At least one, even if the search used up the time: a claim of once is no claim.
  void rerun_smallest() {
    Reruns& again = result_.smallest_again;
    while (again.runs < limits_.reruns && result_.executions < limits_.executions &&
           (again.runs == 0 || time_left())) {
      ++again.runs;
      again.failed += fails_alike(result_.first, execute(result_.outcome.value)) ? 1 : 0;
    }
  }

  enum class Step { kSmaller, kNone, kEnded };

  // Tries the candidates in turn, those of `pass` first, until one takes the case's place.
  Step step(std::string_view& pass) {
    std::vector<ShrinkCandidate> candidates =
        shrink_candidates(result_.outcome.value, result_.outcome);
    const auto of_pass = [&](const ShrinkCandidate& c) { return c.pass == pass; };
    std::rotate(candidates.begin(), std::find_if(candidates.begin(), candidates.end(), of_pass),
                candidates.end());
    for (const ShrinkCandidate& candidate : candidates) {
      if (seen_.count(fixtures::print_case(candidate.value)) > 0) continue;
      if (result_.executions + limits_.reruns >= limits_.executions || !time_left())
        return Step::kEnded;
      seen_.insert(fixtures::print_case(candidate.value));
      Outcome outcome = execute(candidate.value);
      if (!fails_alike(result_.first, outcome)) continue;
      result_.outcome = std::move(outcome);
      ++result_.smaller;
      pass = candidate.pass;
      return Step::kSmaller;
    }
    return Step::kNone;
  }

  // Whether no candidate was left.
  bool search() {
    std::string_view pass = "diagnosis";
    Step done = Step::kSmaller;
    while (done == Step::kSmaller) done = step(pass);
    return done == Step::kNone;
  }

  const std::function<Outcome(const Case&)>& judge_;
  const ShrinkLimits limits_;
  const std::chrono::steady_clock::time_point start_;
  // Texts of all cases that were judged. One that is a candidate again passed, or failed and was
  // bigger than what came after it.
  std::unordered_set<std::string> seen_;
  ShrinkResult result_;
};

}  // namespace

bool fails_alike(const Outcome& a, const Outcome& b) {
  if (a.verdict != b.verdict) return false;
  if (b.verdict != Verdict::kFailed && b.verdict != Verdict::kUnsupported) return false;
  if (a.faults.empty() && b.faults.empty()) return true;
  for (int kind = 0; kind < oracle::kFaultKinds; ++kind) {
    const auto fault = static_cast<oracle::FaultKind>(kind);
    if (a.faults.has(fault) && b.faults.has(fault)) return true;
  }
  return false;
}

ShrinkResult shrink(const Outcome& failed, const std::function<Outcome(const Case&)>& judge,
                    const ShrinkLimits& limits) {
  return Search(failed, judge, limits).run();
}

}  // namespace exactk::props
