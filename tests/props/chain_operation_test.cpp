// The chain: a fault is found in the stage that has it.
#include <gtest/gtest.h>

#include "kernels/abi/exactk_abi.h"
#include "props/report.h"
#include "tests/props/corrupted_kernel.h"

namespace exactk::tests {
namespace {

using oracle::Verdict;

const exactk_chain& chain(const void* descriptor) {
  return *static_cast<const exactk_chain*>(descriptor);
}

const char* const kDecode = "chain.decode rows=4 width=200 k=16 lens=const:100 block_size=16";
const char* const kPrefill =
    "chain.prefill requests=2 query_lens=const:3 lens=const:100 context=200 k=8 window=32";

TEST(ChainOperation, PassesWhatIsNotCorrupted) {
  for (const auto& [line, kernel] :
       {std::pair{kDecode, "chain.decode_auto"}, {kPrefill, "chain.prefill_block"}}) {
    const props::Outcome outcome = run_unchanged(line, kernel);
    EXPECT_EQ(Verdict::kPassed, outcome.verdict) << props::report_text(outcome);
  }
}

TEST(ChainOperation, FindsAnInteriorSentinelInTheTopkStage) {
  const auto late = [](const void* descriptor) {
    int32_t* indices = chain(descriptor).decode->indices;
    indices[3] = -1;
  };
  const props::Outcome outcome = run_corrupted(kDecode, "chain.decode_auto", late);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.reason.starts_with("the top-k stage: ")) << outcome.reason;
}

TEST(ChainOperation, AsksForAPrefixThatTheKernelDoesNotPromise) {
  // The set stays right: a valid entry changes places with a sentinel of the tail.
  const auto holes = [](const void* descriptor) {
    int32_t* indices = chain(descriptor).decode->indices;
    std::swap(indices[3], indices[15]);
  };
  const props::Outcome outcome =
      run_corrupted("chain.decode rows=2 width=200 k=16 lens=const:10", "chain.decode_auto", holes);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("contract prefix", outcome.broke);
}

TEST(ChainOperation, FindsAWrongSlotInTheMappingStage) {
  const auto wrong = [](const void* descriptor) {
    static_cast<int32_t*>(chain(descriptor).translate->slots)[5] += 1;
  };
  const props::Outcome outcome = run_corrupted(kDecode, "chain.decode_auto", wrong);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("the mapping stage: 1 of 4 tokens, the first is 0; 1 elements of slots are off by 1",
            outcome.reason);
}

TEST(ChainOperation, FindsAnIndexThatTheMappingDidNotRead) {
  // Still a valid set, in another order than the one that was mapped.
  const auto swapped = [](const void* descriptor) {
    int32_t* indices = chain(descriptor).prefill->indices;
    std::swap(indices[0], indices[1]);
  };
  const props::Outcome outcome = run_corrupted(kPrefill, "chain.prefill_block", swapped);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.reason.starts_with("the mapping stage: ")) << outcome.reason;
}

}  // namespace
}  // namespace exactk::tests
