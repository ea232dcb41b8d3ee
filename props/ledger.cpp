#include "props/ledger.h"

#include <fmt/format.h>

#include <numeric>

#include "props/coverage.h"
#include "props/report.h"

namespace exactk::props {
namespace {

using oracle::Verdict;

constexpr size_t kReplaysKept = 10;

std::string counts_text(const Ledger::Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text;
}

}  // namespace

void Ledger::add(const Outcome& o) {
  ++verdicts_[static_cast<size_t>(o.verdict)];
  launches_ += o.launches;
  rows_ += o.rows_judged;
  rows_cut_ += o.rows_cut;
  // What a kernel got instead differs from case to case; what it takes does not.
  const std::string takes = o.reason.substr(0, o.reason.find("; got "));
  if (o.verdict == Verdict::kSkipped) ++skips_[fmt::format("{}: {}", o.kernel, takes)];
  if (oracle::is_failure(o.verdict) && failing_replays_.size() < kReplaysKept)
    failing_replays_.push_back(replay_line(o));
  if (!is_judged(o)) return;
  judged_cases_.insert(fixtures::print_case(o.value));
  ++axes_["kernel"][o.kernel];
  ++axes_["wave"][fmt::format("{}", o.device.wave_width)];
  const bool session = o.value.session.count > 0;
  ++axes_["launch"][session ? "session" : std::string(fixtures::name(o.value.launch))];
  ++axes_["pattern"][std::string(fixtures::name(o.value.pattern.kind))];
  ++axes_["lens"][std::string(fixtures::name(o.value.lens.kind))];
  if (!o.path.empty()) ++axes_["path"][o.path];
  if (!o.graph.empty()) ++axes_["graph"][o.graph];
}

int64_t Ledger::judged() const {
  return count(Verdict::kPassed) + count(Verdict::kWeak) + count(Verdict::kFailed);
}

bool Ledger::any_failure() const {
  return count(Verdict::kFailed) + count(Verdict::kUnsupported) + count(Verdict::kInvalid) > 0;
}

const Ledger::Counts& Ledger::by(const std::string& axis) const {
  static const Counts kNone;
  const auto found = axes_.find(axis);
  return found == axes_.end() ? kNone : found->second;
}

std::string Ledger::summary() const {
  std::string text = fmt::format(
      "judged   {} cases in {} runs, {} launches, {} rows ({} with more columns than k)\n", cases(),
      judged(), launches_, rows_, rows_cut_);
  for (const auto& [axis, counts] : axes_)
    text += fmt::format("{:<8} {}\n", axis, counts_text(counts));
  for (const auto& [reason, count] : skips_)
    text += fmt::format("skipped  {} x {}\n", count, reason);
  return text;
}

std::string Ledger::totals() const {
  return fmt::format("passed {}, failed {}, weak {}, skipped {}, unsupported {}, invalid {}",
                     count(Verdict::kPassed), count(Verdict::kFailed), count(Verdict::kWeak),
                     count(Verdict::kSkipped), count(Verdict::kUnsupported),
                     count(Verdict::kInvalid));
}

}  // namespace exactk::props
