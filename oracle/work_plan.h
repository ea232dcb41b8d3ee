// The judge of a work plan: how the kv ranges of all query tiles are dealt to workers, and which
// partial results are reduced afterwards. Nothing here plans, so any heuristic may be judged.
//
// Source: AITER get_mla_metadata_v1, as vLLM's sparse MLA backend calls it. Batch b has the query
// rows [qo_indptr[b], qo_indptr[b + 1]), cut into tiles of `tile_rows`, and the kv positions
// [kv_indptr[b], kv_indptr[b + 1]). Tiles are numbered over all batches.
//   1 work_indptr starts at 0, never falls, ends with the number of works, within the capacity;
//     every work belongs to a worker that runs
//   2 a work is of one batch: its query range is a tile, its kv range lies in the batch's, and
//     kv_offset is the batch's end minus its own
//   3 the kv ranges of a tile's works partition that of the batch
//   4 they meet at multiples of the granularity from the batch's first position
//   5 a tile with one work writes its output (partial_loc -1) and adds 0 to reduce_indptr. One with
//     m > 1 works has m partial places of tile_rows rows each, which nobody shares; they are listed
//     in kv order, and reduce_indptr grows by m. Nothing else is listed
//   6 reduce_final_map of such a tile is its query range
//   7 a tile without kv positions has exactly one work, which is empty
//
// attend_by_plan and attend_directly judge by meaning: partial softmaxes over the works, reduced as
// the plan says, equal the softmax over the whole range.
//
// What it does not check: whether the load is balanced, work_info behind the works, the eighth
// column of work_info, and reduce_final_map of tiles with one work.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace exactk::oracle {

inline constexpr int64_t kWorkColumns = 8;
// batch, partial_loc, q_start, q_end, kv_start, kv_end, kv_offset; then padding.

struct WorkPlanInput {
  std::span<const int32_t> qo_indptr;  // [batches + 1]
  std::span<const int32_t> kv_indptr;  // [batches + 1]
  int64_t granularity = 16;            // kv positions, >= 1
  int64_t tile_rows = 1;               // >= 1
  int64_t workers = 0;                 // that run; 0: all that work_indptr names
  int64_t partials_max = 0;            // places for partial results; 0: not limited
};

struct WorkPlanView {
  std::span<const int32_t> work_indptr;         // [workers + 1], maybe more
  std::span<const int32_t> work_info;           // [works, 8], maybe more
  std::span<const int32_t> reduce_indptr;       // [tiles + 1], maybe more
  std::span<const int32_t> reduce_final_map;    // [tiles, 2], maybe more
  std::span<const int32_t> reduce_partial_map;  // [partials], maybe more
};

enum class PlanFault : uint8_t {
  kWorkIndptr,       // does not start at 0, falls, or ends beyond the works that there is room for
  kIdleWorker,       // works of a worker that does not run
  kBatch,            // a work of no batch
  kQueryRange,       // not a tile of its batch
  kKvRange,          // outside of its batch, or upside down
  kKvOffset,         // not the batch's end minus its own
  kNoWork,           // a tile that nobody works on
  kGap,              // kv positions that nobody reads
  kOverlap,          // kv positions that are read twice, or an empty tile with several works
  kOffGranularity,   // a split that is not on a multiple of the granularity
  kPartialUnwanted,  // the only work of a tile writes a partial result
  kPartialMissing,   // one of several works of a tile writes the output
  kPartialOutOfRange,  // a place for a partial result that is not there
  kPartialShared,      // one place for two partial results
  kReduceIndptr,       // does not grow by the partial results of its tile
  kReducePartialMap,   // does not list a tile's partial results in kv order
  kReduceFinalMap,     // is not the query range of a split tile
};
inline constexpr int kPlanFaults = 17;
std::string_view name(PlanFault fault);  // "gap", "partial slot shared", ...

struct PlanProblem {
  PlanFault kind{};
  int64_t work = -1;  // -1: not of one work
  int64_t tile = -1;
  std::string what;  // one sentence with the values
};

struct WorkPlanJudgement {
  std::string invalid;                // not empty: the arrays cannot be judged, and nothing was
  std::vector<PlanProblem> problems;  // the first kPlanProblemsMax
  int64_t problem_count = 0;          // all of them
  int64_t works = 0;
  int64_t tiles = 0;
  int64_t split_tiles = 0;
  int64_t empty_tiles = 0;
  bool ok() const { return invalid.empty() && problem_count == 0; }
  bool has(PlanFault kind) const;
};
inline constexpr int kPlanProblemsMax = 64;

WorkPlanJudgement judge_work_plan(const WorkPlanInput& input, const WorkPlanView& plan);

// --- by meaning ---

// Key `position` as query row `row` sees it: weight 2^-score. With scores in [0, 8] and values of
// at most 20 bits, sums over up to 2^20 keys are exact in double, in any order and however split,
// so both ways have to agree to the last bit.
struct PlanKey {
  int32_t score = 0;
  int32_t value = 0;
};
using PlanKeys = std::function<PlanKey(int64_t row, int64_t position)>;

struct PlanOutput {
  int64_t written = 0;  // how often
  double out = 0;       // 0 of no keys
  friend bool operator==(const PlanOutput&, const PlanOutput&) = default;
};

// Per query row. Only workers that run are run. Works, places and rows out of range are left out,
// so a plan that was judged wrong can be run as well.
std::vector<PlanOutput> attend_by_plan(const WorkPlanInput& input, const WorkPlanView& plan,
                                       const PlanKeys& keys);
std::vector<PlanOutput> attend_directly(const WorkPlanInput& input, const PlanKeys& keys);

// What the two walk over: pairs of a query row and a key, or a partial result.
int64_t pairs_by_plan(const WorkPlanInput& input, const WorkPlanView& plan);
int64_t pairs_directly(const WorkPlanInput& input);

}  // namespace exactk::oracle
