// A failure is told apart: it comes every time, now and then, or only after what ran before it.
#include "props/recurrence.h"

#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/case.h"
#include "tests/props/fake_kernel.h"
#include "tests/props/temp_folder.h"

namespace exactk::tests {
namespace {

using oracle::Verdict;
using props::Job;
using props::Outcome;
using props::Recurrence;

Job job_with_seed(uint64_t seed) {
  Job job;
  job.value.seed = seed;
  return job;
}

Outcome failed_outcome(uint64_t seed) {
  Outcome o;
  o.value.seed = seed;
  o.verdict = Verdict::kFailed;
  o.faults.add(oracle::FaultKind::kDuplicate);
  return o;
}

Outcome passed_outcome() {
  Outcome o;
  o.verdict = Verdict::kPassed;
  return o;
}

TEST(Recurrence, IsDeterministicWhereEveryRunFails) {
  int runs = 0;
  const Recurrence found =
      props::recurrence(failed_outcome(9), job_with_seed(9), {}, [&](std::span<const Job> jobs) {
        EXPECT_EQ(1u, jobs.size());
        ++runs;
        return failed_outcome(9);
      });
  EXPECT_EQ(Recurrence::Kind::kDeterministic, found.kind);
  EXPECT_EQ(5, runs);
  EXPECT_EQ("deterministic: fails 5 of 5", props::recurrence_text(found));
}

TEST(Recurrence, CountsARunThatFailsAnotherWayAsPassed) {
  const Recurrence found = props::recurrence(failed_outcome(9), job_with_seed(9), {}, [](auto) {
    Outcome other = failed_outcome(9);
    other.faults = {};
    other.faults.add(oracle::FaultKind::kOrder);
    return other;
  });
  EXPECT_EQ("flaky: failed once, then 0 of 20", props::recurrence_text(found));
}

TEST(Recurrence, IsFlakyWhereSomeRunsFailAndBlamesNoOtherCase) {
  int runs = 0;
  const Job before = job_with_seed(1);
  const Recurrence found = props::recurrence(
      failed_outcome(9), job_with_seed(9), {&before, 1},
      [&](auto) { return runs++ % 4 == 2 ? failed_outcome(9) : passed_outcome(); });
  EXPECT_EQ(Recurrence::Kind::kFlaky, found.kind);
  EXPECT_EQ("flaky: fails 5 of 20", props::recurrence_text(found));
  EXPECT_TRUE(found.after.empty());
}

TEST(Recurrence, NamesTheCasesAfterWhichAloneItFails) {
  const std::vector<Job> before = {job_with_seed(1), job_with_seed(2), job_with_seed(3),
                                   job_with_seed(4)};
  const auto run = [](std::span<const Job> jobs) {
    bool second = false, fourth = false;
    for (const Job& job : jobs.first(jobs.size() - 1)) {
      second = second || job.value.seed == 2;
      fourth = fourth || (job.value.seed == 4 && second);
    }
    return fourth ? failed_outcome(9) : passed_outcome();
  };
  const Recurrence found = props::recurrence(failed_outcome(9), job_with_seed(9), before, run);
  ASSERT_EQ(Recurrence::Kind::kAfterOthers, found.kind);
  ASSERT_EQ(2u, found.after.size());
  EXPECT_EQ(2u, found.after[0].value.seed);
  EXPECT_EQ(4u, found.after[1].value.seed);
  EXPECT_EQ(0, found.failed);
}

TEST(Recurrence, DoesNotBlameACaseAfterWhichItFailsNowAndThen) {
  int sequences = 0;
  const Job before = job_with_seed(1);
  const auto run = [&](std::span<const Job> jobs) {
    if (jobs.size() == 1) return passed_outcome();
    return ++sequences == 2 ? passed_outcome() : failed_outcome(9);
  };
  const Recurrence found =
      props::recurrence(failed_outcome(9), job_with_seed(9), {&before, 1}, run);
  EXPECT_EQ(Recurrence::Kind::kFlaky, found.kind);
  EXPECT_EQ("flaky: failed once, then 0 of 20", props::recurrence_text(found));
}

TEST(Recurrence, SaysWhenThereWasNoTime) {
  const Recurrence found = props::recurrence(failed_outcome(9), job_with_seed(9), {},
                                             [](auto) { return passed_outcome(); }, {5, 20, 3, 0});
  EXPECT_EQ(Recurrence::Kind::kUnknown, found.kind);
  EXPECT_EQ("not run again: the time was over", props::recurrence_text(found));
}

// The number of the run, kept across processes in a file.
class CallCounter {
 public:
  CallCounter() { write(0); }
  int next() const {
    int count = 0;
    std::ifstream(folder_ / "calls") >> count;
    write(count + 1);
    return count;
  }

 private:
  void write(int count) const { std::ofstream(folder_ / "calls") << count << "\n"; }
  TempFolder folder_;
};

Job decode_job(const FakeKernel& fake, const char* line) {
  return {*fixtures::parse_case(line), fake.under_test(), {}};
}

constexpr const char* kLine = "topk.decode rows=1 width=64 k=8 lens=const:64";

props::RunFresh run_fresh(props::IsolatedRunner& runner) {
  return [&runner](std::span<const Job> jobs) {
    runner.restart();
    Outcome last;
    for (const Job& job : jobs) last = runner.run(job);
    return last;
  };
}

TEST(Recurrence, ReportsAKernelThatFailsOnceInTwentyRunsAsFlakyWithItsFirstEvidence) {
  const CallCounter calls;
  // Every run launches twice, under two poisons.
  const FakeKernel fake([&calls](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (calls.next() % 40 == 0) slots[1] = slots[0];
  });
  props::IsolatedRunner runner("host", 60, [&](std::string_view) { return fake.under_test(); });
  const Job job = decode_job(fake, kLine);
  const Outcome first = runner.run(job);
  ASSERT_EQ(Verdict::kFailed, first.verdict);
  const Recurrence found = props::recurrence(first, job, {}, run_fresh(runner));
  EXPECT_EQ(Recurrence::Kind::kFlaky, found.kind);
  EXPECT_LE(found.failed, 1);
  EXPECT_EQ(20, found.runs);
  EXPECT_NE(std::string::npos, first.report.find("(duplicate)")) << first.report;
}

TEST(Recurrence, FindsTheCaseOfTheSameProcessThatAFailureNeeds) {
  // Wrong once a case with twice as many rows was run by the same process.
  static int64_t most_rows = 0;
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (most_rows > d.rows) slots[1] = slots[0];
    most_rows = std::max(most_rows, d.rows);
  });
  props::IsolatedRunner runner("host", 60, [&](std::string_view) { return fake.under_test(); });
  const Job job = decode_job(fake, kLine);
  for (const char* line : {kLine, "topk.decode rows=2 width=64 k=8 lens=const:64",
                           "topk.decode rows=2 width=65 k=8 lens=const:64"})
    EXPECT_EQ(Verdict::kPassed, runner.run(decode_job(fake, line)).verdict);
  const std::vector<Job> before(runner.ran().begin(), runner.ran().end());
  ASSERT_EQ(3u, before.size());
  const Outcome failed = runner.run(job);
  ASSERT_EQ(Verdict::kFailed, failed.verdict);
  const Recurrence found = props::recurrence(failed, job, before, run_fresh(runner));
  ASSERT_EQ(Recurrence::Kind::kAfterOthers, found.kind) << props::recurrence_text(found);
  ASSERT_EQ(1u, found.after.size());
  EXPECT_EQ(2, found.after[0].value.rows);
}

TEST(IsolatedRunner, RemembersTheLastJobsOfItsProcessAlone) {
  const FakeKernel fake(right_row);
  props::IsolatedRunner runner("host", 60, [&](std::string_view) { return fake.under_test(); });
  for (size_t i = 0; i < props::IsolatedRunner::kJobsKept + 2; ++i)
    (void)runner.run(decode_job(fake, kLine));
  EXPECT_EQ(props::IsolatedRunner::kJobsKept, runner.ran().size());
  runner.restart();
  EXPECT_TRUE(runner.ran().empty());
}

}  // namespace
}  // namespace exactk::tests
