#include "props/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "fixtures/materialize.h"
#include "oracle/topk.h"
#include "props/build_info.h"

namespace exactk::props {
namespace {

using fixtures::Case;
using oracle::BadSlot;
using oracle::FaultKind;
using oracle::Verdict;

constexpr size_t kRowsShown = 3;
constexpr size_t kSlotsShownEachEnd = 5;
constexpr size_t kMissingShown = 5;

std::string_view heading(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "PASSED";
    case Verdict::kWeak:
      return "WEAK";
    case Verdict::kFailed:
      return "FAILED";
    case Verdict::kSkipped:
      return "SKIPPED";
    case Verdict::kUnsupported:
      return "UNSUPPORTED";
    case Verdict::kInvalid:
      return "INVALID";
  }
  return "?";
}

struct RowView {
  const Case& c;
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
  const bool tail = slot.position >= std::min<int64_t>(v.c.k, length);
  const std::string want = tail ? "want sentinel -1; " : "";
  const int32_t index = v.slots[static_cast<size_t>(slot.position)];
  switch (slot.kind) {
    case FaultKind::kDuplicate:
      return fmt::format("{}column {} is already at pos {} (duplicate)", want, index, slot.other);
    case FaultKind::kIntruder: {
      const oracle::TopkCut cut = oracle::topk_cut(v.logits, v.c.k);
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

std::string row_heading(const Case& c, const Evidence& e, const RowView& v) {
  const int64_t length = static_cast<int64_t>(v.logits.size());
  const int64_t selected = std::min(c.k, length);
  std::string text = fmt::format(
      "row {:<4}request {}, draft {}: length {}, k {} -> {} selected, {} sentinel{} expected",
      v.row, v.row / c.next_n, v.row % c.next_n, length, c.k, selected, c.k - selected,
      c.k - selected == 1 ? "" : "s");
  if (c.replays > 0) text += fmt::format("; launch {} of {}", e.step + 1, c.replays + 1);
  if (e.variant > 0) text += "; under the second poison";
  return text + "\n";
}

std::string row_text(const Case& c, const Evidence& e, const RowFailure& failure) {
  std::vector<uint32_t> scratch;
  const size_t at = static_cast<size_t>(failure.row * fixtures::out_stride_elems(c));
  const RowView v{c, failure.row, visible_row(c, *e.inputs, failure.row, scratch),
                  std::span(e.output).subspan(at, static_cast<size_t>(c.k)), failure.judgement};
  std::string text = row_heading(c, e, v);
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
    if ((broken & mode) != 0) return std::string(oracle::name(mode));
  }
  return "memory outside the slots";
}

std::string device_text(const kernels::DeviceInfo& device) {
  if (device.kind == "host") return fmt::format("host wave={}", device.wave_width);
  return fmt::format("{}:{} {} wave={}", device.kind, device.index, device.arch, device.wave_width);
}

}  // namespace

std::string logit_text(uint32_t bits) {
  return fmt::format("{} (0x{:08x})", std::bit_cast<float>(bits), bits);
}

std::string modes_text(uint32_t modes) {
  std::string text;
  const auto add = [&](oracle::ContractMode mode) {
    if ((modes & mode) != 0)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", oracle::name(mode));
  };
  // Prefix says more than set, and the orders more than prefix.
  const bool ordered = (modes & (oracle::kOrdered | oracle::kStable)) != 0;
  if (!ordered && (modes & oracle::kPrefix) == 0) add(oracle::kSet);
  if (!ordered) add(oracle::kPrefix);
  add(oracle::kOrdered);
  add(oracle::kStable);
  add(oracle::kRepeatable);
  add(oracle::kKernelsOnly);
  return text;
}

std::string replay_line(const Outcome& o) {
  std::string line = fmt::format("exactk replay '{}' --kernel {} --device {}",
                                 fixtures::print_case(o.value), o.kernel, o.device.kind);
  if (o.device.index > 0) line += fmt::format(":{}", o.device.index);
  if (o.device.kind == "host") line += fmt::format(" --wave {}", o.device.wave_width);
  return line;
}

std::string report_text(const Outcome& o) {
  const std::string case_line = fixtures::print_case(o.value);
  std::string text =
      fmt::format("{:<7} {}  {}  contract {}\ncase    {}\n", heading(o.verdict), o.kernel,
                  device_text(o.device), modes_text(o.promised), case_line);
  if (o.evidence) {
    const auto& failures = o.evidence->judgement.failures;
    for (size_t i = 0; i < std::min(kRowsShown, failures.size()); ++i) {
      text += row_text(o.value, *o.evidence, failures[i]);
    }
    if (failures.size() > kRowsShown) {
      text +=
          fmt::format("...     {} failing rows in all; kinds", o.evidence->judgement.failing_rows);
      for (int kind = 0; kind < oracle::kFaultKinds; ++kind) {
        if (o.evidence->judgement.faults.has(static_cast<FaultKind>(kind))) {
          text += fmt::format(" '{}'", oracle::name(static_cast<FaultKind>(kind)));
        }
      }
      text += "\n";
    }
    text += fmt::format("broke   contract {}\n", broken_text(o.evidence->judgement.broken));
  }
  if (!o.reason.empty()) text += fmt::format("why     {}\n", o.reason);
  text += fmt::format("replay  {}\n", replay_line(o));
  text += fmt::format("built   commit {}, {}\n", build_commit(), build_compiler());
  return text;
}

}  // namespace exactk::props
