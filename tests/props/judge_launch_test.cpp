#include "props/judge_launch.h"

#include <gtest/gtest.h>

#include "fixtures/case.h"
#include "fixtures/checksum.h"
#include "fixtures/materialize.h"
#include "oracle/topk.h"
#include "props/internal_error.h"

namespace exactk::tests {
namespace {

struct Judged {
  props::TopkProblem problem;
  props::TopkInputs inputs;
  std::vector<int32_t> before;
  std::vector<int32_t> output;  // starts as the right answer

  explicit Judged(const std::string& line)
      : problem(props::topk_problem(*fixtures::parse_case(line))),
        inputs(props::make_topk_inputs(problem, 0)) {
    const fixtures::Case& c = problem.c;
    before.resize(static_cast<size_t>(fixtures::output_elems(c)));
    fixtures::output_poison(c, 0, 0, before);
    output = before;
    std::vector<uint32_t> scratch;
    for (int64_t row = 0; row < c.rows; ++row) {
      const std::vector<int32_t> answer =
          oracle::topk_reference(props::visible_row(problem, inputs, row, scratch), c.k);
      std::copy(answer.begin(), answer.end(), output.begin() + row * fixtures::out_stride_elems(c));
    }
  }

  props::LaunchJudgement judge() const {
    return props::judge_launch(problem, inputs, output, before, oracle::kSet | oracle::kPrefix);
  }
};

TEST(JudgeLaunch, AcceptsTheRightAnswerAndCountsItsRows) {
  const Judged judged("topk.decode rows=4 width=64 k=16 lens=list:0:5:16:40");
  const props::LaunchJudgement result = judged.judge();
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(4, result.rows);
  EXPECT_EQ(3, result.rows_selected);
  EXPECT_EQ(1, result.rows_cut);
}

TEST(JudgeLaunch, FindsTheOneBadRowOfABigLaunchThatSeveralThreadsJudge) {
  Judged judged("topk.decode rows=600 width=4096 k=4 lens=const:4096 pattern=uniform");
  judged.output[599 * 4 + 3] = judged.output[599 * 4 + 2];
  const props::LaunchJudgement result = judged.judge();
  EXPECT_EQ(600, result.rows);
  ASSERT_EQ(1, result.failing_rows);
  EXPECT_EQ(599, result.failures[0].row);
  EXPECT_TRUE(result.faults.has(oracle::FaultKind::kDuplicate));
}

TEST(JudgeLaunch, ReadsLogitsThroughTheColumnStride) {
  Judged judged("topk.decode rows=2 width=64 k=8 column_stride=3 lens=const:64");
  EXPECT_TRUE(judged.judge().ok());
  // A selected column becomes the worst of all, -NaN.
  judged.inputs.logits[static_cast<size_t>(judged.output[0]) * 3] = 0xffffffffu;
  EXPECT_FALSE(judged.judge().ok());
}

TEST(JudgeLaunch, GivesNoVerdictOnRowsThatTheDeviceHadOtherLogitsFor) {
  Judged judged("topk.decode rows=3 width=64 k=8 lens=list:64:10:0");
  judged.inputs.logits.clear();  // as on a GPU: rows are made again
  std::vector<uint64_t> sums;
  std::vector<uint32_t> row(64);
  for (int64_t r = 0; r < 3; ++r) {
    fixtures::logits_row(judged.problem.c, 0, r, judged.inputs.windows[static_cast<size_t>(r)],
                         row);
    sums.push_back(fixtures::checksum(row.data(), 64));
  }
  const auto judge = [&] {
    return props::judge_launch(judged.problem, judged.inputs, judged.output, judged.before,
                               oracle::kSet | oracle::kPrefix, sums);
  };
  EXPECT_TRUE(judge().ok());
  for (uint64_t& sum : sums) {
    sum ^= 1;
    EXPECT_THROW(judge(), props::InternalError);
    sum ^= 1;
  }
}

TEST(JudgeLaunch, TakesAbsoluteIndicesOnlyWhereTheyArePromised) {
  const char* const line = "topk.prefill rows=2 width=64 k=4 lens=const:20 starts=const:10";
  Judged judged(line);
  EXPECT_TRUE(judged.judge().ok());
  judged.problem.absolute = true;
  EXPECT_FALSE(judged.judge().ok()) << "relative indices are not columns of the row";
  for (int32_t& index : judged.output) index += 10;
  EXPECT_TRUE(judged.judge().ok());
  judged.problem.absolute = false;
  EXPECT_FALSE(judged.judge().ok()) << "columns are not relative indices";
}

TEST(JudgeLaunch, RefusesAColumnInFrontOfTheRow) {
  Judged judged("topk.prefill rows=1 width=64 k=4 lens=const:20 starts=const:10");
  judged.problem.absolute = true;
  for (int32_t& index : judged.output) index += 10;
  judged.output[2] = 9;
  const props::LaunchJudgement result = judged.judge();
  EXPECT_TRUE(result.faults.has(oracle::FaultKind::kOutOfRange));
}

TEST(JudgeLaunch, RefusesAChangedSlotBetweenRows) {
  Judged judged("topk.decode rows=2 width=64 k=8 out_stride=10 lens=const:64");
  EXPECT_TRUE(judged.judge().ok());
  judged.output[9] += 1;
  const props::LaunchJudgement result = judged.judge();
  EXPECT_EQ(1, result.gap_slots_changed);
  EXPECT_TRUE(result.faults.has(oracle::FaultKind::kGuardBroken));
}

}  // namespace
}  // namespace exactk::tests
