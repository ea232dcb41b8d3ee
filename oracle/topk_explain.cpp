#include "oracle/topk_explain.h"

#include <algorithm>
#include <utility>

#include "oracle/logit_order.h"
#include "oracle/topk.h"

namespace exactk::oracle {
namespace {

class RowExplainer {
 public:
  RowExplainer(const TopkRow& row, ContractModes promised, ContractModes broken)
      : row_(row),
        promised_(promised),
        broken_(broken),
        length_(std::ssize(row.logit_bits)),
        k_(std::ssize(row.indices)),
        cut_(topk_cut(row.logit_bits, k_)),
        first_slot_(row.logit_bits.size(), -1) {
    for (int64_t slot = k_ - 1; slot >= 0; --slot) {
      if (in_range(index(slot))) {
        first_slot_[static_cast<size_t>(index(slot))] = slot;
      }
    }
    const int64_t sentinels = std::count(row.indices.begin(), row.indices.end(), kSentinel);
    surplus_sentinels_ = std::max<int64_t>(0, sentinels - (k_ - cut_.selected));
    lacks_sentinels_ = sentinels < k_ - cut_.selected;
  }

  RowJudgement explain() {
    result_.broken = broken_;
    rank_ties();
    for (int64_t slot = 0; slot < k_; ++slot) {
      explain_slot(slot);
    }
    list_missing();
    return std::move(result_);
  }

 private:
  int32_t index(int64_t slot) const { return row_.indices[static_cast<size_t>(slot)]; }
  int32_t key(int64_t column) const {
    return signed_order_key(row_.logit_bits[static_cast<size_t>(column)]);
  }
  int32_t kth_key() const { return signed_order_key(cut_.kth_bits); }
  bool in_range(int64_t column) const { return column >= 0 && column < length_; }
  bool selected(int64_t column) const { return first_slot_[static_cast<size_t>(column)] >= 0; }

  // Finds the ties that may stay: the smallest columns under kStable, otherwise the ones that come
  // first in the row.
  void rank_ties() {
    tie_allowed_.assign(row_.logit_bits.size(), false);
    int64_t room = cut_.selected - cut_.above;
    const auto allow = [&](int64_t column) {
      if (room > 0 && key(column) == kth_key() && !tie_allowed_[static_cast<size_t>(column)]) {
        tie_allowed_[static_cast<size_t>(column)] = true;
        --room;
      }
    };
    if ((promised_ & kStable) != 0) {
      for (int64_t column = 0; column < length_; ++column) {
        allow(column);
      }
      return;
    }
    for (int64_t slot = 0; slot < k_; ++slot) {
      if (in_range(index(slot))) {
        allow(index(slot));
      }
    }
  }

  bool may_be_selected(int64_t column) const {
    return key(column) > kth_key() || tie_allowed_[static_cast<size_t>(column)];
  }

  void add(int64_t slot, FaultKind kind, int64_t other = -1) {
    const bool unchanged = kind != FaultKind::kOrder && slot < std::ssize(row_.before) &&
                           row_.before[static_cast<size_t>(slot)] == index(slot);
    const FaultKind reported = unchanged ? FaultKind::kNeverWritten : kind;
    result_.faults.add(reported);
    ++result_.bad_slots;
    result_.bad.push_back({.position = slot, .kind = reported, .other = other});
    if (std::ssize(result_.bad) > kBadSlotsMax) {
      result_.bad.erase(result_.bad.begin() + kBadSlotsMax / 2);
    }
  }

  void explain_slot(int64_t slot) {
    const int64_t column = index(slot);
    const bool prefix = (promised_ & kPrefix) != 0;
    const bool in_tail = slot >= cut_.selected;
    if (column == kSentinel) {
      // Where -1 may stand anywhere, the first ones are blamed for there being too many.
      if (prefix ? !in_tail : surplus_sentinels_-- > 0) {
        add(slot, FaultKind::kSentinelInside);
      }
      return;
    }
    const bool repeated = in_range(column) && first_slot_[static_cast<size_t>(column)] != slot;
    const int64_t other = repeated ? first_slot_[static_cast<size_t>(column)] : -1;
    const bool wrong = repeated || !in_range(column);
    if (in_tail && (prefix || (wrong && lacks_sentinels_))) {
      add(slot, FaultKind::kSentinelMissing, other);
    } else if (!in_range(column)) {
      add(slot, FaultKind::kOutOfRange);
    } else if (repeated) {
      add(slot, FaultKind::kDuplicate, other);
    } else if (!may_be_selected(column)) {
      add(slot, FaultKind::kIntruder);
    } else if ((broken_ & (kSet | kPrefix)) == 0 && slot > 0) {
      explain_order(slot);
    }
  }

  // Order is only judged where the set and the prefix are right, so the slot before holds a column.
  void explain_order(int64_t slot) {
    const int32_t column = index(slot);
    const int32_t previous = index(slot - 1);
    const bool better = (promised_ & kOrdered) != 0 && key(column) > key(previous);
    const bool descends = (promised_ & kStable) != 0 && column < previous;
    if (better || descends) {
      add(slot, FaultKind::kOrder, slot - 1);
    }
  }

  // A tie must be selected if there is room for all of them, or if kStable chooses it.
  void list_missing() {
    const bool stable = (promised_ & kStable) != 0;
    for (int64_t column = 0; column < length_; ++column) {
      const bool tie = key(column) == kth_key();
      const bool winner = key(column) > kth_key() || (tie && cut_.overhang == 0);
      const bool chosen = stable && tie && tie_allowed_[static_cast<size_t>(column)];
      if (selected(column) || !(winner || chosen)) {
        continue;
      }
      if (winner) {
        result_.faults.add(FaultKind::kMissingWinner);
      }
      ++result_.missing_columns;
      if (std::ssize(result_.missing) < kBadSlotsMax) {
        result_.missing.push_back(column);
      }
    }
  }

  const TopkRow& row_;
  ContractModes promised_;
  ContractModes broken_;
  int64_t length_;
  int64_t k_;
  TopkCut cut_;
  std::vector<int64_t> first_slot_;  // per column: the first slot that holds it, or -1
  std::vector<bool> tie_allowed_;    // per column: a tie that a right answer can keep
  int64_t surplus_sentinels_ = 0;    // -1 slots beyond those that must be there, not blamed yet
  bool lacks_sentinels_ = false;     // fewer -1 slots than must be there
  RowJudgement result_;
};

}  // namespace

RowJudgement explain_row(const TopkRow& row, ContractModes promised, ContractModes broken) {
  return RowExplainer(row, promised, broken).explain();
}

}  // namespace exactk::oracle
