#include "props/topk_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "oracle/dispatch_policy.h"
#include "oracle/logit_order.h"
#include "oracle/topk.h"

namespace exactk::props {
namespace {

using oracle::FaultKind;

constexpr uint32_t kMinusInf = 0xff800000u;
constexpr uint32_t kLowestFinite = 0xff7fffffu;
constexpr uint32_t kInf = 0x7f800000u;
constexpr int kRowsCompared = 64;  // failing and passing rows whose data are looked at

// What a row's data say, apart from any answer.
struct RowFacts {
  int64_t row = 0;
  int64_t draft = 0;
  int64_t start = 0;  // first visible column
  int64_t length = 0;
  bool has_nan = false;
  int32_t active_blocks = 1;
  oracle::TopkCut cut;
};

RowFacts facts_of(const TopkEvidence& e, int64_t row) {
  const TopkProblem& p = e.problem;
  std::vector<uint32_t> scratch;
  const std::span<const uint32_t> logits = visible_row(p, e.inputs, row, scratch);
  RowFacts facts;
  facts.row = row;
  facts.draft = p.prefill ? 0 : row % p.c.next_n;
  facts.start = e.inputs.windows[static_cast<size_t>(row)].start;
  facts.length = static_cast<int64_t>(logits.size());
  facts.has_nan = std::any_of(logits.begin(), logits.end(),
                              [](uint32_t bits) { return (bits & 0x7fffffffu) > kInf; });
  facts.cut = oracle::topk_cut(logits, p.k);
  if (e.inputs.recorded) return facts;  // by a kernel of which nothing is known
  const oracle::TopkShape shape = topk_shape(p);
  facts.active_blocks = oracle::active_blocks(
      oracle::topk_dispatch(oracle::TopkMethod::kAuto, shape), shape, facts.length);
  return facts;
}

struct Compared {
  std::vector<RowFacts> failing;
  std::vector<RowFacts> passing;
};

Compared compare_rows(const TopkEvidence& e) {
  Compared compared;
  std::unordered_set<int64_t> failing;
  for (const RowFailure& failure : e.judgement.failures) failing.insert(failure.row);
  for (const RowFailure& failure : e.judgement.failures) {
    if (compared.failing.size() == kRowsCompared) break;
    compared.failing.push_back(facts_of(e, failure.row));
  }
  // With more failing rows than were kept, an unlisted row proves nothing; then nothing counts as
  // passing.
  if (e.judgement.failing_rows > static_cast<int64_t>(e.judgement.failures.size())) return compared;
  for (int64_t row = 0; row < e.problem.rows && compared.passing.size() < kRowsCompared; ++row) {
    if (failing.count(row) == 0) compared.passing.push_back(facts_of(e, row));
  }
  return compared;
}

using Trait = std::function<bool(const RowFacts&)>;

struct NamedTrait {
  std::string text;
  Trait holds;
};

std::vector<NamedTrait> traits(const TopkEvidence& e, const Compared& compared) {
  std::vector<NamedTrait> list;
  const int64_t k = e.problem.k;
  if (e.step > 0) {
    const char* when = e.replayed ? "at capture" : "in the first launch";
    const int64_t longest = e.first_inputs.longest();
    list.push_back({fmt::format("longer than the longest row {} ({})", when, longest),
                    [longest](const RowFacts& f) { return f.length > longest; }});
  }
  list.push_back({"length = 0", [](const RowFacts& f) { return f.length == 0; }});
  list.push_back({"length < k", [k](const RowFacts& f) { return f.length < k; }});
  list.push_back({"length = k", [k](const RowFacts& f) { return f.length == k; }});
  list.push_back({"fewer than k logits above -inf (the cut falls among the -inf)",
                  [k](const RowFacts& f) { return f.length > k && f.cut.kth_bits == kMinusInf; }});
  list.push_back({"the k-th value at -FLT_MAX", [k](const RowFacts& f) {
                    return f.length > k && f.cut.kth_bits == kLowestFinite;
                  }});
  list.push_back({"NaN in view", [](const RowFacts& f) { return f.has_nan; }});
  list.push_back(
      {"ties that must lose at the cut", [](const RowFacts& f) { return f.cut.overhang > 0; }});
  list.push_back(
      {"more than one active block", [](const RowFacts& f) { return f.active_blocks > 1; }});
  list.push_back({"start > 0", [](const RowFacts& f) { return f.start > 0; }});
  list.push_back({"draft > 0", [](const RowFacts& f) { return f.draft > 0; }});
  list.push_back({"length > k", [k](const RowFacts& f) { return f.length > k; }});
  if (!compared.failing.empty()) {
    const auto by_length = [](const RowFacts& a, const RowFacts& b) { return a.length < b.length; };
    const int64_t shortest =
        std::min_element(compared.failing.begin(), compared.failing.end(), by_length)->length;
    list.push_back({fmt::format("length >= {}", shortest),
                    [shortest](const RowFacts& f) { return f.length >= shortest; }});
    const int64_t first = compared.failing.front().row;
    list.push_back({fmt::format("number >= {}", first),
                    [first](const RowFacts& f) { return f.row >= first; }});
  }
  return list;
}

// " of 24 rows; only rows with ..."
std::string what_rows(const TopkEvidence& e) {
  const Compared compared = compare_rows(e);
  std::string text = fmt::format("{} of {} rows", e.judgement.failing_rows, e.problem.rows);
  const bool all = e.judgement.failing_rows == e.problem.rows;
  std::vector<std::string> common;
  for (const NamedTrait& trait : traits(e, compared)) {
    if (common.size() == 2) break;
    const bool every = std::all_of(compared.failing.begin(), compared.failing.end(), trait.holds);
    const bool none = std::none_of(compared.passing.begin(), compared.passing.end(), trait.holds);
    if (!every) continue;
    // Where no row passes, only the traits that are about special data say anything.
    const bool telling = trait.text.find(">=") == std::string::npos && trait.text != "length > k";
    if (all ? telling : none && !compared.passing.empty()) common.push_back(trait.text);
  }
  if (common.empty()) return text;
  const std::string what = common[0].starts_with("longer") ? common[0] : "with " + common[0];
  return text + (all ? fmt::format(", all of them {}", what) : fmt::format("; only rows {}", what));
}

// What all the bad slots share.
struct SlotFacts {
  int64_t slots = 0;
  bool all_past_selected = true;  // every bad slot should hold -1
  bool all_inside = true;         // every bad slot should hold an index
  oracle::FaultSet kinds;
  int64_t missing = 0;
  int64_t missing_lowest = INT64_MAX;  // lowest column that is missing anywhere
  bool missing_all_minus_inf = true;
};

SlotFacts slot_facts(const TopkEvidence& e) {
  SlotFacts facts;
  std::vector<uint32_t> scratch;
  for (const RowFailure& failure : e.judgement.failures) {
    const std::span<const uint32_t> logits = visible_row(e.problem, e.inputs, failure.row, scratch);
    const int64_t selected = std::min<int64_t>(e.problem.k, static_cast<int64_t>(logits.size()));
    facts.slots += failure.judgement.bad_slots;
    facts.kinds.merge(failure.judgement.faults);
    for (const oracle::BadSlot& slot : failure.judgement.bad) {
      if (slot.position < selected) facts.all_past_selected = false;
      if (slot.position >= selected) facts.all_inside = false;
    }
    facts.missing += failure.judgement.missing_columns;
    for (const int64_t column : failure.judgement.missing) {
      facts.missing_lowest = std::min(facts.missing_lowest, column);
      if (logits[static_cast<size_t>(column)] != kMinusInf) facts.missing_all_minus_inf = false;
    }
  }
  return facts;
}

bool cut_among_minus_inf(const TopkEvidence& e) {
  std::vector<uint32_t> scratch;
  for (const RowFailure& failure : e.judgement.failures) {
    const std::span<const uint32_t> logits = visible_row(e.problem, e.inputs, failure.row, scratch);
    const oracle::TopkCut cut = oracle::topk_cut(logits, e.problem.k);
    if (cut.kth_bits != kMinusInf && cut.kth_bits != kLowestFinite) return false;
    if (&failure - e.judgement.failures.data() >= kRowsCompared) break;
  }
  return true;
}

std::string what_slots(const TopkEvidence& e) {
  const SlotFacts facts = slot_facts(e);
  if (facts.slots == 0 && facts.missing == 0) return "slots between the output rows were written";
  if (facts.slots > 0 && facts.all_past_selected && facts.missing == 0) {
    const bool untouched = facts.kinds.has(FaultKind::kNeverWritten);
    return fmt::format("bad positions are all >= length: {}",
                       untouched ? "the tail is not written" : "the tail does not hold -1");
  }
  const int64_t longest_at_first = e.first_inputs.longest();
  if (e.step > 0 && facts.missing > 0 && facts.missing_lowest >= longest_at_first) {
    return fmt::format(
        "no column past {}, the longest length {}, is looked at: a host decision is frozen",
        longest_at_first, e.replayed ? "at capture" : "in the first launch");
  }
  if (facts.kinds.has(FaultKind::kSentinelInside) && facts.all_inside) {
    const bool masked = facts.missing_all_minus_inf && cut_among_minus_inf(e);
    return fmt::format(
        "-1 stands in {} slots that must hold a column{}", facts.slots,
        masked ? ", and only masked (-inf) columns are lost: padding beats -inf" : "");
  }
  if (facts.kinds.has(FaultKind::kNeverWritten) && facts.all_inside)
    return "slots that must hold a column are not written";
  if (facts.kinds.has(FaultKind::kOutOfRange)) return "indices outside the row are returned";
  if (facts.kinds.has(FaultKind::kDuplicate)) return "columns are selected twice";
  if (facts.kinds.has(FaultKind::kMissingWinner)) {
    return fmt::format("{} better logits lose to worse ones, the lowest in column {}",
                       facts.missing, facts.missing_lowest);
  }
  if (facts.kinds.has(FaultKind::kOrder))
    return "the set is right, its order is not the promised one";
  return fmt::format("{} bad slots", facts.slots);
}

}  // namespace

std::string diagnose(const TopkEvidence& e) {
  return fmt::format("{}; {}", what_rows(e), what_slots(e));
}

}  // namespace exactk::props
