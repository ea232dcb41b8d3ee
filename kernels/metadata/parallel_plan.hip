#include "kernels/device/portable.h"

#include "kernels/metadata/parallel_plan.h"

namespace exactk::kernels::metadata {

PlanFunction parallel_planner() {
  return &enqueue_plan<ShippedPlan>;
}

}  // namespace exactk::kernels::metadata
