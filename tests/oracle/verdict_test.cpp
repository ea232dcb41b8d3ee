#include "oracle/verdict.h"

#include <gtest/gtest.h>

#include <set>

#include "oracle/dispatch_policy.h"
#include "oracle/topk_contract.h"

namespace exactk::oracle {
namespace {

TEST(VerdictNames, AreTheDocumentedWords) {
  EXPECT_EQ("passed", name(Verdict::kPassed));
  EXPECT_EQ("weak", name(Verdict::kWeak));
  EXPECT_EQ("failed", name(Verdict::kFailed));
  EXPECT_EQ("skipped", name(Verdict::kSkipped));
  EXPECT_EQ("unsupported", name(Verdict::kUnsupported));
  EXPECT_EQ("invalid", name(Verdict::kInvalid));
}

TEST(FaultNames, AreAllDifferentAndKnown) {
  std::set<std::string_view> names;
  for (int kind = 0; kind < kFaultKinds; ++kind) {
    names.insert(name(static_cast<FaultKind>(kind)));
  }
  EXPECT_EQ(static_cast<size_t>(kFaultKinds), names.size());
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ("missing winner", name(FaultKind::kMissingWinner));
  EXPECT_EQ("never written", name(FaultKind::kNeverWritten));
}

TEST(ModeNames, AreTheDocumentedWords) {
  EXPECT_EQ("set", name(kSet));
  EXPECT_EQ("prefix", name(kPrefix));
  EXPECT_EQ("ordered", name(kOrdered));
  EXPECT_EQ("stable", name(kStable));
  EXPECT_EQ("repeatable", name(kRepeatable));
  EXPECT_EQ("kernels_only", name(kKernelsOnly));
}

TEST(PathNames, AreAllDifferent) {
  EXPECT_EQ("block_insertion", name(TopkPath::kBlockInsertion));
  EXPECT_EQ("block_radix", name(TopkPath::kBlockRadix));
  EXPECT_EQ("split", name(TopkPath::kSplit));
  EXPECT_EQ("k512", name(TopkPath::kK512));
  EXPECT_EQ("k1024", name(TopkPath::kK1024));
  EXPECT_EQ("full_radix", name(TopkPath::kFullRadix));
  EXPECT_EQ("prefill", name(TopkPath::kPrefill));
}

TEST(FaultSet, HoldsWhatWasAddedAndNothingElse) {
  FaultSet faults;
  EXPECT_TRUE(faults.empty());
  faults.add(FaultKind::kOrder);
  FaultSet others;
  others.add(FaultKind::kMissingWinner);
  faults.merge(others);
  for (int kind = 0; kind < kFaultKinds; ++kind) {
    const auto fault = static_cast<FaultKind>(kind);
    EXPECT_EQ(fault == FaultKind::kOrder || fault == FaultKind::kMissingWinner, faults.has(fault));
  }
}

}  // namespace
}  // namespace exactk::oracle
