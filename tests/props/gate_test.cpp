#include "props/gate.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "props/internal_error.h"

namespace exactk::tests {
namespace {

using oracle::Verdict;
using props::GateChange;
using props::GateReport;

props::Outcome outcome(const std::string& kernel, Verdict verdict, int64_t rows = 4) {
  props::Outcome o;
  o.value.rows = rows;
  o.kernel = kernel;
  o.device.kind = "host";
  o.device.wave_width = 64;
  o.verdict = verdict;
  o.reason = "because of " + kernel;
  o.path = kernel + " path";
  return o;
}

GateReport report_of(Verdict baseline, Verdict candidate) {
  GateReport report;
  report.add(outcome("topk.old", baseline), outcome("topk.new", candidate));
  return report;
}

TEST(Gate, NamesTheChangeOfEveryPairOfVerdicts) {
  constexpr auto kPassed = Verdict::kPassed, kWeak = Verdict::kWeak, kFailed = Verdict::kFailed,
                 kSkipped = Verdict::kSkipped, kUnsupported = Verdict::kUnsupported,
                 kInvalid = Verdict::kInvalid;
  const struct {
    Verdict baseline, candidate;
    GateChange change;
    bool fails;
  } kTable[] = {
      {kPassed, kPassed, GateChange::kBothRight, false},
      {kWeak, kPassed, GateChange::kBothRight, false},
      {kPassed, kWeak, GateChange::kBothRight, false},
      {kFailed, kPassed, GateChange::kNewlyFixed, false},
      {kFailed, kWeak, GateChange::kNewlyFixed, false},
      {kSkipped, kPassed, GateChange::kNewlySupported, false},
      {kUnsupported, kPassed, GateChange::kNewlySupported, false},
      {kSkipped, kSkipped, GateChange::kNeitherTakes, false},
      {kUnsupported, kSkipped, GateChange::kNeitherTakes, false},
      {kPassed, kFailed, GateChange::kNewlyBroken, true},
      {kWeak, kFailed, GateChange::kNewlyBroken, true},
      {kFailed, kFailed, GateChange::kStillBroken, true},
      {kSkipped, kFailed, GateChange::kBrokenWhereNew, true},
      {kUnsupported, kFailed, GateChange::kBrokenWhereNew, true},
      {kPassed, kSkipped, GateChange::kStopsSupporting, true},
      {kPassed, kUnsupported, GateChange::kStopsSupporting, true},
      {kWeak, kSkipped, GateChange::kStopsSupporting, true},
      {kFailed, kSkipped, GateChange::kStopsSupporting, true},
      {kFailed, kUnsupported, GateChange::kStopsSupporting, true},
      {kSkipped, kUnsupported, GateChange::kStillUnsupported, true},
      {kUnsupported, kUnsupported, GateChange::kStillUnsupported, true},
      {kInvalid, kPassed, GateChange::kInvalid, true},
      {kPassed, kInvalid, GateChange::kInvalid, true},
  };
  for (const auto& [baseline, candidate, change, fails] : kTable) {
    SCOPED_TRACE(std::string(oracle::name(baseline)) + ", " + std::string(oracle::name(candidate)));
    const GateReport report = report_of(baseline, candidate);
    EXPECT_EQ(1, report.count(change));
    EXPECT_EQ(1, report.pairs());
    EXPECT_EQ(fails, report.fails());
  }
}

TEST(Gate, FailsForOneBrokenCaseAmongManyRightOnes) {
  GateReport report;
  for (int64_t rows = 1; rows < 50; ++rows) {
    report.add(outcome("topk.old", Verdict::kPassed, rows),
               outcome("topk.new", Verdict::kPassed, rows));
    EXPECT_FALSE(report.fails());
  }
  report.add(outcome("topk.old", Verdict::kPassed, 50), outcome("topk.new", Verdict::kFailed, 50));
  EXPECT_TRUE(report.fails());
  EXPECT_EQ("both right 49, newly fixed 0, newly broken 1", report.totals());
}

TEST(Gate, ShowsTheKernelThatFailsOrDeclinesInEachDifference) {
  const auto difference = [](Verdict baseline, Verdict candidate) {
    return report_of(baseline, candidate).differences().front();
  };
  EXPECT_NE(std::string::npos,
            difference(Verdict::kPassed, Verdict::kFailed).replay.find("--kernel topk.new"));
  EXPECT_NE(std::string::npos,
            difference(Verdict::kPassed, Verdict::kSkipped).replay.find("--kernel topk.new"));
  EXPECT_NE(std::string::npos,
            difference(Verdict::kFailed, Verdict::kPassed).replay.find("--kernel topk.old"));
  EXPECT_EQ("because of topk.old", difference(Verdict::kSkipped, Verdict::kPassed).reason);
}

TEST(Gate, CountsAsCoverageOnlyWhatBothWereJudgedOn) {
  GateReport report;
  report.add(outcome("topk.old", Verdict::kPassed, 1), outcome("topk.new", Verdict::kPassed, 1));
  report.add(outcome("topk.old", Verdict::kFailed, 2), outcome("topk.new", Verdict::kWeak, 2));
  report.add(outcome("topk.old", Verdict::kPassed, 3), outcome("topk.new", Verdict::kSkipped, 3));
  report.add(outcome("topk.old", Verdict::kSkipped, 4), outcome("topk.new", Verdict::kPassed, 4));
  report.add(outcome("topk.old", Verdict::kSkipped, 5), outcome("topk.new", Verdict::kSkipped, 5));
  EXPECT_EQ(2, report.judged_by_both());
  EXPECT_EQ(1, report.weak());
  EXPECT_EQ(2, report.coverage().by("path").at("topk.new path"));
  EXPECT_EQ(0, report_of(Verdict::kSkipped, Verdict::kSkipped).judged_by_both());
}

TEST(Gate, ShowsSomeOfEachKindAndCountsTheRest) {
  GateReport report;
  for (int64_t rows = 1; rows <= 5; ++rows) {
    report.add(outcome("topk.old", Verdict::kPassed, rows),
               outcome("topk.new", Verdict::kFailed, rows));
  }
  const std::string text = report.text(2);
  EXPECT_NE(std::string::npos, text.find("newly broken 5: the baseline is right"));
  EXPECT_NE(std::string::npos, text.find("rows=2"));
  EXPECT_EQ(std::string::npos, text.find("rows=3"));
  EXPECT_NE(std::string::npos, text.find("... 5 in all"));
  EXPECT_EQ(5u, report.differences().size());
}

TEST(Gate, RefusesToCompareTwoDifferentRuns) {
  GateReport report;
  EXPECT_THROW(report.add(outcome("topk.old", Verdict::kPassed, 1),
                          outcome("topk.new", Verdict::kPassed, 2)),
               props::InternalError);
  props::Outcome narrow = outcome("topk.new", Verdict::kPassed);
  narrow.device.wave_width = 32;
  EXPECT_THROW(report.add(outcome("topk.old", Verdict::kPassed), narrow), props::InternalError);
}

}  // namespace
}  // namespace exactk::tests
