#include "oracle/topk.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "oracle/logit_order.h"

namespace exactk::oracle {

std::vector<int32_t> topk_reference(std::span<const uint32_t> logit_bits, int64_t k) {
  const int64_t length = std::ssize(logit_bits);
  const int64_t selected = std::min(k, length);

  // A stable sort keeps equal logits in ascending column order, which is the tie rule.
  std::vector<int32_t> columns(logit_bits.size());
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(), [&](int32_t a, int32_t b) {
    return order_key(logit_bits[static_cast<size_t>(a)]) >
           order_key(logit_bits[static_cast<size_t>(b)]);
  });

  columns.resize(static_cast<size_t>(selected));
  std::sort(columns.begin(), columns.end());
  columns.resize(static_cast<size_t>(k), kSentinel);
  return columns;
}

TopkCut topk_cut(std::span<const uint32_t> logit_bits, int64_t k) {
  TopkCut cut;
  cut.selected = std::min(k, std::ssize(logit_bits));
  if (cut.selected == 0) {
    return cut;
  }

  std::vector<uint32_t> keys;
  keys.reserve(logit_bits.size());
  for (const uint32_t bits : logit_bits) {
    keys.push_back(order_key(bits));
  }
  const auto kth = keys.begin() + (cut.selected - 1);
  std::nth_element(keys.begin(), kth, keys.end(), std::greater<>());

  const uint32_t kth_key = *kth;
  cut.kth_bits = bits_of_order_key(kth_key);
  for (const uint32_t key : keys) {
    cut.above += key > kth_key ? 1 : 0;
    cut.ties += key == kth_key ? 1 : 0;
  }
  cut.overhang = cut.above + cut.ties - cut.selected;
  return cut;
}

}  // namespace exactk::oracle
