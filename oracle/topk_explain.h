// The explanation of a row that broke its contract; internal to the judge, which has decided
// already.
//
// Slow and plain. It never decides: a row that reaches it is wrong whatever it finds.
#pragma once

#include "oracle/topk_contract.h"

namespace exactk::oracle {

// Names the bad slots and the missing columns of a row. `promised` holds the implied modes too;
// `broken` is not empty and holds kSet exactly if the selected set is wrong.
RowJudgement explain_row(const TopkRow& row, ContractModes promised, ContractModes broken);

}  // namespace exactk::oracle
