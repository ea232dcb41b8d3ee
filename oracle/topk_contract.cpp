#include "oracle/topk_contract.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "oracle/logit_order.h"
#include "oracle/topk.h"
#include "oracle/topk_explain.h"

namespace exactk::oracle {
namespace {

constexpr int64_t kWordBits = 64;

// Columns counted in 32-bit lanes before they are added to a 64-bit total: narrow lanes are what
// vectorises, and a chunk this short cannot overflow one.
constexpr size_t kLaneColumns = size_t{1} << 20;

template <typename Predicate>
int64_t count_lanes(std::span<const uint32_t> logit_bits, Predicate counts) {
  int64_t total = 0;
  while (!logit_bits.empty()) {
    const auto chunk = logit_bits.first(std::min(logit_bits.size(), kLaneColumns));
    uint32_t lanes = 0;
    for (const uint32_t bits : chunk) {
      lanes += counts(bits) ? 1u : 0u;
    }
    total += lanes;
    logit_bits = logit_bits.subspan(chunk.size());
  }
  return total;
}

int64_t count_equal(std::span<const uint32_t> logit_bits, uint32_t bits) {
  return count_lanes(logit_bits, [bits](uint32_t other) { return other == bits; });
}

// A promise includes what it is built on, and every promise includes the set.
ContractModes with_implied(ContractModes promised) {
  promised |= kSet;
  if ((promised & (kOrdered | kStable)) != 0) {
    promised |= kPrefix;
  }
  return promised;
}

bool test_and_set(std::vector<uint64_t>& seen, int64_t column) {
  uint64_t& word = seen[static_cast<size_t>(column / kWordBits)];
  const uint64_t bit = uint64_t{1} << (column % kWordBits);
  const bool was_set = (word & bit) != 0;
  word |= bit;
  return was_set;
}

// Which promised modes a row meets; a mode that is not promised may be either.
struct ModesMet {
  bool set = false;
  bool prefix = false;
  bool ordered = false;
  bool stable = false;
};

ContractModes broken_modes(ContractModes promised, const ModesMet& met) {
  if (!met.set) {
    return promised;
  }
  ContractModes broken = 0;
  broken |= met.prefix ? 0u : kPrefix;
  broken |= met.ordered ? 0u : kOrdered;
  broken |= met.stable ? 0u : kStable;
  return promised & broken;
}

class RowChecker {
 public:
  explicit RowChecker(const TopkRow& row)
      : logit_bits_(row.logit_bits),
        indices_(row.indices),
        length_(std::ssize(row.logit_bits)),
        k_(std::ssize(row.indices)),
        want_(std::min(k_, length_)) {}

  ModesMet check(ContractModes promised, std::vector<uint64_t>& seen) const {
    const bool stable = (promised & kStable) != 0;
    ModesMet met;
    if (!holds_distinct_columns(seen)) {
      return met;
    }
    bool small_ties = true;
    met.set = true;
    if (length_ > k_ && k_ > 0) {
      const Selection selection = summarise();
      const RowCounts row = count_row(selection.worst, stable ? selection.tie_end : 0);
      // The selected columns are distinct, so the row has as many logits better than the worst of
      // them as the selection has exactly if no unselected one is better. Likewise for ties left of
      // the last selected tie.
      met.set = row.better == selection.better;
      small_ties = !stable || row.ties == selection.ties;
    }
    met.prefix = met.set && starts_with_columns();
    met.ordered = met.prefix && ((promised & kOrdered) == 0 || never_gets_better());
    met.stable = met.prefix && small_ties && (!stable || ascends());
    return met;
  }

 private:
  int32_t key(int32_t column) const {
    return signed_order_key(logit_bits_[static_cast<size_t>(column)]);
  }
  bool in_range(int32_t column) const { return column >= 0 && column < length_; }

  // Exactly min(k, L) slots hold columns, all different and in range; all others hold -1. `seen` is
  // zero again afterwards.
  bool holds_distinct_columns(std::vector<uint64_t>& seen) const {
    int64_t distinct = 0;
    int64_t sentinels = 0;
    for (const int32_t column : indices_) {
      if (column == kSentinel) {
        ++sentinels;
      } else if (in_range(column)) {
        // The logits of the selected columns are read next, scattered over the row.
        __builtin_prefetch(&logit_bits_[static_cast<size_t>(column)]);
        distinct += test_and_set(seen, column) ? 0 : 1;
      }
    }
    for (const int32_t column : indices_) {
      if (in_range(column)) {
        seen[static_cast<size_t>(column / kWordBits)] = 0;
      }
    }
    return distinct == want_ && sentinels == k_ - want_;
  }

  struct Selection {
    uint32_t worst = 0;   // bits of the worst selected logit
    int64_t better = 0;   // selected logits better than it
    int64_t ties = 0;     // selected logits equal to it
    int64_t tie_end = 0;  // one past the largest column among those ties
  };

  // Only for L > k and distinct columns, where every slot holds a column.
  Selection summarise() const {
    int32_t worst_key = std::numeric_limits<int32_t>::max();
    for (const int32_t column : indices_) {
      worst_key = std::min(worst_key, key(column));
    }
    Selection selection;
    selection.worst = bits_of_order_key(static_cast<uint32_t>(worst_key) ^ 0x80000000u);
    for (const int32_t column : indices_) {
      if (key(column) > worst_key) {
        ++selection.better;
      } else {
        ++selection.ties;
        selection.tie_end = std::max<int64_t>(selection.tie_end, int64_t{column} + 1);
      }
    }
    return selection;
  }

  struct RowCounts {
    int64_t better = 0;
    int64_t ties = 0;  // in columns [0, tie_end)
  };

  // One walk over the row; a tile is still in the first-level cache when its ties are counted.
  RowCounts count_row(uint32_t bits, int64_t tie_end) const {
    constexpr int64_t kTileColumns = 4096;
    RowCounts counts;
    for (int64_t begin = 0; begin < length_; begin += kTileColumns) {
      const int64_t columns = std::min(kTileColumns, length_ - begin);
      const auto tile =
          logit_bits_.subspan(static_cast<size_t>(begin), static_cast<size_t>(columns));
      counts.better += count_better(tile, bits);
      if (begin < tie_end) {
        const int64_t tie_columns = std::min(columns, tie_end - begin);
        counts.ties += count_equal(tile.first(static_cast<size_t>(tie_columns)), bits);
      }
    }
    return counts;
  }

  bool starts_with_columns() const {
    const auto valid = indices_.first(static_cast<size_t>(want_));
    return std::find(valid.begin(), valid.end(), kSentinel) == valid.end();
  }

  bool never_gets_better() const {
    for (int64_t slot = 1; slot < want_; ++slot) {
      if (key(indices_[static_cast<size_t>(slot)]) > key(indices_[static_cast<size_t>(slot - 1)])) {
        return false;
      }
    }
    return true;
  }

  bool ascends() const {
    const auto valid = indices_.first(static_cast<size_t>(want_));
    return std::adjacent_find(valid.begin(), valid.end(), std::greater_equal<>()) == valid.end();
  }

  std::span<const uint32_t> logit_bits_;
  std::span<const int32_t> indices_;
  int64_t length_;
  int64_t k_;
  int64_t want_;
};

}  // namespace

std::string_view name(ContractMode mode) {
  switch (mode) {
    case kSet:
      return "set";
    case kPrefix:
      return "prefix";
    case kOrdered:
      return "ordered";
    case kStable:
      return "stable";
    case kRepeatable:
      return "repeatable";
    case kKernelsOnly:
      return "kernels_only";
  }
  return "unknown";
}

// Within one sign the order of logits is the order of their bits as integers: among non-negative
// logits larger bits are better, and any negative one is worse; seen from a negative logit, smaller
// unsigned bits are better. So one compare per logit is enough, without computing its key.
int64_t count_better(std::span<const uint32_t> logit_bits, uint32_t bits) {
  if ((bits & 0x80000000u) == 0) {
    const int32_t least = std::bit_cast<int32_t>(bits);
    return count_lanes(logit_bits,
                       [least](uint32_t other) { return std::bit_cast<int32_t>(other) > least; });
  }
  return count_lanes(logit_bits, [bits](uint32_t other) { return other < bits; });
}

std::vector<int32_t> relative_to_row(std::span<const int32_t> indices, int64_t row_start) {
  constexpr int64_t kFarBehind = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> relative(indices.begin(), indices.end());
  for (int32_t& index : relative) {
    if (index < 0) continue;
    const int64_t column = std::min(index - row_start, kFarBehind);
    index = static_cast<int32_t>(column >= 0 ? column : INT32_MIN + int64_t{index});
  }
  return relative;
}

TopkJudge::TopkJudge(int64_t width_max)
    : seen_(static_cast<size_t>((width_max + kWordBits - 1) / kWordBits), 0) {}

RowJudgement TopkJudge::judge(const TopkRow& row, ContractModes promised) {
  const size_t words = (row.logit_bits.size() + kWordBits - 1) / kWordBits;
  if (seen_.size() < words) {
    seen_.resize(words, 0);
  }
  promised = with_implied(promised);
  const ModesMet met = RowChecker(row).check(promised, seen_);
  const ContractModes broken = broken_modes(promised, met);
  return broken == 0 ? RowJudgement{} : explain_row(row, promised, broken);
}

}  // namespace exactk::oracle
