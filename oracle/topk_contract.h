// The judge of top-k selection: accepts exactly the answers that the contract allows, with no
// tolerance and no sort of the logits. With S the selected set, S is right iff it has min(k, L)
// distinct members in [0, L) and no unselected logit is better than the worst member of S; one
// counting pass over the row decides that.
//
// What it does not check: guard bytes, rows that must stay untouched, and repeatability (bytes of
// two runs). Those are compared by whoever owns the buffers; `kRepeatable`
// and `kKernelsOnly` are only names here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "oracle/verdict.h"

namespace exactk::oracle {

// Contract modes that a kernel can promise; flags, all of which include kSet.
enum ContractMode : uint32_t {
  kSet = 1u << 0,          // a valid top-k set, any order, -1 anywhere, any choice among exact ties
  kPrefix = 1u << 1,       // valid entries first, then -1
  kOrdered = 1u << 2,      // kPrefix, and the logits of the entries never get better along the row
  kStable = 1u << 3,       // kPrefix, indices strictly ascending, ties to the smallest index
  kRepeatable = 1u << 4,   // the same bytes from run to run
  kKernelsOnly = 1u << 5,  // a captured launch holds kernels alone: no fill and no copy
};
using ContractModes = uint32_t;
std::string_view name(ContractMode mode);

// One row as a kernel left it.
struct TopkRow {
  std::span<const uint32_t> logit_bits;  // [L], the visible part of the row
  std::span<const int32_t> indices;      // [k], every slot
  std::span<const int32_t>
      before;  // [k] or empty: the slots before the launch, to tell "never written"
};

struct BadSlot {
  int64_t position = 0;  // slot in [0, k)
  FaultKind kind{};
  int64_t other =
      -1;  // the first slot with the same column, if any; kOrder: the slot that it conflicts with
};

struct RowJudgement {
  FaultSet faults;           // empty: the row met every promised mode
  ContractModes broken = 0;  // the promised modes that the row does not meet
  // Ascending positions; of more than kBadSlotsMax the first and the last halves are kept.
  std::vector<BadSlot> bad;
  int64_t bad_slots = 0;  // all of them
  std::vector<int64_t>
      missing;  // columns that must be selected and are not; at most kBadSlotsMax, ascending
  int64_t missing_columns = 0;  // all of them
  bool ok() const { return faults.empty() && broken == 0; }
};
inline constexpr int kBadSlotsMax = 64;

// Judges rows of up to `width_max` columns; keeps scratch between rows, so use one per thread.
class TopkJudge {
 public:
  explicit TopkJudge(int64_t width_max);

  // Fast when the row is right; explains the row (with topk_cut) only when it is wrong.
  RowJudgement judge(const TopkRow& row, ContractModes promised);

 private:
  std::vector<uint64_t> seen_;  // one bit per column, all zero between calls
};

// The indices of a row as they are judged, relative to its start. Of absolute ones, those in front
// of the row and those too far behind it become numbers that no row has.
std::vector<int32_t> relative_to_row(std::span<const int32_t> indices, int64_t row_start);

// How many of `logit_bits` are strictly better than `bits`: the memory-speed pass. Exposed for its
// test and bench.
int64_t count_better(std::span<const uint32_t> logit_bits, uint32_t bits);

}  // namespace exactk::oracle
