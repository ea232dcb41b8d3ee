// How the judges of whole tensors keep what they find. For their .cpp files.
#pragma once

#include <iterator>

#include "oracle/expected.h"

namespace exactk::oracle {

// Adds a bad element to a judgement with the fields of TensorJudgement: all are counted, of more
// than kBadElementsMax the first and the last halves are kept. Elements come in ascending order of
// rows, so a new failing row differs from the one before.
template <typename Judgement, typename Bad>
void add_finding(Judgement& judgement, const Bad& bad) {
  const bool new_row = judgement.bad.empty() || judgement.bad.back().row != bad.row;
  judgement.faults.add(bad.kind);
  ++judgement.bad_elements;
  judgement.bad.push_back(bad);
  if (std::ssize(judgement.bad) > kBadElementsMax) {
    judgement.bad.erase(judgement.bad.begin() + kBadElementsMax / 2);
  }
  if (new_row) {
    ++judgement.failing_row_count;
    if (std::ssize(judgement.failing_rows) < kFailingRowsKept) {
      judgement.failing_rows.push_back(bad.row);
    }
  }
}

}  // namespace exactk::oracle
