// The judge of work plans on a plan that was derived by hand, and each of its fault kinds by the
// smallest change that is one.
#include "oracle/work_plan.h"

#include <gtest/gtest.h>

namespace exactk::oracle {
namespace {

using Ints = std::vector<int32_t>;

// Four tokens with 40, 0, 17 and 16 keys, three workers, blocks of 16. In blocks 3, 1 (the empty
// row has to be written, too), 2 and 1: 7 in all, so a worker takes 3. Worker 0 has row 0; worker 1
// the empty row and row 2; worker 2 row 3. Nothing is split. To have a split, row 2 is cut behind
// its first block: worker 1 ends there, worker 2 has the rest.
struct Plan {
  Ints qo_indptr{0, 1, 2, 3, 4};
  Ints kv_indptr{0, 40, 40, 57, 73};
  Ints work_indptr{0, 1, 3, 5};
  Ints work_info{
      0, -1, 0, 1, 0,  40, 0, 0,  //
      1, -1, 1, 2, 40, 40, 0, 0,  //
      2, 0,  2, 3, 40, 56, 1, 0,  //
      2, 1,  2, 3, 56, 57, 0, 0,  //
      3, -1, 3, 4, 57, 73, 0, 0,  //
  };
  Ints reduce_indptr{0, 0, 0, 2, 2};
  Ints reduce_final_map{-7, -7, -7, -7, 2, 3, -7, -7};  // only that of the split tile is looked at
  Ints reduce_partial_map{0, 1};
  int64_t workers = 0;
  int64_t partials_max = 2;
  int64_t tile_rows = 1;

  WorkPlanInput input() const {
    return {.qo_indptr = qo_indptr,
            .kv_indptr = kv_indptr,
            .granularity = 16,
            .tile_rows = tile_rows,
            .workers = workers,
            .partials_max = partials_max};
  }
  WorkPlanView view() const {
    return {work_indptr, work_info, reduce_indptr, reduce_final_map, reduce_partial_map};
  }
  int32_t& field(size_t work, size_t column) { return work_info[work * 8 + column]; }
  WorkPlanJudgement judge() const { return judge_work_plan(input(), view()); }
  bool means_the_same() const {
    const auto keys = [](int64_t row, int64_t position) {
      return PlanKey{static_cast<int32_t>((row + position * 5) % 9),
                     static_cast<int32_t>(position * position + 1)};
    };
    return attend_by_plan(input(), view(), keys) == attend_directly(input(), keys);
  }
};

std::string kinds(const WorkPlanJudgement& judged) {
  std::string text;
  for (const PlanProblem& problem : judged.problems) {
    text += std::string(name(problem.kind)) + "; ";
    EXPECT_FALSE(problem.what.empty());
  }
  return text;
}

TEST(WorkPlan, TheOneDerivedByHandIsRight) {
  const WorkPlanJudgement judged = Plan().judge();
  EXPECT_EQ("", judged.invalid);
  EXPECT_EQ("", kinds(judged));
  EXPECT_TRUE(judged.ok());
  EXPECT_EQ(5, judged.works);
  EXPECT_EQ(4, judged.tiles);
  EXPECT_EQ(1, judged.split_tiles);
  EXPECT_EQ(1, judged.empty_tiles);
  EXPECT_TRUE(Plan().means_the_same());
}

TEST(WorkPlan, PartialSoftmaxesAddUpToWhatIsWorkedOutByHand) {
  Plan plan;
  plan.kv_indptr = {0, 0, 0, 17, 17};
  plan.work_info = {0, -1, 0, 1, 0, 0, 0, 0, 1,  -1, 1, 2, 0, 0,  0, 0, 2,  0,  2, 3,
                    0, 16, 1, 0, 2, 1, 2, 3, 16, 17, 0, 0, 3, -1, 3, 4, 17, 17, 0, 0};
  // Sixteen keys of weight 1 and value 0, one of weight 1/4 and value 65: 65/4 / (16 + 1/4) = 1.
  const auto keys = [](int64_t, int64_t position) {
    return position < 16 ? PlanKey{0, 0} : PlanKey{2, 65};
  };
  EXPECT_EQ("", kinds(plan.judge()));
  const std::vector<PlanOutput> want{{1, 0}, {1, 0}, {1, 1}, {1, 0}};
  EXPECT_EQ(want, attend_by_plan(plan.input(), plan.view(), keys));
  EXPECT_EQ(want, attend_directly(plan.input(), keys));
}

struct Change {
  std::string want;  // the fault kinds
  std::function<void(Plan&)> make;
  bool same_meaning = false;  // the result would be right all the same
};

TEST(WorkPlan, EachFaultIsNamedAndMostChangeTheResult) {
  const std::vector<Change> changes{
      {"work indptr; ", [](Plan& p) { p.work_indptr[0] = 1; }, true},
      {"work indptr; ", [](Plan& p) { p.work_indptr[1] = 4; }, true},
      {"work indptr; ", [](Plan& p) { p.work_indptr[3] = 6; }, true},
      {"works of an idle worker; ", [](Plan& p) { p.workers = 2; }},
      {"batch; no work; ", [](Plan& p) { p.field(4, 0) = 4; }, true},
      {"batch; no work; ", [](Plan& p) { p.field(4, 0) = -1; }, true},
      {"query range; no work; ", [](Plan& p) { p.field(4, 2) = 2; }},
      {"query range; no work; ", [](Plan& p) { p.field(4, 3) = 5; }, true},
      {"query range; no work; ", [](Plan& p) { p.field(4, 0) = 0; }, true},
      {"kv range; no work; ", [](Plan& p) { p.field(4, 5) = 74; }},
      {"kv range; no work; ", [](Plan& p) { p.field(4, 4) = 56; }},
      {"kv range; no work; ", [](Plan& p) { std::swap(p.field(4, 4), p.field(4, 5)); }},
      {"kv offset; ", [](Plan& p) { p.field(2, 6) = 0; }, true},
      {"no work; ", [](Plan& p) { p.work_indptr[3] = 4; }},
      {"gap; ", [](Plan& p) { p.field(0, 4) = 16; }},
      {"kv offset; gap; ", [](Plan& p) { p.field(0, 5) = 32; }},
      {"overlap; ", [](Plan& p) { p.field(3, 4) = 40; }},
      {"split off granularity; split off granularity; ",
       [](Plan& p) {
         p.field(2, 5) = p.field(3, 4) = 50;
         p.field(2, 6) = 7;
       },
       true},
      {"partial slot unwanted; ", [](Plan& p) { p.field(0, 1) = 0; }},
      {"partial slot missing; reduce partial map; ", [](Plan& p) { p.field(2, 1) = -1; }},
      {"partial slot out of range; ", [](Plan& p) { p.field(3, 1) = p.reduce_partial_map[1] = 2; },
       true},
      {"partial slot out of range; ",
       [](Plan& p) { p.field(3, 1) = p.reduce_partial_map[1] = -2; }},
      {"partial slot shared; ", [](Plan& p) { p.field(3, 1) = p.reduce_partial_map[1] = 0; }},
      {"reduce indptr; ", [](Plan& p) { p.reduce_indptr[4] = 3; }, true},
      {"reduce indptr; reduce indptr; ", [](Plan& p) { p.reduce_indptr[2] = 2; }},
      {"reduce indptr; reduce indptr; ", [](Plan& p) { p.reduce_indptr[0] = 1; }, true},
      {"reduce indptr; ", [](Plan& p) { p.reduce_indptr.push_back(0); }, true},
      {"reduce partial map; ", [](Plan& p) { p.reduce_partial_map[1] = 0; }},
      {"reduce partial map; ",
       [](Plan& p) { std::swap(p.reduce_partial_map[0], p.reduce_partial_map[1]); }, true},
      {"reduce partial map; ", [](Plan& p) { p.reduce_partial_map.pop_back(); }},
      {"reduce final map; ", [](Plan& p) { p.reduce_final_map[4] = 1; }},
      {"reduce final map; ", [](Plan& p) { p.reduce_final_map[5] = 2; }},
  };
  for (const Change& change : changes) {
    Plan plan;
    change.make(plan);
    const WorkPlanJudgement judged = plan.judge();
    EXPECT_EQ("", judged.invalid);
    EXPECT_EQ(change.want, kinds(judged));
    EXPECT_FALSE(judged.ok());
    EXPECT_EQ(change.same_meaning, plan.means_the_same()) << change.want;
  }
}

TEST(WorkPlan, AnEmptyRowNeedsItsOneWork) {
  Plan none;
  none.work_info.erase(none.work_info.begin() + 8, none.work_info.begin() + 16);
  none.work_indptr = {0, 1, 2, 4};
  EXPECT_EQ("no work; ", kinds(none.judge()));
  EXPECT_FALSE(none.means_the_same()) << "the row is never written";
  Plan twice;
  const Ints empty(twice.work_info.begin() + 8, twice.work_info.begin() + 16);
  twice.work_info.insert(twice.work_info.begin() + 16, empty.begin(), empty.end());
  twice.work_indptr = {0, 1, 4, 6};
  EXPECT_TRUE(twice.judge().has(PlanFault::kOverlap));
  EXPECT_FALSE(twice.means_the_same()) << "the row is written twice";
}

TEST(WorkPlan, PlacesOfTilesMayNotOverlapInPart) {
  // One batch of 3 rows in tiles of 2, each tile cut in two.
  Plan plan;
  plan.tile_rows = 2;
  plan.partials_max = 8;
  plan.qo_indptr = {0, 3};
  plan.kv_indptr = {0, 32};
  plan.work_indptr = {0, 2, 4};
  plan.work_info = {0, 0, 0, 2, 0,  16, 16, 0, 0, 4, 2, 3, 0,  16, 16, 0,
                    0, 2, 0, 2, 16, 32, 0,  0, 0, 6, 2, 3, 16, 32, 0,  0};
  plan.reduce_indptr = {0, 2, 4};
  plan.reduce_final_map = {0, 2, 2, 3};
  plan.reduce_partial_map = {0, 2, 4, 6};
  EXPECT_EQ("", kinds(plan.judge()));
  EXPECT_TRUE(plan.means_the_same());
  plan.field(2, 1) = plan.reduce_partial_map[1] = 1;
  EXPECT_EQ("partial slot shared; ", kinds(plan.judge()));
  EXPECT_FALSE(plan.means_the_same());
  plan.field(2, 1) = plan.reduce_partial_map[1] = 7;
  EXPECT_EQ("partial slot out of range; ", kinds(plan.judge())) << "its second row is not there";
}

TEST(WorkPlan, AWorkMayBeOfAnyWorkerInAnyOrder) {
  Plan plan;
  for (size_t column = 0; column < 8; ++column) {
    std::swap(plan.field(0, column), plan.field(4, column));
    std::swap(plan.field(2, column), plan.field(3, column));
  }
  EXPECT_EQ("", kinds(plan.judge()));
  EXPECT_TRUE(plan.means_the_same());
}

TEST(WorkPlan, CountsWhatTheTwoWaysWalkOver) {
  Plan plan;
  EXPECT_EQ(40 + 17 + 16, pairs_directly(plan.input()));
  EXPECT_EQ(40 + 16 + 1 + 16 + 2, pairs_by_plan(plan.input(), plan.view()));
  plan.field(0, 3) = 4;  // the first work is of all rows
  EXPECT_EQ(4 * 40 + 16 + 1 + 16 + 2, pairs_by_plan(plan.input(), plan.view()));
  plan.reduce_final_map[4] = 0;  // and so is the reduction
  EXPECT_EQ(4 * 40 + 16 + 1 + 16 + 3 * 2, pairs_by_plan(plan.input(), plan.view()));
  plan.kv_indptr = {0, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
  plan.qo_indptr = {0, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
  EXPECT_EQ(int64_t{INT32_MAX} * INT32_MAX, pairs_directly(plan.input()));
}

TEST(WorkPlan, NoTokensNeedNoWorks) {
  Plan plan;
  plan.qo_indptr = plan.kv_indptr = {0};
  plan.work_info.clear();
  plan.work_indptr = {0, 0, 0};
  plan.reduce_indptr = {0};
  EXPECT_TRUE(plan.judge().ok());
  EXPECT_EQ(0, plan.judge().tiles);
}

TEST(WorkPlan, SaysWhatCannotBeJudged) {
  const std::vector<std::pair<std::string, std::function<void(Plan&)>>> changes{
      {"kv_indptr falls from 40 to 39", [](Plan& p) { p.kv_indptr[2] = 39; }},
      {"qo_indptr must have a first element of 0", [](Plan& p) { p.qo_indptr[0] = 1; }},
      {"5 and 4", [](Plan& p) { p.kv_indptr.pop_back(); }},
      {"at least 1; got 16 and 0", [](Plan& p) { p.tile_rows = 0; }},
      {"work_indptr needs 5 elements; got 4", [](Plan& p) { p.workers = 4; }},
      {"rows of 8; got 39", [](Plan& p) { p.work_info.pop_back(); }},
      {"got 4 and 8", [](Plan& p) { p.reduce_indptr.pop_back(); }},
      {"got 5 and 7", [](Plan& p) { p.reduce_final_map.pop_back(); }},
  };
  for (const auto& [want, make] : changes) {
    Plan plan;
    make(plan);
    const WorkPlanJudgement judged = plan.judge();
    EXPECT_NE(std::string::npos, judged.invalid.find(want)) << judged.invalid;
    EXPECT_FALSE(judged.ok());
  }
}

TEST(WorkPlan, CountsAllProblemsAndKeepsTheFirst) {
  Plan plan;
  plan.qo_indptr.resize(1);
  for (int32_t i = 1; i <= 200; ++i) plan.qo_indptr.push_back(i);
  plan.kv_indptr.assign(201, 0);
  plan.work_indptr = {0, 0};
  plan.reduce_indptr.assign(201, 0);
  plan.reduce_final_map.assign(400, 0);
  const WorkPlanJudgement judged = plan.judge();
  EXPECT_EQ(200, judged.problem_count);
  EXPECT_EQ(kPlanProblemsMax, std::ssize(judged.problems));
}

}  // namespace
}  // namespace exactk::oracle
