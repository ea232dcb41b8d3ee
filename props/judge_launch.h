// Judges every row of one launch's output.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/topk_contract.h"
#include "oracle/verdict.h"
#include "props/topk_problem.h"

namespace exactk::props {

inline constexpr int kFailingRowsMax = 256;

struct RowFailure {
  int64_t row = 0;
  oracle::RowJudgement judgement;
};

struct LaunchJudgement {
  int64_t rows = 0;           // rows judged: all of the launch
  int64_t rows_selected = 0;  // rows with at least one selected column
  int64_t rows_cut = 0;       // rows with L > k: the logits decide
  int64_t failing_rows = 0;
  oracle::FaultSet faults;
  oracle::ContractModes broken = 0;
  std::vector<RowFailure> failures;  // ascending rows, at most kFailingRowsMax
  int64_t gap_slots_changed = 0;     // slots between output rows that were written
  bool ok() const { return faults.empty(); }
};

// `output` and `before` are whole output tensors, gaps included: after the launch and before it.
// `before` may be empty where there are no gaps; then no slot counts as never written.
// Up to two rows of every launch, those short enough for a sort, are judged a second time through
// the sort-based reference; a disagreement throws InternalError. So does a row that the device had
// other logits for than the case says: `row_checksums` are the device's, or empty.
LaunchJudgement judge_launch(const TopkProblem& problem, const TopkInputs& inputs,
                             std::span<const int32_t> output, std::span<const int32_t> before,
                             oracle::ContractModes promised,
                             std::span<const uint64_t> row_checksums = {});

}  // namespace exactk::props
