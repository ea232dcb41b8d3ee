// Every output vector over every tiny row, judged by three forms that share no code: the judge, a
// check derived from the reference, and a list of all acceptable selections. The third form knows
// the order of its few logits only from their place in a hand-written list, so a fault in the key
// would show.
//
// What it does not check: rows longer than one vector or lane chunk, and the explanation beyond
// being present.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "oracle/logit_order.h"
#include "oracle/topk.h"
#include "oracle/topk_contract.h"
#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

struct Space {
  int length;
  int k;
  std::vector<uint32_t> alphabet;  // worst first
};

// All selections of a row that the contract allows, as sorted lists of columns; the first is the
// stable one.
std::vector<std::vector<int32_t>> acceptable_selections(const std::vector<int>& ranks, int k) {
  const int length = static_cast<int>(ranks.size());
  std::vector<std::vector<int32_t>> selections;
  for (uint32_t mask = 0; mask < (1u << length); ++mask) {
    if (std::popcount(mask) != std::min(k, length)) {
      continue;
    }
    bool separated = true;
    std::vector<int32_t> members;
    for (int inside = 0; inside < length; ++inside) {
      if ((mask >> inside & 1u) == 0) {
        continue;
      }
      members.push_back(inside);
      for (int outside = 0; outside < length; ++outside) {
        separated &= (mask >> outside & 1u) != 0 || ranks[outside] <= ranks[inside];
      }
    }
    if (separated) {
      selections.push_back(members);
    }
  }
  // Allowed selections differ in ties only, so the one with the smallest ties comes first in
  // dictionary order.
  std::sort(selections.begin(), selections.end());
  return selections;
}

struct Acceptance {
  bool set = false;
  bool prefix = false;
  bool ordered = false;
  bool stable = false;
  friend bool operator==(const Acceptance&, const Acceptance&) = default;
};

std::ostream& operator<<(std::ostream& out, const Acceptance& a) {
  return out << "set " << a.set << " prefix " << a.prefix << " ordered " << a.ordered << " stable "
             << a.stable;
}

Acceptance by_enumeration(const std::vector<int>& ranks, const std::vector<int32_t>& output,
                          const std::vector<std::vector<int32_t>>& selections) {
  std::vector<int32_t> entries;
  bool gap = false;
  bool ordered = true;
  for (size_t slot = 0; slot < output.size(); ++slot) {
    if (output[slot] != -1) {
      gap |= slot != entries.size();
      entries.push_back(output[slot]);
    }
  }
  std::vector<int32_t> sorted = entries;
  std::sort(sorted.begin(), sorted.end());

  Acceptance accepted;
  accepted.set = std::find(selections.begin(), selections.end(), sorted) != selections.end();
  if (!accepted.set) {
    return accepted;
  }
  for (size_t i = 1; i < entries.size(); ++i) {
    ordered &= ranks[static_cast<size_t>(entries[i])] <= ranks[static_cast<size_t>(entries[i - 1])];
  }
  accepted.prefix = !gap;
  accepted.ordered = accepted.prefix && ordered;
  accepted.stable = accepted.prefix && entries == selections.front();
  return accepted;
}

Acceptance by_reference(const std::vector<uint32_t>& logits, const std::vector<int32_t>& output) {
  const std::vector<int32_t> reference = topk_reference(logits, std::ssize(output));
  const auto selected_keys = [&](const std::vector<int32_t>& slots) {
    std::vector<uint32_t> keys;
    for (const int32_t column : slots) {
      if (column >= 0) {
        keys.push_back(order_key(logits[static_cast<size_t>(column)]));
      }
    }
    return keys;
  };
  Acceptance accepted;
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] < -1 || output[i] >= std::ssize(logits) ||
        (output[i] >= 0 && std::count(output.begin(), output.end(), output[i]) != 1)) {
      return accepted;
    }
  }
  std::vector<uint32_t> got = selected_keys(output);
  std::vector<uint32_t> want = selected_keys(reference);
  accepted.ordered = std::is_sorted(got.begin(), got.end(), std::greater<>());
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  accepted.set = got == want;
  accepted.prefix = accepted.set && std::is_partitioned(output.begin(), output.end(),
                                                        [](int32_t slot) { return slot >= 0; });
  accepted.ordered = accepted.ordered && accepted.prefix;
  accepted.stable = output == reference;
  return accepted;
}

Acceptance by_judge(TopkJudge& judge, const TopkRow& row) {
  const auto accepts = [&](ContractModes promised) {
    const RowJudgement judgement = judge.judge(row, promised);
    // A refusal names a mode, a kind and a slot; an acceptance names nothing.
    EXPECT_EQ(judgement.ok(), judgement.broken == 0);
    EXPECT_EQ(judgement.ok(), judgement.faults.empty());
    EXPECT_EQ(judgement.ok(), judgement.bad_slots == 0);
    return judgement.ok();
  };
  return {.set = accepts(kSet),
          .prefix = accepts(kSet | kPrefix),
          .ordered = accepts(kSet | kPrefix | kOrdered),
          .stable = accepts(kSet | kPrefix | kStable)};
}

// The modes that must be reported as broken when all are promised.
ContractModes broken_of(const Acceptance& accepted) {
  ContractModes broken = 0;
  broken |= accepted.set ? 0u : kSet;
  broken |= accepted.prefix ? 0u : kPrefix;
  broken |= accepted.ordered ? 0u : kOrdered;
  broken |= accepted.stable ? 0u : kStable;
  return broken;
}

// Counts `digits` up in base `base`; false after the last number.
bool advance(std::vector<int>& digits, int base) {
  for (int& digit : digits) {
    if (++digit < base) {
      return true;
    }
    digit = 0;
  }
  return false;
}

struct Tally {
  int64_t outputs = 0;
  int64_t accepted = 0;
};

void judge_outputs(TopkJudge& judge, const Space& space, const std::vector<int>& ranks,
                   Tally& tally) {
  std::vector<uint32_t> logits;
  for (const int rank : ranks) {
    logits.push_back(space.alphabet[static_cast<size_t>(rank)]);
  }
  const auto selections = acceptable_selections(ranks, space.k);
  std::vector<int32_t> slot_values{-1, -2, space.length, 0x7fffffff};
  for (int column = 0; column < space.length; ++column) {
    slot_values.push_back(column);
  }

  std::vector<int> digits(static_cast<size_t>(space.k), 0);
  std::vector<int32_t> output(digits.size());
  do {
    for (size_t i = 0; i < digits.size(); ++i) {
      output[i] = slot_values[static_cast<size_t>(digits[i])];
    }
    const Acceptance want = by_enumeration(ranks, output, selections);
    const TopkRow row{logits, output, {}};
    ASSERT_EQ(want, by_reference(logits, output)) << testing::PrintToString(output);
    ASSERT_EQ(want, by_judge(judge, row))
        << testing::PrintToString(logits) << " " << testing::PrintToString(output);
    ASSERT_EQ(broken_of(want), judge.judge(row, kSet | kPrefix | kOrdered | kStable).broken)
        << testing::PrintToString(logits) << " " << testing::PrintToString(output);
    ++tally.outputs;
    tally.accepted += want.set ? 1 : 0;
  } while (advance(digits, static_cast<int>(slot_values.size())));
}

Tally judge_space(const Space& space) {
  TopkJudge judge(space.length);
  Tally tally;
  std::vector<int> ranks(static_cast<size_t>(space.length), 0);
  do {
    judge_outputs(judge, space, ranks, tally);
  } while (!testing::Test::HasFatalFailure() &&
           advance(ranks, static_cast<int>(space.alphabet.size())));
  EXPECT_GT(tally.accepted, 0);
  EXPECT_LT(tally.accepted, tally.outputs);
  return tally;
}

const std::vector<uint32_t> kFive{kNegInf, kNegZero, kPosZero, 0x3f800000u, kPosNaN};
const std::vector<uint32_t> kThree{kNegNaN, kNegInf, kPosZero};
const std::vector<uint32_t> kTwo{kNegZero, kPosZero};

TEST(TopkExhaustive, ThreeFormsAgreeOnRowsOfUpToThree) {
  for (int length = 0; length <= 3; ++length) {
    for (int k = 1; k <= 4; ++k) {
      judge_space({length, k, kFive});
    }
  }
}

TEST(TopkExhaustive, ThreeFormsAgreeOnRowsOfFourAndUpToThreeSlots) {
  for (int k = 1; k <= 3; ++k) {
    judge_space({4, k, kFive});
  }
}

TEST(TopkExhaustive, ThreeFormsAgreeOnFourSlotsOfFourColumns) {
  judge_space({4, 4, kThree});
}

TEST(TopkExhaustive, ThreeFormsAgreeOnFiveColumnsAndUpToThreeSlots) {
  for (int k = 1; k <= 3; ++k) {
    judge_space({5, k, kThree});
  }
}

TEST(TopkExhaustive, ThreeFormsAgreeOnFiveColumnsAndFourSlots) {
  judge_space({5, 4, kThree});
}

TEST(TopkExhaustive, ThreeFormsAgreeOnFiveSlots) {
  for (int length = 0; length <= 4; ++length) {
    judge_space({length, 5, length <= 3 ? kThree : kTwo});
  }
}

}  // namespace
}  // namespace exactk::oracle
