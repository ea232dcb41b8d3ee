// Index operations: the right kernel passes, and one wrong element anywhere is found and explained.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/abi/exactk_abi.h"
#include "props/report.h"
#include "tests/props/corrupted_kernel.h"

namespace exactk::tests {
namespace {

using oracle::FaultKind;
using oracle::Verdict;

template <class Descriptor>
const Descriptor& as(const void* descriptor) {
  return *static_cast<const Descriptor*>(descriptor);
}

const char* const kCombine =
    "index.combine requests=2 query_lens=const:3 lens=const:100 context=200 k=16 window=32 extra=2";
const char* const kTranslate =
    "index.translate requests=2 query_lens=const:3 lens=const:100 context=200 k=16 block_size=16";
const char* const kSwa =
    "index.swa requests=2 query_lens=const:3 lens=const:100 context=200 window=16 block_size=16";

TEST(IndexOperation, PassesWhatIsNotCorrupted) {
  for (const auto& [line, kernel] :
       {std::pair{kCombine, "combine.fused"}, {kTranslate, "translate.rows"}, {kSwa, "swa.rows"}}) {
    const props::Outcome outcome = run_unchanged(line, kernel);
    EXPECT_EQ(Verdict::kPassed, outcome.verdict) << props::report_text(outcome);
    EXPECT_GT(outcome.elements, 0);
  }
}

TEST(IndexOperation, FailsOneWrongIndexOfACombine) {
  const auto wrong = [](const void* descriptor) {
    const auto& d = as<exactk_combine>(descriptor);
    d.indices[4 * d.out_stride_elems + 20] += 1;
  };
  const props::Outcome outcome = run_corrupted(kCombine, "combine.fused", wrong);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("1 of 8 tokens, the first is 4; 1 elements of indices are off by 1", outcome.reason);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kWrongValue));
  const std::string report = props::report_text(outcome);
  EXPECT_NE(std::string::npos, report.find("token 4    request 1, position 98")) << report;
  EXPECT_NE(std::string::npos, report.find("  indices[4][20]  BAD  got ")) << report;
}

TEST(IndexOperation, FailsAWrongLength) {
  const auto wrong = [](const void* descriptor) { as<exactk_combine>(descriptor).lens[0] -= 1; };
  const props::Outcome outcome = run_corrupted(kCombine, "combine.fused", wrong);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("elements of lens are off by -1"))
      << outcome.reason;
}

TEST(IndexOperation, FailsADirtyTail) {
  const auto dirty = [](const void* descriptor) {
    const auto& d = as<exactk_combine>(descriptor);
    d.indices[d.columns - 1] = 7;
  };
  const props::Outcome outcome = run_corrupted(kCombine, "combine.fused", dirty);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kSentinelMissing)) << outcome.reason;
}

TEST(IndexOperation, FailsAWriteToARowThatNoRequestCovers) {
  const auto wild = [](const void* descriptor) {
    const auto& d = as<exactk_combine>(descriptor);
    d.indices[7 * d.out_stride_elems] = -1;
    d.lens[6] = 0;
  };
  const props::Outcome outcome = run_corrupted(kCombine, "combine.fused", wild);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kGuardBroken));
  EXPECT_NE(std::string::npos, outcome.reason.find("exactly those of no request"))
      << outcome.reason;
}

TEST(IndexOperation, FailsAWriteIntoTheGapBetweenRows) {
  const auto wild = [](const void* descriptor) {
    const auto& d = as<exactk_combine>(descriptor);
    d.indices[d.columns] = -1;
  };
  const std::string line = std::string(kCombine) + " out_stride=130";
  EXPECT_EQ(Verdict::kFailed, run_corrupted(line, "combine.fused", wild).verdict);
  EXPECT_EQ(Verdict::kPassed, run_unchanged(line, "combine.fused").verdict);
}

TEST(IndexOperation, FailsAnEntryPastTheEndOfARaggedList) {
  const auto wild = [](const void* descriptor) {
    const auto& d = as<exactk_combine>(descriptor);
    d.indices[d.indptr[d.tokens]] = -1;
  };
  EXPECT_EQ(
      Verdict::kFailed,
      run_corrupted(std::string(kCombine) + " variant=ragged", "combine.fused", wild).verdict);
}

TEST(IndexOperation, FailsAWrongEndOfAnIndptr) {
  const auto wrong = [](const void* descriptor) {
    const auto& d = as<exactk_combine>(descriptor);
    d.indptr[d.tokens] += 1;
  };
  const props::Outcome outcome =
      run_corrupted(std::string(kCombine) + " variant=ragged", "combine.fused", wrong);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.anatomy.find("indptr[8][0]  BAD")) << outcome.anatomy;
}

TEST(IndexOperation, FailsASlotThatLostItsUpperHalf) {
  const auto narrow = [](const void* descriptor) {
    auto* slot = static_cast<int64_t*>(as<exactk_translate>(descriptor).slots);
    *slot = static_cast<int32_t>(*slot);
  };
  const props::Outcome outcome =
      run_corrupted(std::string(kTranslate) + " slots=int64 table=far", "translate.rows", narrow);
  EXPECT_EQ(Verdict::kFailed, outcome.verdict) << outcome.reason;
}

TEST(IndexOperation, FailsAChangedTable) {
  const auto wild = [](const void* descriptor) {
    const_cast<int32_t*>(as<exactk_translate>(descriptor).block_table)[0] += 1;
  };
  const props::Outcome outcome = run_corrupted(kTranslate, "translate.rows", wild);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("the block_table, an input, were changed by the launch", outcome.reason);
}

TEST(IndexOperation, FailsAWindowOfTheWrongToken) {
  const auto wrong = [](const void* descriptor) {
    auto* slots = static_cast<int32_t*>(as<exactk_swa>(descriptor).slots);
    std::swap(slots[0], slots[1]);
  };
  EXPECT_EQ(Verdict::kFailed, run_corrupted(kSwa, "swa.rows", wrong).verdict);
}

TEST(IndexOperation, SkipsAKernelOfAnotherOperation) {
  const props::Outcome outcome = run_unchanged(kCombine, "swa.rows");
  EXPECT_EQ(Verdict::kSkipped, outcome.verdict);
  EXPECT_EQ("is a kernel of index.swa", outcome.reason);
}

TEST(IndexOperation, CallsACaseWithoutAnyIndexWeak) {
  EXPECT_EQ(Verdict::kWeak,
            run_unchanged("index.swa lens=const:0 invalid=1000", "swa.rows").verdict);
}

}  // namespace
}  // namespace exactk::tests
