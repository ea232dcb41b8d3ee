// Judges a recorded work plan of sparse MLA attention: files, with no kernel and no device.
//
// What it does not check: that the plan was made for the step that reads it, beyond what the two
// indptr files of that step say, and what oracle/work_plan.h lists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fixtures/case.h"
#include "oracle/work_plan.h"

namespace exactk::props {

// All int32. Arrays of more than one dimension are read as their elements in a row.
struct RecordedPlanFiles {
  std::filesystem::path qo_indptr, kv_indptr;  // [batches + 1]
  std::filesystem::path work_indptr;           // [workers + 1]
  std::filesystem::path work_info;             // [works, 8]
  std::filesystem::path reduce_indptr;         // [tiles + 1]
  std::filesystem::path reduce_final_map;      // [tiles, 2]
  std::filesystem::path reduce_partial_map;    // [partials]
  int64_t granularity = 16;
  int64_t tile_rows = 1;
  int64_t workers = 0;       // that run; 0: all of work_indptr
  int64_t partials_max = 0;  // 0: not limited
};

struct RecordedPlanFindings {
  oracle::WorkPlanJudgement judged;
  int64_t rows = 0;
  int64_t wrong_rows = 0;  // whose result by the plan is not the direct one, or not written once
};

// The error is one sentence: a file that cannot be read, or arrays that do not fit each other.
fixtures::Result<RecordedPlanFindings> judge_recorded_plan(const RecordedPlanFiles& files);

}  // namespace exactk::props
