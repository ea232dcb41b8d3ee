// Every planted fault shows on the inputs that reach it, and the kernel that it was planted in is
// right there.
#include <gtest/gtest.h>

#include <string>

#include "kernels/registry.h"
#include "tests/kernels/test_device.h"
#include "tests/kernels/topk/harness.h"
#include "tests/kernels/topk/patterns.h"

namespace exactk::kernels::test {
namespace {

bool mentions(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

Problem few_finite() {
  Problem p;
  p.width = 262144;
  p.k = 512;
  p.seq_lens = {3000};
  p.bits = [](int64_t row, int64_t column) {
    return column % 30 == 0 ? ordinary(1)(row, column) : kMinusInf;
  };
  return p;
}

TEST(TopkMutants, PaddingThatBeatsMinusInfHidesRealColumns) {
  EXPECT_EQ("", run("topk.split_merge", few_finite()));
  const std::string verdict = run("mutant.pad_beats_minus_inf", few_finite());
  EXPECT_TRUE(mentions(verdict, "sentinel inside")) << verdict;
}

TEST(TopkMutants, PaddingIsHarmlessWithoutMinusInf) {
  Problem p = few_finite();
  p.bits = ordinary(1);
  EXPECT_EQ("", run("mutant.pad_beats_minus_inf", p));
}

Problem short_row() {
  Problem p;
  p.seq_lens = {10};
  p.bits = ordinary(2);
  return p;
}

TEST(TopkMutants, ATailThatIsNotWrittenKeepsItsPoison) {
  EXPECT_EQ("", run("topk.block", short_row()));
  const std::string verdict = run("mutant.tail_not_written", short_row());
  EXPECT_TRUE(mentions(verdict, "never written")) << verdict;
}

TEST(TopkMutants, ATailThatIsNotWrittenIsHarmlessInLongRows) {
  Problem p = short_row();
  p.seq_lens = {1000};
  EXPECT_EQ("", run("mutant.tail_not_written", p));
}

TEST(TopkMutants, ATailThatIsRoundedUpLeavesTheBuffer) {
  EXPECT_NE("", run("mutant.tail_rounded_up", short_row()));
  Problem whole = short_row();
  whole.k = 4096;  // already a whole tile
  EXPECT_EQ("", run("mutant.tail_rounded_up", whole));
}

// Captures at 600 columns, replays at 1000.
std::string replay_longer(const char* name) {
  Problem p;
  p.width = 1024;
  p.k = 512;
  p.tune.policy_shift = 8;
  p.bits = ordinary(3);
  p.seq_lens = {600};
  Bench bench(kernel(name), p, {});
  for (const std::string& error :
       {bench.prepare(), bench.capture(), bench.replay(), bench.judge()}) {
    if (!error.empty()) {
      return "at the length of the capture: " + error;
    }
  }
  bench.problem.seq_lens = {1000};
  for (const std::string& error : {bench.prepare(), bench.replay(), bench.judge()}) {
    if (!error.empty()) {
      return error;
    }
  }
  return "";
}

TEST(TopkMutants, ASplitFrozenAtCaptureMissesLaterColumns) {
  EXPECT_EQ("", replay_longer("topk.k512"));
  const std::string verdict = replay_longer("mutant.split_frozen_at_capture");
  EXPECT_TRUE(mentions(verdict, "missing")) << verdict;
  EXPECT_FALSE(mentions(verdict, "at the length of the capture")) << verdict;
}

TEST(TopkMutants, ASplitFrozenAtCaptureIsHarmlessInDirectLaunches) {
  Problem p;
  p.width = 4096;
  p.k = 512;
  p.tune.policy_shift = 8;
  p.bits = ordinary(4);
  p.rows = 4;
  p.seq_lens = {4096, 3000, 513, 7};
  EXPECT_EQ("", run("mutant.split_frozen_at_capture", p));
}

TEST(TopkMutants, AreApartFromTheShippedKernels) {
  const TargetKernels& built = *target_kernels(kDeviceKind);
  for (const Mutant& mutant : built.mutants) {
    EXPECT_EQ(std::string_view(mutant.kernel->name).substr(0, 7), "mutant.");
    for (const exactk_kernel* shipped : built.shipped) {
      EXPECT_NE(shipped->launch, mutant.kernel->launch) << mutant.kernel->name;
    }
  }
}

}  // namespace
}  // namespace exactk::kernels::test
