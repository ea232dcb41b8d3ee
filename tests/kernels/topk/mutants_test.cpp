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

// Four drafts per request; logits past a row's length win.
Problem drafts() {
  Problem p;
  p.rows = 8;
  p.next_n = 4;
  p.seq_lens_dim = 1;
  p.seq_lens = {700, 900};
  p.bits = ordinary(5);
  return p;
}

TEST(TopkMutants, ADraftThatTakesTheRequestsLengthReadsPastItsOwn) {
  EXPECT_EQ("", run("topk.block", drafts()));
  const std::string verdict = run("mutant.draft_offset_forgotten", drafts());
  EXPECT_TRUE(mentions(verdict, "out of range")) << verdict;
  EXPECT_TRUE(mentions(verdict, "row 0 of length 697")) << verdict;
}

TEST(TopkMutants, ADraftOffsetIsNeededByDraftsAlone) {
  Problem p = drafts();
  p.next_n = 1;
  p.seq_lens.assign(8, 700);
  EXPECT_EQ("", run("mutant.draft_offset_forgotten", p));
  p.seq_lens_dim = 2;
  p.next_n = 4;
  EXPECT_EQ("", run("mutant.draft_offset_forgotten", p));
}

Problem in_chunks() {
  Problem p;
  p.width = 4000;
  p.tune.radix_width = 64;
  p.tune.split_width = 256;
  p.bits = ordinary(6);
  return p;
}

TEST(TopkMutants, AForgottenChunkBaseFoldsTheRow) {
  EXPECT_EQ("", run("topk.split_merge", in_chunks()));
  const std::string verdict = run("mutant.chunk_base_forgotten", in_chunks());
  EXPECT_TRUE(mentions(verdict, "missing")) << verdict;
}

TEST(TopkMutants, AForgottenChunkBaseIsHarmlessInOneChunk) {
  Problem p = in_chunks();
  p.tune.split_blocks = 1;
  EXPECT_EQ("", run("mutant.chunk_base_forgotten", p));
  p.tune.split_width = 0;
  EXPECT_EQ("", run("mutant.chunk_base_forgotten", p));
}

TEST(TopkMutants, SlotsByArrivalAreInNoOrder) {
  Problem p;
  p.width = 3000;
  p.bits = ordinary(7);
  EXPECT_EQ("", run("topk.stable", p));
  const std::string verdict = run("mutant.slots_by_arrival", p);
  EXPECT_TRUE(mentions(verdict, "order")) << verdict;
  EXPECT_FALSE(mentions(verdict, "missing winner")) << verdict;
}

TEST(TopkMutants, SlotsByArrivalAreHarmlessInShortRows) {
  Problem p;
  p.seq_lens = {64};
  p.bits = ordinary(7);
  EXPECT_EQ("", run("mutant.slots_by_arrival", p));
}

// The path that a gated kernel takes for 384 rows of k = 512, or another count.
int32_t gated_path(const char* name, int64_t rows) {
  Problem p;
  p.rows = rows;
  p.k = 512;
  p.compress_ratio = 4;
  p.seq_lens.assign(static_cast<size_t>(rows), 20);
  p.bits = ordinary(8);
  p.tune.block_threads = 64;
  Bench bench(kernel(name), p, {});
  EXPECT_EQ("", bench.run()) << "both sides select right";
  return bench.report.path;
}

TEST(TopkMutants, AGateOneRowEarlyTakesTheOtherPath) {
  EXPECT_EQ(EXACTK_PATH_K512, gated_path("topk.gated", 384));
  EXPECT_EQ(EXACTK_PATH_FULL_RADIX, gated_path("mutant.gate_one_row_early", 384));
  for (const int64_t rows : {383, 385}) {
    EXPECT_EQ(gated_path("topk.gated", rows), gated_path("mutant.gate_one_row_early", rows));
  }
}

// Four rows, of which the last two are of the second launch.
Problem two_launches() {
  Problem p;
  p.rows = 4;
  p.tune.radix_rows = 2;
  p.row_starts.assign(4, 500);
  p.row_ends.assign(4, 1000);
  p.bits = ordinary(9);
  return p;
}

TEST(TopkMutants, AnIgnoredRowStartShowsInTheSecondLaunch) {
  EXPECT_EQ("", run("topk.prefill_block", two_launches()));
  const std::string verdict = run("mutant.prefill_start_ignored", two_launches());
  EXPECT_TRUE(mentions(verdict, "row 2 of length 500: missing winner")) << verdict;
}

TEST(TopkMutants, AnIgnoredRowStartIsHarmlessInTheFirstLaunchAndAtColumn0) {
  Problem p = two_launches();
  p.row_starts = {500, 500, 0, 0};
  EXPECT_EQ("", run("mutant.prefill_start_ignored", p));
  p = two_launches();
  p.tune.radix_rows = 4;
  EXPECT_EQ("", run("mutant.prefill_start_ignored", p));
}

TEST(TopkMutants, ANegativeLengthWritesBeforeItsRow) {
  for (const int32_t end : {499, 0}) {
    Problem p = two_launches();
    p.row_ends[0] = end;
    EXPECT_EQ("", run("topk.prefill_block", p));
    const std::string verdict = run("mutant.prefill_negative_length", p);
    EXPECT_TRUE(mentions(verdict, "a guard changed")) << verdict;
  }
  Problem empty = two_launches();
  empty.row_ends[0] = 500;
  EXPECT_EQ("", run("mutant.prefill_negative_length", empty));
}

TEST(TopkMutants, ARowSkippedAtTheGateIsNeverWritten) {
  EXPECT_EQ("", run("topk.prefill_block", two_launches()));
  const std::string verdict = run("mutant.prefill_row_skipped", two_launches());
  EXPECT_TRUE(mentions(verdict, "row 2 of length 500:")) << verdict;
  EXPECT_TRUE(mentions(verdict, "never written")) << verdict;
  Problem p = two_launches();
  p.rows = 3;  // the second launch would have been this row alone
  EXPECT_NE("", run("mutant.prefill_row_skipped", p));
  p.rows = 2;
  EXPECT_EQ("", run("mutant.prefill_row_skipped", p));
}

TEST(TopkMutants, AWidthTakenForTheStrideShowsWhereTheyDiffer) {
  Problem p = two_launches();
  EXPECT_EQ("", run("mutant.prefill_width_as_stride", p));
  p.row_stride = p.width + 7;
  EXPECT_EQ("", run("topk.prefill_block", p));
  const std::string verdict = run("mutant.prefill_width_as_stride", p);
  EXPECT_TRUE(mentions(verdict, "row 2 of length 500:")) << verdict;
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
