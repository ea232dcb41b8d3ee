#include "props/judge_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "fixtures/checksum.h"
#include "fixtures/materialize.h"
#include "oracle/logit_order.h"
#include "oracle/topk.h"
#include "props/internal_error.h"

namespace exactk::props {
namespace {

struct Slots {
  std::span<const int32_t> output;
  std::span<const int32_t> before;
};

Slots row_slots(const TopkProblem& p, Slots all, int64_t row) {
  const size_t at = static_cast<size_t>(row * p.out_stride);
  const size_t k = static_cast<size_t>(p.k);
  return {all.output.subspan(at, k), all.before.empty() ? all.before : all.before.subspan(at, k)};
}

int64_t changed_gap_slots(const TopkProblem& p, Slots all) {
  const int64_t stride = p.out_stride;
  if (stride == p.k) return 0;
  int64_t changed = 0;
  for (int64_t at = 0; at < static_cast<int64_t>(all.output.size()); ++at) {
    const size_t slot = static_cast<size_t>(at);
    if (at % stride >= p.k && all.output[slot] != all.before[slot]) ++changed;
  }
  return changed;
}

// The sort-based opinion on one row: the selected values, as a multiset, are those of the
// reference.
bool set_is_right_by_reference(std::span<const uint32_t> logits, std::span<const int32_t> indices,
                               int64_t k) {
  std::vector<int32_t> columns;
  std::vector<uint32_t> got;
  for (const int32_t index : indices) {
    if (index == oracle::kSentinel) continue;
    if (index < 0 || index >= static_cast<int64_t>(logits.size())) return false;
    columns.push_back(index);
    got.push_back(oracle::order_key(logits[static_cast<size_t>(index)]));
  }
  std::sort(columns.begin(), columns.end());
  if (std::adjacent_find(columns.begin(), columns.end()) != columns.end()) return false;
  std::vector<uint32_t> want;
  for (const int32_t index : oracle::topk_reference(logits, k)) {
    if (index != oracle::kSentinel)
      want.push_back(oracle::order_key(logits[static_cast<size_t>(index)]));
  }
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  return got == want;
}

void cross_check(const TopkProblem& p, int64_t row, std::span<const uint32_t> logits,
                 const oracle::TopkRow& judged, const oracle::RowJudgement& judgement) {
  constexpr size_t kColumnsMax = 16384;  // the reference sorts; longer rows would dominate the run
  if (logits.size() > kColumnsMax) return;
  const bool by_judge = (judgement.broken & oracle::kSet) == 0;
  if (by_judge == set_is_right_by_reference(logits, judged.indices, p.k)) return;
  throw InternalError(fmt::format("judge and reference disagree about row {} of: {}", row,
                                  fixtures::print_case(p.c)));
}

struct Job {
  const TopkProblem* problem;
  const TopkInputs* inputs;
  Slots slots;
  oracle::ContractModes promised;
  std::span<const uint64_t> row_checksums;
};

// The device must have read what the case says, or no verdict on a kernel means anything. `scratch`
// holds the whole row where visible_row() made it.
void check_fill(const Job& job, int64_t row, std::vector<uint32_t>& scratch) {
  if (job.row_checksums.empty()) return;
  const TopkProblem& p = *job.problem;
  const size_t at = static_cast<size_t>(row);
  const fixtures::RowWindow window = job.inputs->windows[at];
  uint64_t want = 0;
  if (!job.inputs->row_checksums.empty()) {
    want = job.inputs->row_checksums[at];
  } else {
    scratch.resize(static_cast<size_t>(p.width));
    if (window.length == 0) fixtures::logits_row(p.c, job.inputs->step, row, window, scratch);
    want = fixtures::checksum(scratch.data(), p.width);
  }
  if (want == job.row_checksums[at]) return;
  throw InternalError(
      fmt::format("the device holds other logits in row {} of launch {} than the host makes of: {}",
                  row, job.inputs->step, fixtures::print_case(p.c)));
}

LaunchJudgement judge_rows(const Job& job, int64_t begin, int64_t end) {
  const TopkProblem& p = *job.problem;
  LaunchJudgement result;
  oracle::TopkJudge judge(p.width);
  std::vector<uint32_t> scratch;
  const int64_t sampled = static_cast<int64_t>(p.c.seed % static_cast<uint64_t>(p.rows));
  for (int64_t row = begin; row < end; ++row) {
    const std::span<const uint32_t> logits = visible_row(p, *job.inputs, row, scratch);
    check_fill(job, row, scratch);
    Slots slots = row_slots(p, job.slots, row);
    std::vector<int32_t> output, before;
    if (p.absolute) {
      const int64_t start = job.inputs->windows[static_cast<size_t>(row)].start;
      output = oracle::relative_to_row(slots.output, start);
      before = oracle::relative_to_row(slots.before, start);
      slots = {output, before};
    }
    const oracle::TopkRow judged{logits, slots.output, slots.before};
    oracle::RowJudgement judgement = judge.judge(judged, job.promised);
    if (row == 0 || row == sampled) cross_check(p, row, logits, judged, judgement);
    ++result.rows;
    if (!logits.empty()) ++result.rows_selected;
    if (static_cast<int64_t>(logits.size()) > p.k) ++result.rows_cut;
    if (judgement.ok()) continue;
    ++result.failing_rows;
    result.faults.merge(judgement.faults);
    result.broken |= judgement.broken;
    if (result.failures.size() < kFailingRowsMax)
      result.failures.push_back({row, std::move(judgement)});
  }
  return result;
}

void merge(LaunchJudgement& into, LaunchJudgement&& from) {
  into.rows += from.rows;
  into.rows_selected += from.rows_selected;
  into.rows_cut += from.rows_cut;
  into.failing_rows += from.failing_rows;
  into.faults.merge(from.faults);
  into.broken |= from.broken;
  for (RowFailure& failure : from.failures) {
    if (into.failures.size() < kFailingRowsMax) into.failures.push_back(std::move(failure));
  }
}

}  // namespace

LaunchJudgement judge_launch(const TopkProblem& p, const TopkInputs& inputs,
                             std::span<const int32_t> output, std::span<const int32_t> before,
                             oracle::ContractModes promised,
                             std::span<const uint64_t> row_checksums) {
  const Job job{&p, &inputs, {output, before}, promised, row_checksums};
  constexpr int64_t kElemsPerThread = 1 << 19;  // below this a thread costs more than it saves
  const int64_t wanted = std::max<int64_t>(1, p.rows * p.width / kElemsPerThread);
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const int64_t parts = std::min({wanted, cores, p.rows});
  std::vector<LaunchJudgement> judged(static_cast<size_t>(parts));
  std::vector<std::exception_ptr> errors(static_cast<size_t>(parts));
  std::vector<std::thread> threads;
  const auto work = [&](int64_t part) {
    try {
      judged[static_cast<size_t>(part)] =
          judge_rows(job, p.rows * part / parts, p.rows * (part + 1) / parts);
    } catch (...) {
      errors[static_cast<size_t>(part)] = std::current_exception();
    }
  };
  for (int64_t part = 1; part < parts; ++part) threads.emplace_back(work, part);
  work(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  LaunchJudgement result;
  for (LaunchJudgement& part : judged) merge(result, std::move(part));
  result.gap_slots_changed = changed_gap_slots(p, job.slots);
  if (result.gap_slots_changed > 0) result.faults.add(oracle::FaultKind::kGuardBroken);
  return result;
}

}  // namespace exactk::props
