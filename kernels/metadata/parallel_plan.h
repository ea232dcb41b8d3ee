// The planner as a kernel: one block, every thread a row at a time. The place of a row on the line
// says everything about its works, so rows need only sums over the rows before them.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>
#include <string>

#include "kernels/index/rows.h"
#include "kernels/metadata/plan.h"

namespace exactk::kernels::metadata {

inline constexpr int kPlanThreads = index::kThreadsMax;

struct PlanJob {
  PlanArrays plan;
  const int32_t* kv_indptr;
  int64_t rows;
  int64_t rows_max;
  int64_t workers;
  uint32_t running;
};

// A row on the line, and what the rows before it have.
struct PlanRow {
  int64_t row;
  uint32_t begin;  // first unit
  uint32_t units;
  uint32_t works;
  uint32_t first_work;
  uint32_t first_partial;
};

// What a planted fault replaces.
struct ShippedPlan {
  __device__ static uint32_t length(const int32_t* kv_indptr, int64_t row) {
    return static_cast<uint32_t>(kv_indptr[row + 1] - kv_indptr[row]);
  }
  // An empty row takes a unit, too.
  __device__ static uint32_t units(uint32_t length) {
    return length == 0 ? 1 : (length + kUnit - 1) / kUnit;
  }
  __device__ static uint32_t works(uint32_t begin, uint32_t units, uint32_t share) {
    return 1 + (begin + units - 1) / share - begin / share;
  }
  __device__ static uint32_t partial_place(const PlanRow& row, uint32_t i) {
    return row.first_partial + i;
  }
  // Up to which row reduce_indptr is written.
  __device__ static int64_t reduce_end(const PlanJob& job) { return job.rows_max; }
  static int64_t running(const PlanShape& shape) { return running_workers(shape); }
  __device__ static index::BlockSum sum(uint32_t* waves, uint32_t value) {
    return index::block_sum(waves, value);
  }
};

template <class Traits>
__device__ void write_works(const PlanJob& job, const PlanRow& row, uint32_t share) {
  const int64_t kv_begin = job.kv_indptr[row.row];
  const int64_t kv_length = Traits::length(job.kv_indptr, row.row);
  const uint32_t worker = row.begin / share;  // of the first work
  for (uint32_t i = 0; i < row.works; ++i) {
    // In units from the row's first one; the first and the last work end with the row.
    const int64_t first = i == 0 ? 0 : int64_t{worker + i} * share - row.begin;
    const int64_t last =
        i + 1 == row.works ? row.units : int64_t{worker + i + 1} * share - row.begin;
    const int64_t end = last * kUnit < kv_length ? last * kUnit : kv_length;
    int32_t* work = job.plan.work_info + (row.first_work + i) * kWorkColumns;
    const bool split = row.works > 1;
    work[0] = static_cast<int32_t>(row.row);
    work[1] = split ? static_cast<int32_t>(Traits::partial_place(row, i)) : -1;
    work[2] = static_cast<int32_t>(row.row);
    work[3] = static_cast<int32_t>(row.row + 1);
    work[4] = static_cast<int32_t>(kv_begin + first * kUnit);
    work[5] = static_cast<int32_t>(kv_begin + end);
    work[6] = static_cast<int32_t>(kv_length - end);
    work[7] = 0;
    if (split) {
      job.plan.reduce_partial_map[row.first_partial + i] = work[1];
    }
    // Worker worker + i begins here, unless it began with an earlier row.
    if (i > 0 || row.begin % share == 0) {
      job.plan.work_indptr[worker + i] = static_cast<int32_t>(row.first_work + i);
    }
  }
}

// Grid: one block of kPlanThreads threads.
template <class Traits>
__global__ __launch_bounds__(kPlanThreads) void plan_works(PlanJob job) {
  __shared__ uint32_t waves[index::kWavesMax];
  const int64_t self = threadIdx.x;
  const auto units_of = [&](int64_t row) {
    return row < job.rows ? Traits::units(Traits::length(job.kv_indptr, row)) : 0;
  };
  uint32_t all = 0;
  for (int64_t first = 0; first < job.rows; first += kPlanThreads) {
    all += Traits::sum(waves, units_of(first + self)).all;
  }
  const uint32_t least = (all + job.running - 1) / job.running;
  const uint32_t share = least > 1 ? least : 1;

  PlanRow before = {};  // what the rows before this round have
  for (int64_t first = 0; first < job.rows; first += kPlanThreads) {
    PlanRow row = {};
    row.row = first + self;
    const bool inside = row.row < job.rows;
    row.units = units_of(row.row);
    const index::BlockSum units = Traits::sum(waves, row.units);
    row.begin = before.begin + units.before;
    row.works = inside ? Traits::works(row.begin, row.units, share) : 0;
    const index::BlockSum works = Traits::sum(waves, row.works);
    row.first_work = before.first_work + works.before;
    const uint32_t partials = row.works > 1 ? row.works : 0;
    const index::BlockSum places = Traits::sum(waves, partials);
    row.first_partial = before.first_partial + places.before;
    if (inside) {
      write_works<Traits>(job, row, share);
      job.plan.reduce_indptr[row.row + 1] = static_cast<int32_t>(row.first_partial + partials);
      job.plan.reduce_final_map[2 * row.row] = static_cast<int32_t>(row.row);
      job.plan.reduce_final_map[2 * row.row + 1] = static_cast<int32_t>(row.row + 1);
    }
    before.begin += units.all;
    before.first_work += works.all;
    before.first_partial += places.all;
  }

  if (self == 0) {
    job.plan.reduce_indptr[0] = 0;
  }
  for (int64_t row = job.rows + self; row < Traits::reduce_end(job); row += kPlanThreads) {
    job.plan.reduce_indptr[row + 1] = static_cast<int32_t>(before.first_partial);
  }
  // Workers whose share begins behind the line, and the end.
  for (int64_t worker = (all + share - 1) / share + self; worker <= job.workers;
       worker += kPlanThreads) {
    job.plan.work_indptr[worker] = static_cast<int32_t>(before.first_work);
  }
}

template <class Traits>
std::string enqueue_plan(const PlanShape& shape, const int32_t* kv_indptr, const PlanArrays& plan,
                         void* stream) {
  if (std::string problem = problem_of(shape); !problem.empty()) {
    return problem;
  }
  const PlanJob job{plan,           kv_indptr,     shape.rows,
                    shape.rows_max, shape.workers, static_cast<uint32_t>(Traits::running(shape))};
  hipLaunchKernelGGL((plan_works<Traits>), dim3(1), dim3(kPlanThreads), 0,
                     static_cast<hipStream_t>(stream), job);
  const hipError_t error = hipGetLastError();
  return error == hipSuccess
             ? ""
             : std::string("the planner was not launched: ") + hipGetErrorString(error);
}

}  // namespace exactk::kernels::metadata
