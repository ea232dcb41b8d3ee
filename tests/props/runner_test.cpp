// The runner must fail every kind of wrong kernel and pass the right one.
#include "props/runner.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "props/topk_problem.h"
#include "tests/props/fake_kernel.h"

namespace exactk::tests {
namespace {

using oracle::FaultKind;
using oracle::Verdict;

props::Outcome run(const std::string& line, const FakeKernel& fake) {
  auto c = fixtures::parse_case(line);
  EXPECT_TRUE(c.has_value()) << c.error();
  auto device = kernels::open_device("host");
  EXPECT_TRUE(device.has_value()) << device.error();
  props::Runner runner(**device);
  return runner.run(*c, fake.under_test(), props::RunnerOptions{});
}

const char* const kShort = "topk.decode rows=4 width=64 k=16 lens=list:5:16:40:64";
const char* const kStarts = "topk.prefill rows=4 width=64 k=16 lens=list:5:16:40:64";
const char* const kLong = "topk.decode rows=3 width=200 k=8 lens=const:200 pattern=normal";

TEST(Runner, PassesARightKernelInDirectAndStreamMode) {
  const FakeKernel fake(right_row, EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_STABLE);
  EXPECT_EQ(Verdict::kPassed, run(kShort, fake).verdict);
  EXPECT_EQ(Verdict::kPassed,
            run(std::string(kShort) + " launch=stream replays=3 repeats=2", fake).verdict);
}

TEST(Runner, CountsLaunchesAndRowsOfBothPoisons) {
  const FakeKernel fake(right_row);
  const props::Outcome outcome = run(std::string(kShort) + " replays=2", fake);
  EXPECT_EQ(2 * 3, outcome.launches);
  EXPECT_EQ(2 * 3 * 4, outcome.rows_judged);
}

TEST(Runner, FailsAKernelThatWorksAtCaptureAndNotAtReplay) {
  const FakeKernel fake(right_row);  // works when called, leaves no node in the graph
  const props::Outcome outcome = run(std::string(kShort) + " launch=graph", fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ(
      "the captured graph is empty: the launch did its work at once, or on another stream than the "
      "one that it was given",
      outcome.reason);
}

TEST(Runner, FailsATailThatIsNotWritten) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    std::vector<int32_t> answer(slots.size());
    right_row(d, row, logits, answer);
    std::copy_if(answer.begin(), answer.end(), slots.begin(),
                 [](int32_t index) { return index >= 0; });
  });
  const props::Outcome outcome = run(kShort, fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kNeverWritten));
  EXPECT_EQ(
      "1 of 4 rows; only rows with length < k; bad positions are all >= length: the tail is not "
      "written",
      outcome.diagnosis);
}

TEST(Runner, FailsALostWinner) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits.first(logits.size() - 10),
              slots);  // never looks at the last ten columns
  });
  const props::Outcome outcome = run("topk.decode rows=4 width=400 k=200 lens=const:400", fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kMissingWinner));
}

TEST(Runner, FailsAWriteOnePastTheLastSlot) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (row == d.rows - 1) d.indices[(d.rows - 1) * d.out_stride_elems + d.k] = -1;
  });
  const props::Outcome outcome = run(kLong, fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("guard bytes around indices")) << outcome.reason;
}

TEST(Runner, FailsAWriteIntoTheGapBetweenRows) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (row == 0) d.indices[d.k] = -1;
  });
  EXPECT_EQ(Verdict::kFailed, run(std::string(kLong) + " out_stride=9", fake).verdict);
}

TEST(Runner, FailsAKernelThatChangesItsInput) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    const_cast<float*>(d.logits)[0] = 1.0f;
  });
  const props::Outcome outcome = run(kLong, fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("the logits, an input, were changed by the launch", outcome.reason);
}

TEST(Runner, FailsAnAnswerThatDependsOnThePoison) {
  // A valid set either way, but its order follows what the first slot held.
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    const bool swap = (static_cast<uint32_t>(slots[0]) & 1u) != 0;
    right_row(d, row, logits, slots);
    if (swap) std::swap(slots[0], slots[1]);
  });
  const props::Outcome outcome = run(kLong, fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("something undefined is read"))
      << outcome.reason;
}

TEST(Runner, FailsAnAnswerThatDependsOnTheWorkspace) {
  FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if ((*static_cast<const unsigned char*>(d.workspace) & 1u) != 0) std::swap(slots[0], slots[1]);
  });
  fake.workspace_bytes = 64;
  EXPECT_EQ(Verdict::kFailed, run(std::string(kLong) + " workspace=zero", fake).verdict);
}

TEST(Runner, FailsARepeatablePromiseThatIsNotKept) {
  int calls = 0;
  const FakeKernel fake(
      [&calls](const auto& d, int64_t row, auto logits, auto slots) {
        right_row(d, row, logits, slots);
        if (row == 0 && ++calls == 2) std::swap(slots[0], slots[1]);
      },
      EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_REPEATABLE);
  const props::Outcome outcome = run(std::string(kLong) + " repeats=2", fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("other bytes")) << outcome.reason;
}

TEST(Runner, FailsAnOrderPromiseThatIsNotKept) {
  const FakeKernel fake(
      [](const auto& d, int64_t row, auto logits, auto slots) {
        right_row(d, row, logits, slots);
        std::swap(slots[0], slots[1]);
      },
      EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_STABLE);
  const props::Outcome outcome = run(kLong, fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("contract stable", outcome.broke);
}

TEST(Runner, FailsALaunchModeThatGivesOtherBytesWhereTheSameArePromised) {
  // Valid everywhere, but on a stream of its own the first two slots change places.
  FakeKernel fake(
      [](const auto& d, int64_t row, auto logits, auto slots) {
        right_row(d, row, logits, slots);
        if (d.stream != nullptr) std::swap(slots[0], slots[1]);
      },
      EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_REPEATABLE);
  const props::Outcome outcome = run(kLong, fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("launch mode stream gives other bytes"))
      << outcome.reason;
}

TEST(Runner, JudgesTheSameWhereRowsAreMadeAgainInsteadOfKept) {
  for (const char* line : {kShort, kStarts}) {
    const props::TopkProblem problem = props::topk_problem(*fixtures::parse_case(line));
    const props::TopkInputs kept = props::make_topk_inputs(problem, 0);
    props::TopkInputs made = props::make_topk_inputs(problem, 0);
    made.logits.clear();
    std::vector<uint32_t> scratch_kept, scratch_made;
    for (int64_t row = 0; row < problem.rows; ++row) {
      const auto a = props::visible_row(problem, kept, row, scratch_kept);
      const auto b = props::visible_row(problem, made, row, scratch_made);
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << row;
    }
  }
}

TEST(Runner, JudgesShippedKernelsOnLogitsThatTheDeviceFills) {
  auto device = kernels::open_device("host");
  ASSERT_TRUE(device.has_value());
  props::Runner runner(**device);
  props::RunnerOptions options;
  options.logits_from = props::LogitsFrom::kDevice;
  for (const char* line :
       {"topk.decode rows=6 next_n=3 width=700 k=64 pattern=boundary_ties:40 launch=graph "
        "replays=2",
        "topk.decode rows=4 width=300 k=64 column_stride=2 row_stride=650 misalign=3 tail=go_on",
        "topk.decode rows=2 width=100 k=8 lens=const:50 set=0:7:0x7fc00000,1:99:0x7f800000",
        "topk.prefill rows=5 width=300 k=64 starts=ragged misalign=1 tail=go_on launch=graph "
        "replays=2",
        "chain.decode rows=4 width=300 k=16 block_size=3 launch=graph replays=2",
        "chain.prefill requests=3 query_lens=list:2:0:5 context=200 k=8 window=5"}) {
    const fixtures::Case c = *fixtures::parse_case(line);
    const auto kernels =
        props::select_kernels("host", fixtures::name(c.op) == "topk.decode" ? "topk.auto"
                                      : c.op == fixtures::Op::kTopkPrefill  ? "topk.prefill_block"
                                                                            : "chain.*");
    ASSERT_TRUE(kernels.has_value()) << kernels.error();
    const auto kernel = std::find_if(kernels->begin(), kernels->end(), [&](const auto& k) {
      return k.kernel->op == fixtures::name(c.op);
    });
    ASSERT_NE(kernels->end(), kernel) << line;
    const props::Outcome outcome = runner.run(c, *kernel, options);
    EXPECT_EQ(Verdict::kPassed, outcome.verdict) << line << ": " << outcome.reason;
  }
}

TEST(Runner, FailsAChangedInputThatTheDeviceFilled) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    const_cast<float*>(d.logits)[0] = 1.0f;
  });
  auto device = kernels::open_device("host");
  ASSERT_TRUE(device.has_value());
  props::Runner runner(**device);
  props::RunnerOptions options;
  options.logits_from = props::LogitsFrom::kDevice;
  const props::Outcome outcome =
      runner.run(*fixtures::parse_case(kLong), fake.under_test(), options);
  EXPECT_EQ("the logits, an input, were changed by the launch", outcome.reason);
}

TEST(Runner, FailsALaunchThatReturnsAnError) {
  FakeKernel fake(right_row);
  fake.launch = [](const exactk_topk_decode&, char* message, size_t bytes) {
    std::snprintf(message, bytes, "no luck");
    return EXACTK_ERROR;
  };
  const props::Outcome outcome = run(kLong, fake);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("no luck")) << outcome.reason;
}

TEST(Runner, SkipsADeclinedCaseWithTheKernelsReason) {
  FakeKernel fake(right_row);
  fake.supports = [](const exactk_topk_decode&, char* message, size_t bytes) {
    std::snprintf(message, bytes, "takes k = 512 only");
    return EXACTK_DECLINED;
  };
  const props::Outcome outcome = run(kLong, fake);
  EXPECT_EQ(Verdict::kSkipped, outcome.verdict);
  EXPECT_EQ("takes k = 512 only", outcome.reason);
}

TEST(Runner, RefusesADeclineWithoutAReason) {
  FakeKernel fake(right_row);
  fake.supports = [](const exactk_topk_decode&, char*, size_t) { return EXACTK_DECLINED; };
  EXPECT_EQ(Verdict::kUnsupported, run(kLong, fake).verdict);
}

TEST(Runner, SkipsACaseBeyondMemoryWithBothNumbers) {
  const FakeKernel fake(right_row);
  const props::Outcome outcome = run("topk.decode rows=500 width=2000000000 lens=const:10", fake);
  ASSERT_EQ(Verdict::kSkipped, outcome.verdict);
  EXPECT_TRUE(outcome.reason.starts_with("needs ")) << outcome.reason;
  EXPECT_NE(std::string::npos, outcome.reason.find("free"));
}

TEST(Runner, CallsACaseOfEmptyRowsWeak) {
  const FakeKernel fake(right_row);
  EXPECT_EQ(Verdict::kWeak, run("topk.decode rows=4 width=64 k=16 lens=const:0", fake).verdict);
}

TEST(Runner, FailsAPathThatIsNotThePublishedOne) {
  FakeKernel fake(right_row);
  props::KernelUnderTest under_test = fake.under_test();
  under_test.method = oracle::TopkMethod::kBlock;
  auto device = kernels::open_device("host");
  ASSERT_TRUE(device.has_value());
  props::Runner runner(**device);
  const props::Outcome outcome =
      runner.run(*fixtures::parse_case(kLong), under_test, props::RunnerOptions{});
  EXPECT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("the launch did not report the path that it took", outcome.reason);
}

}  // namespace
}  // namespace exactk::tests
