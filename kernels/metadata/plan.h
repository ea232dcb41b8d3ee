// The work plan of sparse MLA attention: how the kv ranges of all rows are dealt to workers. The
// arrays are those of AITER's get_mla_metadata_v1; oracle/work_plan.h judges them by their rules.
//
// All rows lie on one line, in units of 16 kv positions: row t takes max(ceil(length / 16), 1)
// units, so an empty row has a work as well and its output is written. Of `workers` run
// max(workers / ceil(heads / 16), 1), and worker w takes the units [w * P, (w + 1) * P) with
// P = max(ceil(all units / running workers), 1). A row that several workers share has a partial
// place for each of its works; places are numbered by row, then by kv position.
//
// Two forms, equal byte for byte: plan_serially() walks the line on the host, the kernel of
// MetadataFunctions works out every row by itself. Both leave as it was: work_info and
// reduce_partial_map behind what the plan has, reduce_final_map behind the rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/shipped.h"

namespace exactk::kernels::metadata {

inline constexpr int64_t kUnit = 16;         // kv positions
inline constexpr int64_t kHeadsAtOnce = 16;  // heads that one worker has at a time
inline constexpr int64_t kWorkColumns = 8;

struct PlanShape {
  int64_t rows = 0;      // of the step, >= 0; row t has the query [t, t + 1)
  int64_t rows_max = 0;  // that the arrays have room for, >= rows
  int64_t workers = 0;   // that work_indptr has room for, >= 1
  int64_t heads = 0;     // >= 1
};

// Device or host pointers; the counts of elements are those of PlanSizes.
struct PlanArrays {
  int32_t* work_indptr = nullptr;         // behind the running workers: the number of works
  int32_t* work_info = nullptr;           // [works, 8]: batch, partial place or -1, q_start, q_end,
                                          // kv_start, kv_end, kv_offset, 0
  int32_t* reduce_indptr = nullptr;       // behind the rows: the number of partial places
  int32_t* reduce_final_map = nullptr;    // [rows, 2]
  int32_t* reduce_partial_map = nullptr;  // [partial places]
};

// Whatever the lengths: every boundary between two workers adds at most one work, and cuts one row.
struct PlanSizes {
  int64_t work_indptr, work_info, reduce_indptr, reduce_final_map, reduce_partial_map;
};
inline PlanSizes plan_sizes(int64_t rows_max, int64_t workers) {
  return {workers + 1, (rows_max + workers - 1) * kWorkColumns, rows_max + 1, 2 * rows_max,
          2 * (workers - 1)};
}

inline int64_t running_workers(const PlanShape& shape) {
  const int64_t running = shape.workers / ((shape.heads + kHeadsAtOnce - 1) / kHeadsAtOnce);
  return running > 1 ? running : 1;
}

// One sentence if there is no such plan, else empty.
inline std::string problem_of(const PlanShape& shape) {
  if (shape.rows < 0 || shape.rows > shape.rows_max)
    return "a plan of " + std::to_string(shape.rows) + " rows does not fit arrays for " +
           std::to_string(shape.rows_max);
  if (shape.workers < 1 || shape.heads < 1)
    return "a plan needs at least one worker and one head; got " + std::to_string(shape.workers) +
           " and " + std::to_string(shape.heads);
  return "";
}

// On the host. `kv_indptr` [rows + 1], from 0 on and never falling; host pointers.
std::string plan_serially(const PlanShape& shape, std::span<const int32_t> kv_indptr,
                          const PlanArrays& plan);

// Enqueues the planner on a stream of the device kind that it was built for; device pointers.
// Empty, or one sentence that says why nothing was launched.
using PlanFunction = std::string (*)(const PlanShape& shape, const int32_t* kv_indptr,
                                     const PlanArrays& plan, void* stream);

struct PlantedPlanner {
  std::string_view name;
  PlanFunction plan;
};

// What a device kind has of the metadata.
struct MetadataFunctions {
  PlanFunction plan = nullptr;
  std::span<const PlantedPlanner> planted;  // with one fault each; never part of a shipped builder
};

EXACTK_SHIPPED PlanFunction parallel_planner();

}  // namespace exactk::kernels::metadata
