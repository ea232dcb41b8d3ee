// What the runner says of an attention: it takes right answers of every form, and finds and
// explains one wrong entry of 2,048, one wrong value, a maximum, a log-sum-exp or a write in a gap.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/abi/exactk_abi.h"
#include "props/attention_operation.h"
#include "props/report.h"
#include "props/trial.h"
#include "tests/props/corrupted_kernel.h"

namespace exactk::tests {
namespace {

using oracle::FaultKind;
using oracle::Verdict;

const std::string kPrefill =
    "attention.sparse_prefill rows=3 heads=2 k=16 context=64 lens=const:16 numbers=apart";
const std::string kDecode =
    "attention.sparse_decode rows=4 next_n=2 heads=2 k=16 context=64 lens=const:16 numbers=apart "
    "cache=v4 extra_k=8";

const exactk_sparse_prefill& as_prefill(const void* descriptor) {
  return *static_cast<const exactk_sparse_prefill*>(descriptor);
}
const exactk_sparse_decode& as_decode(const void* descriptor) {
  return *static_cast<const exactk_sparse_decode*>(descriptor);
}

props::Outcome corrupted(const std::string& line, void (*change)(const exactk_sparse_prefill&)) {
  return run_corrupted(line, "attention.prefill_tiles",
                       [=](const void* descriptor) { change(as_prefill(descriptor)); });
}
props::Outcome corrupted_decode(const std::string& line,
                                void (*change)(const exactk_sparse_decode&)) {
  return run_corrupted(line, "attention.decode_split",
                       [=](const void* descriptor) { change(as_decode(descriptor)); });
}

TEST(AttentionOperation, PassesWhatIsNotCorrupted) {
  for (const std::string keys :
       {"", "variant=full indices=hostile:300", "variant=ragged lens=zero_mixed",
        "numbers=bytes specials=100", "sink=mixed out_stride=600 misalign=1 index_stride=140",
        "launch=graph replays=3 repeats=2"}) {
    const auto prefill = run_unchanged(
        "attention.sparse_prefill rows=2 heads=2 context=256 " + keys, "attention.prefill_tiles");
    EXPECT_EQ(Verdict::kPassed, prefill.verdict) << props::report_text(prefill);
    EXPECT_GT(prefill.elements, 0);
    for (const char* kernel : {"attention.decode_rows", "attention.decode_split"}) {
      const auto decode =
          run_unchanged("attention.sparse_decode rows=2 heads=2 context=256 " + keys, kernel);
      EXPECT_EQ(Verdict::kPassed, decode.verdict) << props::report_text(decode);
    }
  }
}

TEST(AttentionOperation, FailsOneWrongValue) {
  const props::Outcome outcome = corrupted(kPrefill, [](const exactk_sparse_prefill& d) {
    d.out[d.out_stride_elems + d.dim_v + 5] ^= 0x0200;
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("1 of 6 rows of a token and head, the first of token 1; wrong: 1 of out",
            outcome.reason);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kWrongValue));
  EXPECT_EQ((std::vector<int64_t>{1}), outcome.failing_rows);
  EXPECT_NE(std::string::npos, outcome.anatomy.find("token 1    16 entries\n  out[1][1][5]  BAD"))
      << outcome.anatomy;
  EXPECT_EQ("contract of the attention", outcome.broke);
}

TEST(AttentionOperation, FailsALogSumExpThatIsSlightlyOff) {
  const props::Outcome outcome =
      corrupted(kPrefill, [](const exactk_sparse_prefill& d) { d.lse[3] *= 1.0001f; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("wrong: 1 of lse")) << outcome.reason;
}

TEST(AttentionOperation, FailsAMaximumOfAnotherHead) {
  const props::Outcome outcome =
      corrupted(kPrefill, [](const exactk_sparse_prefill& d) { d.max_score[1] = d.max_score[0]; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("wrong: 1 of max_score")) << outcome.reason;
}

TEST(AttentionOperation, FailsANaN) {
  for (const auto& change : {+[](const exactk_sparse_prefill& d) { d.out[0] = 0x7fc0; },
                             +[](const exactk_sparse_prefill& d) {
                               d.lse[0] = std::numeric_limits<float>::quiet_NaN();
                             }}) {
    EXPECT_EQ(Verdict::kFailed, corrupted(kPrefill, change).verdict);
  }
}

TEST(AttentionOperation, FailsANaNThatBecameZero) {
  const std::string line =
      "attention.sparse_prefill rows=1 heads=1 k=16 context=64 lens=const:16 specials=1000 seed=2";
  EXPECT_EQ(Verdict::kPassed, run_unchanged(line, "attention.prefill_tiles").verdict);
  const props::Outcome outcome = corrupted(line, [](const exactk_sparse_prefill& d) {
    std::memset(d.out, 0, static_cast<size_t>(d.dim_v) * 2);
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict) << outcome.reason;
  EXPECT_NE(std::string::npos, outcome.anatomy.find("a NaN must not be swallowed"))
      << outcome.anatomy;
}

TEST(AttentionOperation, SaysWhichTokensFail) {
  const std::string line =
      "attention.sparse_prefill rows=3 heads=1 k=16 context=64 lens=list:0:9:4";
  const props::Outcome outcome = corrupted(line, [](const exactk_sparse_prefill& d) {
    d.lse[0] = -std::numeric_limits<float>::infinity();
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ(
      "1 of 3 rows of a token and head, exactly those of tokens without an entry; wrong: 1 of lse",
      outcome.reason);
}

TEST(AttentionOperation, FailsAWriteBetweenTheTokens) {
  const std::string line = kPrefill + " out_stride=260";
  EXPECT_EQ(Verdict::kPassed, run_unchanged(line, "attention.prefill_tiles").verdict);
  const props::Outcome outcome =
      corrupted(line, [](const exactk_sparse_prefill& d) { d.out[d.heads * d.dim_v + 1] = 0; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("1 elements between tokens of out were written", outcome.reason);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kGuardBroken));
}

TEST(AttentionOperation, JudgesADecodeWhereItsAnswersLie) {
  EXPECT_EQ(Verdict::kPassed, run_unchanged(kDecode, "attention.decode_split").verdict);
  const props::Outcome outcome = corrupted_decode(kDecode, [](const exactk_sparse_decode& d) {
    // Request 1, head 0, draft 1: token 3.
    d.lse[d.heads * d.next_n + 1] += 0.01f;
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ((std::vector<int64_t>{3}), outcome.failing_rows);
  EXPECT_NE(std::string::npos, outcome.anatomy.find("lse[3][0]")) << outcome.anatomy;
  EXPECT_NE(std::string::npos, outcome.anatomy.find("extra ones")) << outcome.anatomy;
}

// What a kernel says of its rounding decides how sharply it is judged, so nonsense is refused.
TEST(AttentionOperation, RefusesARoundingThatCannotBeMeant) {
  const auto reported = [](void (*change)(exactk_attention_report&)) {
    exactk_attention_report report{};
    change(report);
    return props::problem_of(report);
  };
  EXPECT_EQ("", reported([](auto&) {}));
  EXPECT_EQ("", reported([](auto& r) { r.probability_unit = -1; }));
  EXPECT_EQ("the launch reports a unit of 0.5; 0 to 2^-23 can be meant",
            reported([](auto& r) { r.unit = 0.5; }));
  EXPECT_NE("", reported([](auto& r) { r.unit = std::nan(""); }));
  EXPECT_NE("", reported([](auto& r) { r.function_error = 0x1p-17; }));
  EXPECT_NE("", reported([](auto& r) { r.probability_unit = 0x1p-7; }));
  EXPECT_EQ("the launch reports a negative number of roundings: 0, -1 and 0",
            reported([](auto& r) { r.sum_roundings = -1; }));
}

TEST(AttentionOperation, TakesNothingReportedForTheContractsNumbers) {
  const oracle::AttentionPrecision precision = props::precision_of({});
  EXPECT_EQ(0x1p-24, precision.unit);
  EXPECT_EQ(0x1p-21, precision.function_error);
  EXPECT_EQ(0x1p-8, precision.probability_unit);
  EXPECT_EQ(0, precision.dot_roundings);
  EXPECT_EQ(oracle::kBfloat16, precision.output);
}

TEST(AttentionOperation, JudgesOnlyWhatAKernelAnswers) {
  const props::Outcome outcome = corrupted(kPrefill, [](const exactk_sparse_prefill& d) {
    d.report->unanswered = EXACTK_UNANSWERED_LSE | EXACTK_UNANSWERED_MAX;
    d.lse[0] = d.max_score[0] = 1e6f;
  });
  EXPECT_EQ(Verdict::kPassed, outcome.verdict) << outcome.reason;
}

TEST(AttentionOperation, ProvesLittleWhereNoTokenHasAnEntry) {
  const props::Outcome outcome =
      run_unchanged("attention.sparse_prefill lens=const:0", "attention.prefill_tiles");
  EXPECT_EQ(Verdict::kWeak, outcome.verdict) << outcome.reason;
}

TEST(AttentionOperation, SeesTwoAnswersDiffer) {
  const auto c = fixtures::parse_case(kPrefill);
  const props::AttentionOperation operation(
      *c, props::select_kernels("host", "attention.prefill_tiles")->front());
  std::vector<props::Bytes> one(props::kAttentionTensors);
  for (const size_t tensor : {props::kAttentionOut, props::kAttentionLse, props::kAttentionMax})
    one[tensor].resize(static_cast<size_t>(operation.tensors()[tensor].bytes));
  std::vector<props::Bytes> other = one;
  EXPECT_EQ("", operation.difference(one, other));
  other[props::kAttentionMax][9] = std::byte{1};
  EXPECT_EQ("element 2 of max_score holds other bytes in one run than in the other",
            operation.difference(one, other));
}

// Without numbers that are made for it, one wrong entry of thousands changes nothing that a
// tolerance would see.
TEST(AttentionOperation, SeesOneWrongEntryOf2048WhereAToleranceDoesNot) {
  const std::string line =
      " rows=1 heads=1 context=4096 k=2048 lens=const:2048 numbers=apart seed=7";
  for (const auto& [op, kernel, mutant] :
       {std::tuple{"attention.sparse_prefill", "attention.prefill_tiles",
                   "mutant.prefill_index_wrong"},
        std::tuple{"attention.sparse_decode", "attention.decode_split",
                   "mutant.decode_index_wrong"}}) {
    EXPECT_EQ(Verdict::kPassed, run_unchanged(op + line, kernel).verdict);
    EXPECT_EQ(Verdict::kFailed, run_unchanged(op + line, mutant).verdict);
  }
}

}  // namespace
}  // namespace exactk::tests
