// Every planted fault of a chain shows on the inputs that reach it, and the chain that it was
// planted in is right there.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/chain/harness.h"

namespace exactk::kernels::test {
namespace {

bool mentions(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

DecodeProblem rows_of(std::vector<int32_t> lengths, int32_t variant) {
  DecodeProblem p;
  p.lengths = std::move(lengths);
  p.variant = variant;
  return p;
}

TEST(ChainMutants, AnInteriorSentinelTakesTheLastEntryFromARaggedRow) {
  DecodeProblem p = rows_of({40, 63, 1}, EXACTK_TRANSLATE_RAGGED);
  EXPECT_EQ("", run_chain("chain.decode_auto", p));
  const std::string verdict = run_chain("mutant.chain_interior_sentinel", p);
  EXPECT_TRUE(mentions(verdict, "slots row 0")) << verdict;
}

TEST(ChainMutants, AnInteriorSentinelStaysInAPositionalRow) {
  DecodeProblem p = rows_of({40, 63, 1}, EXACTK_TRANSLATE_POSITIONAL);
  EXPECT_EQ("", run_chain("chain.decode_auto", p));
  EXPECT_NE("", run_chain("mutant.chain_interior_sentinel", p));
}

TEST(ChainMutants, AnInteriorSentinelNeedsRoomBehindTheRow) {
  DecodeProblem p = rows_of({64, 65, 2000, 0}, EXACTK_TRANSLATE_RAGGED);
  EXPECT_EQ("", run_chain("mutant.chain_interior_sentinel", p));
}

TEST(ChainMutants, StaleIndicesAreThoseOfBefore) {
  DecodeProblem p = rows_of({800, 700, 900}, EXACTK_TRANSLATE_POSITIONAL);
  EXPECT_EQ("", run_chain("chain.decode_auto", p));
  EXPECT_NE("", run_chain("mutant.chain_stale_indices", p));
}

TEST(ChainMutants, StaleIndicesAreRightWhereNothingChanged) {
  DecodeProblem p = rows_of({800, 700, 900}, EXACTK_TRANSLATE_POSITIONAL);
  ChainBench bench(kernel("mutant.chain_stale_indices"), p, {});
  EXPECT_NE("", bench.run());
  ASSERT_EQ("", bench.launch());
  EXPECT_EQ("", bench.judge());
}

}  // namespace
}  // namespace exactk::kernels::test
