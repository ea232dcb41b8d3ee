#include "props/topk_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "fixtures/session.h"
#include "oracle/topk.h"

namespace exactk::props {
namespace {

using oracle::BadSlot;
using oracle::FaultKind;

constexpr size_t kRowsShown = 3;
constexpr size_t kSlotsShownEachEnd = 5;
constexpr size_t kMissingShown = 5;

struct RowView {
  const TopkProblem& p;
  int64_t row;
  std::span<const uint32_t> logits;
  std::span<const int32_t> slots;
  const oracle::RowJudgement& judgement;
};

std::string index_text(const RowView& v, int64_t position) {
  const int32_t index = v.slots[static_cast<size_t>(position)];
  const bool in_row = index >= 0 && index < static_cast<int64_t>(v.logits.size());
  std::string text = fmt::format("index {:<9}", index);
  if (in_row) text += fmt::format(" logit {}", logit_text(v.logits[static_cast<size_t>(index)]));
  return text;
}

std::string want_text(const RowView& v, const BadSlot& slot) {
  const int64_t length = static_cast<int64_t>(v.logits.size());
  const bool tail = slot.position >= std::min<int64_t>(v.p.k, length);
  const std::string want = tail ? "want sentinel -1; " : "";
  const int32_t index = v.slots[static_cast<size_t>(slot.position)];
  switch (slot.kind) {
    case FaultKind::kDuplicate:
      return fmt::format("{}column {} is already at pos {} (duplicate)", want, index, slot.other);
    case FaultKind::kIntruder: {
      const oracle::TopkCut cut = oracle::topk_cut(v.logits, v.p.k);
      return fmt::format("below the k-th value {} (intruder)", logit_text(cut.kth_bits));
    }
    case FaultKind::kOutOfRange:
      return fmt::format("{}outside [0, {}) (out of range)", want, length);
    case FaultKind::kSentinelInside:
      return "want a column, got the sentinel (sentinel inside)";
    case FaultKind::kSentinelMissing:
      return "want sentinel -1 (sentinel missing)";
    case FaultKind::kNeverWritten:
      return fmt::format("{}still what it was before the launch (never written)",
                         tail ? want : "want a column; ");
    case FaultKind::kOrder:
      return fmt::format("out of order with pos {}", slot.other);
    default:
      return std::string(oracle::name(slot.kind));
  }
}

std::string row_heading(const TopkEvidence& e, const RowView& v) {
  const fixtures::Case& c = v.p.c;
  const int64_t length = static_cast<int64_t>(v.logits.size());
  const int64_t selected = std::min(v.p.k, length);
  const size_t at = static_cast<size_t>(v.row);
  const std::string whose =
      v.p.prefill
          ? fmt::format("columns from {} to {}", e.inputs.row_starts[at], e.inputs.row_ends[at])
          : fmt::format("request {}, draft {}", v.row / c.next_n, v.row % c.next_n);
  std::string text = fmt::format(
      "row {:<4}{}: length {}, k {} -> {} selected, {} sentinel{} expected", v.row, whose, length,
      v.p.k, selected, v.p.k - selected, v.p.k - selected == 1 ? "" : "s");
  if (const int64_t launches = fixtures::launch_count(c); launches > 1)
    text += fmt::format("; launch {} of {}", e.step + 1, launches);
  if (e.variant > 0) text += "; under the second poison";
  return text + "\n";
}

std::string row_text(const TopkEvidence& e, const RowFailure& failure) {
  const TopkProblem& p = e.problem;
  std::vector<uint32_t> scratch;
  const size_t at = static_cast<size_t>(failure.row * p.out_stride);
  const auto slots = e.output.subspan(at, static_cast<size_t>(p.k));
  const int64_t start = e.inputs.windows[static_cast<size_t>(failure.row)].start;
  const std::vector<int32_t> relative =
      oracle::relative_to_row(slots, p.absolute ? start : 0);  // as they were judged
  const RowView v{p, failure.row, visible_row(p, e.inputs, failure.row, scratch), relative,
                  failure.judgement};
  std::string text = row_heading(e, v);
  const std::vector<BadSlot>& bad = failure.judgement.bad;
  if (!bad.empty() && bad.front().position > 0) {
    const int64_t good = bad.front().position - 1;
    text += fmt::format("  pos {:<6} ok   {}\n", good, index_text(v, good));
  }
  for (size_t i = 0; i < bad.size(); ++i) {
    const bool first = i < kSlotsShownEachEnd;
    const bool last = i + kSlotsShownEachEnd >= bad.size();
    if (i == kSlotsShownEachEnd && !last) {
      text += fmt::format("  ... {} bad slots in all\n", failure.judgement.bad_slots);
    }
    if (!first && !last) continue;
    text += fmt::format("  pos {:<6} BAD  {}  {}\n", bad[i].position,
                        index_text(v, bad[i].position), want_text(v, bad[i]));
  }
  for (size_t i = 0; i < std::min(kMissingShown, failure.judgement.missing.size()); ++i) {
    const int64_t column = failure.judgement.missing[i];
    text += fmt::format("  missing         column {:<8} logit {} (missing winner)\n", column,
                        logit_text(v.logits[static_cast<size_t>(column)]));
  }
  if (failure.judgement.missing_columns > static_cast<int64_t>(kMissingShown)) {
    text += fmt::format("  ... {} missing in all\n", failure.judgement.missing_columns);
  }
  return text;
}

// The weakest broken mode says most: what breaks the set breaks every stricter mode too.
std::string broken_text(uint32_t broken) {
  for (const auto mode :
       {oracle::kSet, oracle::kPrefix, oracle::kOrdered, oracle::kStable, oracle::kRepeatable}) {
    if ((broken & mode) != 0) return fmt::format("contract {}", oracle::name(mode));
  }
  return "memory outside the slots";
}

}  // namespace

std::string logit_text(uint32_t bits) {
  return fmt::format("{} (0x{:08x})", std::bit_cast<float>(bits), bits);
}

std::string topk_anatomy(const TopkEvidence& e) {
  std::string text;
  const std::vector<RowFailure>& failures = e.judgement.failures;
  for (size_t i = 0; i < std::min(kRowsShown, failures.size()); ++i)
    text += row_text(e, failures[i]);
  if (failures.size() <= kRowsShown) return text;
  text += fmt::format("...     {} failing rows in all; kinds", e.judgement.failing_rows);
  for (int kind = 0; kind < oracle::kFaultKinds; ++kind) {
    if (e.judgement.faults.has(static_cast<FaultKind>(kind)))
      text += fmt::format(" '{}'", oracle::name(static_cast<FaultKind>(kind)));
  }
  return text + "\n";
}

std::string topk_broke(const TopkEvidence& e) {
  return broken_text(e.judgement.broken);
}

}  // namespace exactk::props
