// The decode step: a fault is found in the stage that has it, and what the stages read of each
// other is what they are judged by.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/abi/exactk_abi.h"
#include "props/report.h"
#include "tests/props/corrupted_kernel.h"

namespace exactk::tests {
namespace {

using oracle::Verdict;

const exactk_decode_step& step(const void* descriptor) {
  return *static_cast<const exactk_decode_step*>(descriptor);
}

const std::string kSmall =
    "step.decode rows=4 width=200 k=16 lens=const:100 block_size=16 index_dim=16 heads=2 dim_v=64 "
    "rope=16";
const std::string kStep = kSmall + " dim=64";

void expect_fault_in(const std::string& stage, const std::string& line,
                     void (*corrupt)(const void*)) {
  const props::Outcome outcome = run_corrupted(line, "step.auto", corrupt);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict) << props::report_text(outcome);
  EXPECT_TRUE(outcome.reason.starts_with("the " + stage + " stage: ")) << outcome.reason;
}

TEST(StepOperation, PassesWhatIsNotCorrupted) {
  for (const std::string form :
       {" dim=64", " variant=compact cache=v4 dim=80", " variant=ragged cache=v32 dim=144"}) {
    for (const char* kernel : {"step.auto", "step.filled"}) {
      const props::Outcome outcome = run_unchanged(kSmall + form, kernel);
      EXPECT_EQ(Verdict::kPassed, outcome.verdict) << props::report_text(outcome);
    }
  }
}

TEST(StepOperation, FindsALogitThatIsOffByOneUnit) {
  expect_fault_in("logits", kStep, [](const void* d) {
    uint32_t bits = 0;
    float* logit = step(d).logits->logits + 7;
    std::memcpy(&bits, logit, sizeof(bits));
    ++bits;
    std::memcpy(logit, &bits, sizeof(bits));
  });
}

TEST(StepOperation, LeavesColumnsOutsideTheirRowAlone) {
  const auto stale = [](const void* d) { step(d).logits->logits[150] = 3e38f; };
  EXPECT_EQ(Verdict::kPassed, run_corrupted(kStep, "step.auto", stale).verdict);
}

TEST(StepOperation, FindsAnIndexThatLoses) {
  expect_fault_in("top-k", kStep, [](const void* d) { step(d).topk->indices[3] = 150; });
}

TEST(StepOperation, FindsASlotOfAnotherIndex) {
  expect_fault_in("translation", kStep,
                  [](const void* d) { static_cast<int32_t*>(step(d).translate->slots)[5] += 1; });
}

TEST(StepOperation, FindsAnOutputOfOtherSlots) {
  expect_fault_in("attention", kStep, [](const void* d) { step(d).attention->out[9] ^= 0x40; });
  expect_fault_in("attention", kStep, [](const void* d) { step(d).attention->lse[1] += 0.01f; });
}

TEST(StepOperation, SaysThatTheGraphHoldsNoFill) {
  const props::Outcome outcome = run_unchanged(kStep + " launch=graph", "step.auto");
  EXPECT_EQ("5 kernels, 0 memsets, 0 memcpys", outcome.graph) << props::report_text(outcome);
  const props::Outcome filled = run_unchanged(kStep + " launch=graph", "step.filled");
  EXPECT_EQ("7 kernels, 0 memsets, 0 memcpys", filled.graph);
}

}  // namespace
}  // namespace exactk::tests
