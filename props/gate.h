// The comparison of a candidate kernel with a baseline, from the outcomes of both on the same
// cases: what a merge would change. Timing is apart, in props/paired_ratio.h.
//
// What it does not see: whether an outcome would be the same in another run, and what no case of
// the run reached; coverage() says what was reached.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "props/ledger.h"
#include "props/outcome.h"

namespace exactk::props {

// What the candidate changes on one case. A kernel takes a case unless it is skipped or
// unsupported; it is right if it passed or is weak.
enum class GateChange : int32_t {
  kBothRight,
  kNewlyFixed,        // the baseline is wrong, the candidate right
  kNewlySupported,    // the candidate takes the case and is right, the baseline does not take it
  kNeitherTakes,      // and the candidate need not
  kNewlyBroken,       // the baseline is right, the candidate wrong
  kStillBroken,       // both are wrong
  kBrokenWhereNew,    // the candidate takes the case and is wrong, the baseline does not take it
  kStopsSupporting,   // the baseline takes the case, the candidate does not
  kStillUnsupported,  // neither takes the case, and the candidate ought to
  kInvalid,           // the case is malformed
};
inline constexpr int kGateChanges = 10;

std::string_view name(GateChange change);  // "both right", "newly fixed", ...
bool fails_gate(GateChange change);        // from kNewlyBroken on

// A case on which the two differ, or on which the candidate fails.
struct GateDifference {
  GateChange change{};
  std::string case_line;
  int wave_width = 0;
  oracle::Verdict baseline{}, candidate{};
  std::string reason;  // of whichever is wrong or declines, the candidate first
  std::string replay;  // shows that
};

class GateReport {
 public:
  // Both outcomes are of one case and one wave width; throws InternalError if they are not.
  GateChange add(const Outcome& baseline, const Outcome& candidate);

  int64_t count(GateChange change) const { return counts_[static_cast<size_t>(change)]; }
  int64_t pairs() const;  // added, so cases times wave widths
  bool fails() const;     // any change that fails the gate
  int64_t judged_by_both() const { return coverage_.judged(); }
  int64_t weak() const { return coverage_.count(oracle::Verdict::kWeak); }  // of judged_by_both()

  // Every pair that is neither kBothRight nor kNeitherTakes, in the order of add().
  const std::vector<GateDifference>& differences() const { return differences_; }
  // The candidate's runs on what both were judged on.
  const Ledger& coverage() const { return coverage_; }

  // Lines: the differences by kind, `shown_max` of each with their replay lines, then the coverage.
  std::string text(size_t shown_max) const;
  // "both right 10, newly fixed 0, newly broken 1, ...": kinds that were not met are left out,
  // except the first of them and those that a merge is asked about.
  std::string totals() const;

 private:
  std::array<int64_t, kGateChanges> counts_{};
  std::vector<GateDifference> differences_;
  Ledger coverage_;
};

}  // namespace exactk::props
