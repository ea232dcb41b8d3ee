#include "props/recurrence.h"

#include <fmt/format.h>

#include <chrono>

#include "props/shrink.h"

namespace exactk::props {
namespace {

class Examination {
 public:
  Examination(const Outcome& failed, const Job& job, const RunFresh& run,
              const RecurrenceLimits& limits)
      : failed_(failed),
        job_(job),
        run_(run),
        limits_(limits),
        start_(std::chrono::steady_clock::now()) {}

  Recurrence examine(std::span<const Job> before) {
    Recurrence found;
    while (time_left() && found.runs < limits_.runs_max) {
      ++found.runs;
      found.failed += fails_after({}) ? 1 : 0;
      if (found.failed == found.runs && found.runs >= limits_.runs_min) break;
    }
    if (found.runs == 0) return found;
    found.kind =
        found.failed == found.runs ? Recurrence::Kind::kDeterministic : Recurrence::Kind::kFlaky;
    if (found.failed > 0 || before.empty() || !always_fails_after(before)) return found;
    found.kind = Recurrence::Kind::kAfterOthers;
    found.after = fewest({before.begin(), before.end()});
    return found;
  }

 private:
  bool time_left() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return spent.count() < limits_.seconds;
  }

  bool fails_after(std::span<const Job> before) {
    std::vector<Job> jobs(before.begin(), before.end());
    jobs.push_back(job_);
    return fails_alike(failed_, run_(jobs));
  }

  // A case that fails now and then must not put the blame on another.
  bool always_fails_after(std::span<const Job> before) {
    for (int64_t i = 0; i < limits_.sequences; ++i) {
      if (!time_left() || !fails_after(before)) return false;
    }
    return true;
  }

  // Without each job that is not needed.
  std::vector<Job> fewest(std::vector<Job> jobs) {
    for (size_t i = 0; i < jobs.size();) {
      std::vector<Job> fewer = jobs;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (always_fails_after(fewer)) {
        jobs = std::move(fewer);
      } else {
        ++i;
      }
    }
    return jobs;
  }

  const Outcome& failed_;
  const Job& job_;
  const RunFresh& run_;
  const RecurrenceLimits limits_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace

Recurrence recurrence(const Outcome& failed, const Job& job, std::span<const Job> before,
                      const RunFresh& run, const RecurrenceLimits& limits) {
  return Examination(failed, job, run, limits).examine(before);
}

std::string recurrence_text(const Recurrence& r) {
  switch (r.kind) {
    case Recurrence::Kind::kDeterministic:
      return fmt::format("deterministic: fails {0} of {0}", r.runs);
    case Recurrence::Kind::kFlaky:
      return r.failed > 0 ? fmt::format("flaky: fails {} of {}", r.failed, r.runs)
                          : fmt::format("flaky: failed once, then 0 of {}", r.runs);
    case Recurrence::Kind::kAfterOthers:
      return fmt::format("fails 0 of {} alone, and every time after {} that ran before it", r.runs,
                         r.after.size() == 1 ? "the case" : "the cases");
    case Recurrence::Kind::kUnknown:
      return "not run again: the time was over";
  }
  return "";
}

}  // namespace exactk::props
