#include <algorithm>

#include "kernels/metadata/plan.h"

namespace exactk::kernels::metadata {
namespace {

int64_t length_of(std::span<const int32_t> kv_indptr, int64_t row) {
  return int64_t{kv_indptr[static_cast<size_t>(row) + 1]} - kv_indptr[static_cast<size_t>(row)];
}

int64_t units_of(std::span<const int32_t> kv_indptr, int64_t row) {
  return std::max<int64_t>((length_of(kv_indptr, row) + kUnit - 1) / kUnit, 1);
}

// Work of the units [first, last) of a row; its partial place is not known yet.
void write_work(int32_t* work, std::span<const int32_t> kv_indptr, int64_t row, int64_t first,
                int64_t last) {
  const int64_t begin = kv_indptr[static_cast<size_t>(row)];
  const int64_t end = kv_indptr[static_cast<size_t>(row) + 1];
  const int64_t kv_end = std::min(begin + last * kUnit, end);
  const int64_t fields[kWorkColumns] = {row,    -1,           row, row + 1, begin + first * kUnit,
                                        kv_end, end - kv_end, 0};
  std::copy(fields, fields + kWorkColumns, work);
}

// Deals the line to one worker after the other; gives the number of works.
int64_t deal_works(const PlanShape& shape, std::span<const int32_t> kv_indptr,
                   const PlanArrays& plan) {
  int64_t units = 0;
  for (int64_t row = 0; row < shape.rows; ++row) units += units_of(kv_indptr, row);
  const int64_t running = running_workers(shape);
  const int64_t share = std::max<int64_t>((units + running - 1) / running, 1);
  int64_t works = 0;
  int64_t row = 0;
  int64_t unit = 0;  // the next one of the row
  for (int64_t worker = 0; worker < shape.workers; ++worker) {
    plan.work_indptr[worker] = static_cast<int32_t>(works);
    int64_t room = worker < running ? share : 0;
    while (room > 0 && row < shape.rows) {
      const int64_t taken = std::min(room, units_of(kv_indptr, row) - unit);
      write_work(plan.work_info + works * kWorkColumns, kv_indptr, row, unit, unit + taken);
      ++works;
      room -= taken;
      unit += taken;
      if (unit == units_of(kv_indptr, row)) {
        ++row;
        unit = 0;
      }
    }
  }
  plan.work_indptr[shape.workers] = static_cast<int32_t>(works);
  return works;
}

}  // namespace

std::string plan_serially(const PlanShape& shape, std::span<const int32_t> kv_indptr,
                          const PlanArrays& plan) {
  if (std::string problem = problem_of(shape); !problem.empty()) return problem;
  const int64_t works = deal_works(shape, kv_indptr, plan);
  int64_t first = 0;  // work of the row
  int32_t partials = 0;
  plan.reduce_indptr[0] = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    int64_t end = first;
    while (end < works && plan.work_info[end * kWorkColumns] == row) ++end;
    const bool split = end - first > 1;
    for (int64_t work = first; split && work < end; ++work) {
      plan.work_info[work * kWorkColumns + 1] = partials;
      plan.reduce_partial_map[partials] = partials;
      ++partials;
    }
    first = end;
    plan.reduce_indptr[row + 1] = partials;
    plan.reduce_final_map[2 * row] = static_cast<int32_t>(row);
    plan.reduce_final_map[2 * row + 1] = static_cast<int32_t>(row + 1);
  }
  std::fill(plan.reduce_indptr + shape.rows + 1, plan.reduce_indptr + shape.rows_max + 1, partials);
  return "";
}

}  // namespace exactk::kernels::metadata
