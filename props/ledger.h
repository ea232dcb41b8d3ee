// What a run exercised, and its totals.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "props/outcome.h"

namespace exactk::props {

class Ledger {
 public:
  void add(const Outcome& outcome);

  int64_t count(oracle::Verdict verdict) const { return verdicts_[static_cast<size_t>(verdict)]; }
  int64_t judged() const;    // passed, weak or failed
  bool any_failure() const;  // failed, unsupported or invalid
  const std::vector<std::string>& failing_replays() const { return failing_replays_; }

  // Several lines: cases, kernels, wave widths, launch modes, paths, patterns, skip reasons, with
  // counts.
  std::string summary() const;
  // "passed 10, failed 0, weak 0, skipped 2, unsupported 0, invalid 0"
  std::string totals() const;

  using Counts = std::map<std::string, int64_t>;
  const Counts& by(const std::string& axis) const;
  const std::map<std::string, Counts>& axes() const { return axes_; }
  int64_t cases() const { return static_cast<int64_t>(judged_cases_.size()); }
  int64_t launches() const { return launches_; }
  int64_t rows() const { return rows_; }
  int64_t rows_cut() const { return rows_cut_; }

 private:
  std::array<int64_t, 6> verdicts_{};
  std::map<std::string, Counts> axes_;  // judged runs by wave, launch, path, pattern, kernel
  Counts skips_;                        // by kernel and reason
  std::set<std::string> judged_cases_;
  std::vector<std::string> failing_replays_;
  int64_t launches_ = 0;
  int64_t rows_ = 0;
  int64_t rows_cut_ = 0;
};

}  // namespace exactk::props
