#include "props/cli/check_plan.h"

#include <fmt/format.h>

#include <array>

#include "props/build_info.h"
#include "props/cli/common.h"
#include "props/internal_error.h"

namespace exactk::props::cli {
namespace {

struct PlanFile {
  const char* option;
  std::filesystem::path RecordedPlanFiles::*path;
  const char* what;
};
constexpr std::array kFiles{
    PlanFile{"--qo-indptr", &RecordedPlanFiles::qo_indptr, "plan: int32, [batches + 1]"},
    PlanFile{"--kv-indptr", &RecordedPlanFiles::kv_indptr, "plan: int32, [batches + 1]"},
    PlanFile{"--work-indptr", &RecordedPlanFiles::work_indptr, "plan: int32, [workers + 1]"},
    PlanFile{"--work-info", &RecordedPlanFiles::work_info, "plan: int32, [works, 8]"},
    PlanFile{"--reduce-indptr", &RecordedPlanFiles::reduce_indptr, "plan: int32, [tiles + 1]"},
    PlanFile{"--reduce-final-map", &RecordedPlanFiles::reduce_final_map, "plan: int32, [tiles, 2]"},
    PlanFile{"--reduce-partial-map", &RecordedPlanFiles::reduce_partial_map,
             "plan: int32, [partials]"},
};

}  // namespace

void add_plan_options(CLI::App& command, RecordedPlanFiles& files) {
  for (const PlanFile& file : kFiles) command.add_option(file.option, files.*file.path, file.what);
  const auto count = [&](const char* option, int64_t& value, int64_t least, const char* what) {
    command.add_option(option, value, what)
        ->check(CLI::Range(least, int64_t{INT32_MAX}).description(""))
        ->capture_default_str();
  };
  count("--granularity", files.granularity, 1, "plan: splits are at multiples of it");
  count("--tile-rows", files.tile_rows, 1, "plan: query rows of a tile");
  count("--workers", files.workers, 0, "plan: workers that run; 0: all of work_indptr");
  count("--partials", files.partials_max, 0, "plan: places for partial results; 0: no limit");
}

bool any_plan_file(const RecordedPlanFiles& files) {
  for (const PlanFile& file : kFiles) {
    if (!(files.*file.path).empty()) return true;
  }
  return false;
}

int check_plan(const RecordedPlanFiles& files) {
  for (const PlanFile& file : kFiles) {
    if ((files.*file.path).empty())
      return complain(kUsage, fmt::format("mla.plan takes {}, {}", file.option, file.what));
  }
  const auto found = judge_recorded_plan(files);
  if (!found) return complain(kUsage, found.error());
  const oracle::WorkPlanJudgement& judged = found->judged;
  // The invariants are meant to be enough: a plan that keeps them computes the right thing.
  if (judged.ok() && found->wrong_rows > 0)
    throw InternalError(fmt::format(
        "the plan keeps every invariant, and {} rows come out wrong by it", found->wrong_rows));
  fmt::print("{:<7} mla.plan  recorded\n", judged.ok() ? "PASSED" : "FAILED");
  fmt::print("shape   {} rows in {} tiles, {} of them split and {} empty, {} works\n", found->rows,
             judged.tiles, judged.split_tiles, judged.empty_tiles, judged.works);
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < judged.problems.size() && i < kShown; ++i)
    fmt::print("  BAD   {}: {}\n", name(judged.problems[i].kind), judged.problems[i].what);
  if (!judged.ok())
    fmt::print("why     {} faults; a softmax by this plan is wrong in {} of {} rows\n",
               judged.problem_count, found->wrong_rows, found->rows);
  fmt::print("built   commit {}, {}\n", build_commit(), build_compiler());
  fmt::print("rows passed {}, failed {}\n", found->rows - found->wrong_rows, found->wrong_rows);
  if (!judged.ok()) return kKernelFailed;
  if (found->rows == 0) return complain(kNothingJudged, "nothing was judged: there are no rows");
  return kAllPassed;
}

}  // namespace exactk::props::cli
