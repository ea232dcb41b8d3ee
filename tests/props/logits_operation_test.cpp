// Logits operations: the right kernel passes, and one wrong number anywhere is found and explained.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "kernels/abi/exactk_abi.h"
#include "props/logits_operation.h"
#include "props/report.h"
#include "props/trial.h"
#include "tests/props/corrupted_kernel.h"

namespace exactk::tests {
namespace {

using oracle::FaultKind;
using oracle::Verdict;

template <class Descriptor>
const Descriptor& as(const void* descriptor) {
  return *static_cast<const Descriptor*>(descriptor);
}

const std::string kRagged =
    "logits.mqa rows=3 width=100 index_heads=4 index_dim=16 lens=const:70 starts=const:10 "
    "numbers=integers:3";
const std::string kPaged =
    "logits.mqa_paged rows=4 next_n=2 width=100 index_heads=4 index_dim=16 block_size=16 "
    "lens=list:70:40 numbers=integers:3";

// The case with more words, which take the place of those with the same key.
std::string with(const std::string& line, const std::string& more) {
  std::string text;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::string key = word.substr(0, word.find('=') + 1);
    if (key.empty() || more.find(" " + key) == std::string::npos) text += word + " ";
  }
  return text + more;
}

props::Outcome ragged(const std::string& more, void (*corrupt)(const exactk_mqa_logits& d)) {
  return run_corrupted(with(kRagged, more), "mqa.tiles", [corrupt](const void* descriptor) {
    corrupt(as<exactk_mqa_logits>(descriptor));
  });
}

props::Outcome paged(const std::string& more, void (*corrupt)(const exactk_mqa_logits_paged& d)) {
  return run_corrupted(with(kPaged, more), "mqa.paged_tiles", [corrupt](const void* descriptor) {
    corrupt(as<exactk_mqa_logits_paged>(descriptor));
  });
}

TEST(LogitsOperation, PassesWhatIsNotCorrupted) {
  for (const char* more : {"", " outside=clean", " outside=untouched", " specials=300",
                           " out_stride=111 misalign=3", " launch=graph replays=2"}) {
    for (const auto& [line, kernel] :
         {std::pair{kRagged, "mqa.tiles"}, {kPaged, "mqa.paged_tiles"}}) {
      const props::Outcome outcome = run_unchanged(with(line, more), kernel);
      EXPECT_EQ(Verdict::kPassed, outcome.verdict) << props::report_text(outcome);
      EXPECT_GT(outcome.elements, 0);
    }
  }
}

TEST(LogitsOperation, FailsOneLogitThatIsOneUnitInTheLastPlaceOff) {
  const props::Outcome outcome = ragged("", [](const exactk_mqa_logits& d) {
    float& logit = d.logits[d.out_stride_elems + 42];
    logit = std::nextafterf(logit, std::numeric_limits<float>::infinity());
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("1 of 3 rows, the first is 1; 1 logits are wrong", outcome.reason);
  EXPECT_EQ("contract of every bit", outcome.broke);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kWrongValue));
  const std::string report = props::report_text(outcome);
  EXPECT_NE(std::string::npos, report.find("row 1    columns 10 to 80 of 100")) << report;
  EXPECT_NE(std::string::npos, report.find("  column 42     BAD  got ")) << report;
}

TEST(LogitsOperation, FailsALogitBeyondItsBound) {
  const props::Outcome outcome =
      ragged(" numbers=uniform", [](const exactk_mqa_logits& d) { d.logits[42] *= 1.0001f; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("contract of the bound", outcome.broke);
  EXPECT_NE(std::string::npos, outcome.anatomy.find(" +- ")) << outcome.anatomy;
}

TEST(LogitsOperation, TakesALogitWithinItsBound) {
  const props::Outcome outcome = ragged(" numbers=uniform", [](const exactk_mqa_logits& d) {
    d.logits[42] = std::nextafterf(d.logits[42], 0);
  });
  // Launch by launch it holds; the launches that are compared with each other are not corrupted.
  EXPECT_TRUE(outcome.faults.has(FaultKind::kUnstable) || outcome.verdict == Verdict::kPassed)
      << outcome.reason;
  EXPECT_FALSE(outcome.faults.has(FaultKind::kWrongValue)) << outcome.reason;
}

TEST(LogitsOperation, TellsAFactor) {
  const props::Outcome outcome = paged("", [](const exactk_mqa_logits_paged& d) {
    for (int column = 0; column < 69; ++column) d.logits[column] *= 2;
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("logits are ")) << outcome.reason;
}

TEST(LogitsOperation, TellsNan) {
  const props::Outcome outcome = paged("", [](const exactk_mqa_logits_paged& d) {
    d.logits[5] = std::numeric_limits<float>::quiet_NaN();
  });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("1 logits are NaN")) << outcome.reason;
}

TEST(LogitsOperation, FailsAFutureColumnThatMustStayUntouched) {
  const auto future = [](const exactk_mqa_logits_paged& d) { d.logits[69] = 1; };
  const props::Outcome outcome = paged(" outside=untouched", future);
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kGuardBroken));
  EXPECT_NE(std::string::npos, outcome.reason.find("columns that must stay untouched"))
      << outcome.reason;
  EXPECT_NE(std::string::npos, outcome.anatomy.find("request 0, draft 0: columns 0 to 69"))
      << outcome.anatomy;
  EXPECT_EQ(Verdict::kPassed, paged("", future).verdict);  // unclean: anything may stand there
}

TEST(LogitsOperation, FailsAColumnThatIsNotClean) {
  const props::Outcome outcome =
      paged(" outside=clean", [](const exactk_mqa_logits_paged& d) { d.logits[69] = 0; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_TRUE(outcome.faults.has(FaultKind::kSentinelMissing)) << outcome.reason;
}

TEST(LogitsOperation, FailsAStoreIntoAnEmptyRow) {
  const std::string empty = " lens=list:0:40";
  const auto store = [](const exactk_mqa_logits_paged& d) { d.logits[0] = 1; };
  EXPECT_EQ(Verdict::kFailed, paged(empty, store).verdict);
  EXPECT_EQ(Verdict::kPassed, run_unchanged(with(kPaged, empty), "mqa.paged_tiles").verdict);
}

TEST(LogitsOperation, FailsAStoreIntoTheGapBetweenRows) {
  const props::Outcome outcome =
      ragged(" out_stride=104", [](const exactk_mqa_logits& d) { d.logits[d.width] = 1; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find("elements between rows were written"))
      << outcome.reason;
}

TEST(LogitsOperation, FailsAChangedKey) {
  const props::Outcome outcome =
      ragged("", [](const exactk_mqa_logits& d) { const_cast<uint8_t*>(d.keys)[0] ^= 1; });
  ASSERT_EQ(Verdict::kFailed, outcome.verdict);
  EXPECT_EQ("the keys, an input, were changed by the launch", outcome.reason);
}

TEST(LogitsOperation, CallsACaseOfEmptyRowsWeak) {
  EXPECT_EQ(Verdict::kWeak, run_unchanged("logits.mqa lens=const:0", "mqa.tiles").verdict);
}

TEST(LogitsOperation, SkipsAKernelOfTheOtherOperation) {
  EXPECT_EQ(Verdict::kSkipped, run_unchanged(kRagged, "mqa.paged_tiles").verdict);
}

// What a kernel that declares to take no NaN is not given.
TEST(LogitsOperation, KnowsWhetherALogitIsNan) {
  for (const auto& [more, nan] : {std::pair{"", false}, {" specials=300", true}}) {
    const auto c = *fixtures::parse_case(with(kRagged, more));
    const props::LogitsOperation operation(c, props::select_kernels("host", "mqa.tiles")->front());
    EXPECT_EQ(nan, operation.holds_nan(*operation.make_inputs(0, props::LogitsFrom::kHost)));
  }
}

// The comparators of public tests: what they see, and what they miss.
TEST(LogitsOperation, LooseComparatorsSeeAFactorAndMissOneWrongColumn) {
  const auto c = *fixtures::parse_case(kRagged);
  const props::LogitsOperation operation(c, props::select_kernels("host", "mqa.tiles")->front());
  const auto inputs = operation.make_inputs(0, props::LogitsFrom::kHost);
  const auto& in = static_cast<const props::LogitsStep&>(*inputs).in;
  const props::LogitsProblem problem = props::logits_problem(c);
  const std::vector<props::Bytes> before(props::kLogitsTensors);
  const auto loosely = [&](props::Judge judge, double factor, float added_to_one) {
    std::vector<float> logits(300, 0);
    for (int64_t row = 0; row < 3; ++row) {
      const auto expected = props::expected_logits(problem, in, row);
      for (size_t column = 10; column < 80; ++column) {
        logits[static_cast<size_t>(row) * 100 + column] =
            static_cast<float>(expected[column].value * factor);
      }
    }
    logits[142] += added_to_one;
    std::vector<props::Bytes> after(props::kLogitsTensors);
    const auto bytes = std::as_bytes(std::span(logits));
    after[props::kMqaLogits].assign(bytes.begin(), bytes.end());
    const auto call = operation.call(0);
    const props::Launched launched{0, 0, inputs, false, inputs, after, before, {}, *call};
    return operation.loosely_right(judge, launched, {});
  };
  for (const props::Judge judge :
       {props::Judge::kSetThenValues, props::Judge::kOverlap, props::Judge::kSortedValues}) {
    EXPECT_TRUE(loosely(judge, 1, 0)) << props::name(judge);
    EXPECT_FALSE(loosely(judge, 2, 0)) << props::name(judge);
    EXPECT_TRUE(loosely(judge, 1, 0.25f)) << props::name(judge);
  }
}

}  // namespace
}  // namespace exactk::tests
