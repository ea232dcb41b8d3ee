#include "kernels/device/portable.h"

#include "kernels/mutants/plan_mutants.h"

#include "kernels/metadata/parallel_plan.h"

namespace exactk::kernels::planted {
namespace {

using metadata::ShippedPlan;

// F09: an empty row takes no unit, so it has no work and its output is not written.
struct EmptyRowSkipped : ShippedPlan {
  __device__ static uint32_t units(uint32_t length) {
    return (length + metadata::kUnit - 1) / metadata::kUnit;
  }
  __device__ static uint32_t works(uint32_t begin, uint32_t units, uint32_t share) {
    return units == 0 ? 0 : ShippedPlan::works(begin, units, share);
  }
};

// F10: what reduce_indptr has behind the rows is left from a longer step.
struct ReduceTailKept : ShippedPlan {
  __device__ static int64_t reduce_end(const metadata::PlanJob&) { return 0; }
};

// F11: nobody waits until the sums of the waves were read before the next ones are written.
struct SumNotAwaited : ShippedPlan {
  __device__ static index::BlockSum sum(uint32_t* waves, uint32_t value) {
    return index::sum_and_read(waves, value, warpSize);
  }
};

// F19: all workers are dealt works, also where a worker has several turns for its heads.
struct HeadsNotCounted : ShippedPlan {
  static int64_t running(const metadata::PlanShape& shape) { return shape.workers; }
};

// F22: the running sum is taken for the length of the row.
struct LengthOfSum : ShippedPlan {
  __device__ static uint32_t length(const int32_t* kv_indptr, int64_t row) {
    return static_cast<uint32_t>(kv_indptr[row + 1]);
  }
};

// F26: the partial places of every row begin at 0.
struct PlacesOfRow : ShippedPlan {
  __device__ static uint32_t partial_place(const metadata::PlanRow&, uint32_t i) { return i; }
};

}  // namespace

std::span<const metadata::PlantedPlanner> planners() {
  static constexpr metadata::PlantedPlanner kPlanners[] = {
      {"empty_row_skipped", &metadata::enqueue_plan<EmptyRowSkipped>},
      {"reduce_tail_kept", &metadata::enqueue_plan<ReduceTailKept>},
      {"sum_not_awaited", &metadata::enqueue_plan<SumNotAwaited>},
      {"heads_not_counted", &metadata::enqueue_plan<HeadsNotCounted>},
      {"length_of_sum", &metadata::enqueue_plan<LengthOfSum>},
      {"places_of_row", &metadata::enqueue_plan<PlacesOfRow>},
  };
  return kPlanners;
}

}  // namespace exactk::kernels::planted
