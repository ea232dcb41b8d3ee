// Which part of the input space a case visits: bins of axes such as "length against k". A pure
// function of the case; no device, no logits.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case.h"
#include "props/outcome.h"

namespace exactk::props {

// A place of the input space, "topk.decode | length and k | k+1". Each operation has bins of its
// own, so that a chain does not stand for its parts.
struct Bin {
  fixtures::Op op{};
  std::string_view axis;  // one of the axes below
  std::string name;
  friend auto operator<=>(const Bin&, const Bin&) = default;
};
std::string bin_text(const Bin& bin);

struct AxisInfo {
  std::string_view name;
  std::string_view text;
};
// Axes in the order in which they are printed.
std::vector<AxisInfo> axis_list();

// The bins that a valid case visits, over all its launches; at least one of each axis of which
// something is known. What only chance decides, such as ties among random values, visits no bin.
// The paths are those of the published policy, whichever kernel is judged.
std::set<Bin> bins_of(const fixtures::Case& c);

// Whether a kernel ran the case and was judged: passed, weak or failed. Only then bins count.
bool is_judged(const Outcome& outcome);

struct BinCount {
  Bin bin;
  int64_t count = 0;
  bool required = false;
  bool missing() const { return required && count == 0; }
};

// How often each bin was visited.
class Coverage {
 public:
  void add(const std::set<Bin>& bins) {
    for (const Bin& bin : bins) ++counts_[bin];
  }
  int64_t count(const Bin& bin) const {
    const auto found = counts_.find(bin);
    return found == counts_.end() ? 0 : found->second;
  }
  const std::map<Bin, int64_t>& counts() const { return counts_; }
  // Those of the bins that were never visited.
  std::vector<Bin> missing(const std::vector<Bin>& bins) const;
  // The bins that were visited or are required, in order.
  std::vector<BinCount> against(const std::vector<Bin>& required) const;
  // A line for each of them: operation, axis, bin, count, "required" or "MISSING".
  std::string table(const std::vector<Bin>& required) const;

 private:
  std::map<Bin, int64_t> counts_;
};

// Tiers of stored cases whose bins are required: smoke, ci, published, nightly.
std::vector<std::string> tier_list();
// The bins that the tier's cases must visit; empty for another name.
std::vector<Bin> required_bins(std::string_view tier);

}  // namespace exactk::props
