// Programs over one run: the runner does what they say and judges each launch, and they reach
// faults that no single launch shows.
#include <gtest/gtest.h>

#include "fixtures/session.h"
#include "kernels/device/device.h"
#include "props/generators.h"
#include "props/kernel_under_test.h"
#include "props/runner.h"
#include "props/shrink.h"
#include "tests/props/fake_kernel.h"

namespace exactk::tests {
namespace {

using fixtures::Case;
using oracle::Verdict;

struct Bench {
  std::unique_ptr<kernels::Device> device = std::move(*kernels::open_device("host"));
  props::Runner runner{*device};

  props::Outcome run(const std::string& line, const props::KernelUnderTest& kernel) {
    const auto c = fixtures::parse_case(line);
    EXPECT_TRUE(c.has_value()) << c.error();
    return runner.run(*c, kernel, {});
  }
  props::Outcome run(const std::string& line, std::string_view kernel) {
    return run(line, props::select_kernels("host", kernel)->front());
  }
};

const std::string kBase = "topk.decode rows=2 width=64 k=8 lens=const:20 session=";

TEST(Sessions, AreJudgedLaunchByLaunchUnderBothPoisons) {
  const props::Outcome outcome = Bench().run(
      kBase + "launch+stream:1+capture+lens+replay+stream:2+launch+run:index.swa+replay",
      "topk.block");
  EXPECT_EQ(Verdict::kPassed, outcome.verdict) << outcome.reason;
  EXPECT_EQ(2 * 5, outcome.launches);
  EXPECT_EQ("1 kernels, 0 memsets, 0 memcpys", outcome.graph);
}

// A fake that is wrong where `wrong` says so; the numbers of its calls begin with 0.
props::Outcome run_fake(const std::string& session,
                        const std::function<bool(const exactk_topk_decode&, int)>& wrong) {
  int calls = 0;
  const FakeKernel fake([&](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (row == 0 && wrong(d, calls++)) slots[0] = slots[1];
  });
  return Bench().run(kBase + session, fake.under_test());
}

TEST(Sessions, ShowAKernelThatIsWrongOnTheSecondStreamAlone) {
  const void* first = nullptr;
  const auto wrong = [&first](const exactk_topk_decode& d, int call) {
    if (call == 0) first = d.stream;
    return d.stream != first;
  };
  EXPECT_EQ(Verdict::kPassed, run_fake("launch+lens+launch", wrong).verdict);
  const props::Outcome outcome = run_fake("launch+stream:2+launch", wrong);
  EXPECT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ(1, outcome.last_step);
}

TEST(Sessions, ShowAKernelThatKeepsStateOfACallInAnotherShape) {
  int64_t last_rows = 2;
  const auto wrong = [&last_rows](const exactk_topk_decode& d, int) {
    const bool stale = last_rows > d.rows;
    last_rows = d.rows;
    return stale;
  };
  EXPECT_EQ(Verdict::kPassed, run_fake("launch+run:index.swa+launch", wrong).verdict);
  EXPECT_EQ(Verdict::kFailed, run_fake("launch+run:topk.decode+launch", wrong).verdict);
}

TEST(Sessions, JudgeWhatRunsInBetweenAndNameIt) {
  const auto wrong = [](const exactk_topk_decode& d, int) { return d.rows == 8; };
  const props::Outcome outcome = run_fake("launch+run:topk.decode+launch", wrong);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ(0u, outcome.reason.find("topk.fake in between, on 'topk.decode': ")) << outcome.reason;
}

TEST(Sessions, MakeTheCallWithWhatItsHostKnowsAndTheReplayWithWhatWasKnownAtCapture) {
  std::vector<int64_t> hints;
  const auto keep = [&hints](const exactk_topk_decode& d, int) {
    hints.push_back(d.max_seq_len_hint);
    return false;
  };
  (void)run_fake("launch+lens+launch replay_lens=list:50", keep);
  EXPECT_EQ((std::vector<int64_t>{20, 50, 20, 50}), hints);
  const std::string split = "topk.decode rows=2 width=1024 lens=const:600 tune=policy_shift:8 ";
  EXPECT_EQ(Verdict::kPassed, Bench()
                                  .run(split + "replay_lens=list:1000 session=launch+lens+launch",
                                       "mutant.split_frozen_at_capture")
                                  .verdict);
  EXPECT_EQ(Verdict::kFailed,
            Bench()
                .run(split + "replay_lens=list:1000 session=stream:1+capture+lens+replay",
                     "mutant.split_frozen_at_capture")
                .verdict);
}

TEST(Sessions, LeaveTheWorkspaceAsTheLastLaunchDidUnlessItIsMadeDirty) {
  std::vector<std::byte> seen;
  FakeKernel fake([&seen](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (row > 0) return;
    auto* workspace = static_cast<std::byte*>(d.workspace);
    seen.push_back(*workspace);
    *workspace = std::byte{1};
  });
  fake.workspace_bytes = 256;
  EXPECT_EQ(
      Verdict::kPassed,
      Bench().run(kBase + "launch+launch+dirty+launch workspace=ones", fake.under_test()).verdict);
  ASSERT_EQ(6u, seen.size());
  EXPECT_EQ(std::byte{0xff}, seen[0]);
  EXPECT_EQ(std::byte{1}, seen[1]);
  EXPECT_EQ(std::byte{0xff}, seen[2]);
  EXPECT_NE(std::byte{1}, seen[4]);  // under the second poison it is filled every time
}

TEST(Sessions, AreDrawnAndTheRandomProgramThatFailsShrinksToTheShortestOne) {
  Bench bench;
  const auto kernel = props::select_kernels("host", "mutant.split_frozen_at_capture")->front();
  props::DrawLimits limits{20000, 6, {fixtures::Op::kTopkDecode}};
  int sessions = 0;
  for (int64_t index = 0; index < 3000; ++index) {
    const Case c = props::draw_case(5, index, limits);
    if (c.session.count == 0) continue;
    ++sessions;
    const props::Outcome failed = bench.runner.run(c, kernel, {});
    if (failed.verdict != Verdict::kFailed) continue;
    const auto judge = [&](const Case& smaller) { return bench.runner.run(smaller, kernel, {}); };
    const props::ShrinkResult result = props::shrink(failed, judge, {400, 60, 2});
    const std::string text = fixtures::print_case(result.outcome.value);
    EXPECT_TRUE(result.minimal) << text;
    EXPECT_LE(fixtures::launch_count(result.outcome.value), 2) << text;
    EXPECT_LE(result.outcome.value.rows, 2) << text;
    return;
  }
  FAIL() << "none of " << sessions << " sessions shows the fault";
}

}  // namespace
}  // namespace exactk::tests
