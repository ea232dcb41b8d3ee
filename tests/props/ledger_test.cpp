#include "props/ledger.h"

#include <gtest/gtest.h>

namespace exactk::tests {
namespace {

using oracle::Verdict;

props::Outcome outcome(Verdict verdict) {
  props::Outcome o;
  o.kernel = "topk.fake";
  o.device.kind = "host";
  o.device.wave_width = 64;
  o.verdict = verdict;
  o.reason = "because";
  o.launches = 2;
  o.rows_judged = 16;
  return o;
}

TEST(Ledger, NeverCountsASkipAsJudged) {
  props::Ledger ledger;
  ledger.add(outcome(Verdict::kSkipped));
  EXPECT_EQ(0, ledger.judged());
  EXPECT_EQ("passed 0, failed 0, weak 0, skipped 1, unsupported 0, invalid 0", ledger.totals());
  EXPECT_NE(std::string::npos, ledger.summary().find("1 x topk.fake: because"));
}

TEST(Ledger, GroupsSkipsByWhatTheKernelTakes) {
  props::Ledger ledger;
  for (const char* reason : {"takes k = 512 only; got 1", "takes k = 512 only; got 2"}) {
    props::Outcome o = outcome(Verdict::kSkipped);
    o.reason = reason;
    ledger.add(o);
  }
  EXPECT_NE(std::string::npos, ledger.summary().find("2 x topk.fake: takes k = 512 only\n"));
}

TEST(Ledger, CountsUnsupportedAndInvalidAsFailures) {
  for (const Verdict verdict : {Verdict::kFailed, Verdict::kUnsupported, Verdict::kInvalid}) {
    props::Ledger ledger;
    ledger.add(outcome(Verdict::kPassed));
    EXPECT_FALSE(ledger.any_failure());
    ledger.add(outcome(verdict));
    EXPECT_TRUE(ledger.any_failure()) << oracle::name(verdict);
    EXPECT_EQ(1u, ledger.failing_replays().size());
  }
}

TEST(Ledger, CountsTheSameCaseOnTwoKernelsAsOneCaseInTwoRuns) {
  props::Ledger ledger;
  ledger.add(outcome(Verdict::kPassed));
  props::Outcome other = outcome(Verdict::kPassed);
  other.kernel = "topk.other";
  ledger.add(other);
  EXPECT_EQ(1, ledger.cases());
  EXPECT_EQ(2, ledger.judged());
  EXPECT_EQ(4, ledger.launches());
  EXPECT_EQ(2, ledger.by("wave").at("64"));
}

}  // namespace
}  // namespace exactk::tests
