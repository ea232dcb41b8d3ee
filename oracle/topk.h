// The boring reference for the top-k selection of one row: used to explain a failure and to check
// the judge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace exactk::oracle {

inline constexpr int32_t kSentinel = -1;

// The k slots of the stable answer. `logit_bits` is the row's visible part, [L]. The selected
// columns are the best min(k, L) by order_key, ties to the smallest index, listed in ascending
// index; the other slots hold -1. k = 0 gives an empty answer. O(L log L).
std::vector<int32_t> topk_reference(std::span<const uint32_t> logit_bits, int64_t k);

// The cut of one row: facts that a report and a ledger need. For L <= k everything is selected.
struct TopkCut {
  int64_t selected = 0;   // min(k, L)
  uint32_t kth_bits = 0;  // bits of the k-th value; meaningful if selected > 0
  int64_t above = 0;      // logits strictly better than the k-th value
  int64_t ties = 0;       // logits equal to it, bit by bit
  int64_t overhang = 0;   // ties that must lose: above + ties - selected
};
TopkCut topk_cut(std::span<const uint32_t> logit_bits, int64_t k);

}  // namespace exactk::oracle
