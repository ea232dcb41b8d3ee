#include "props/logits_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "fixtures/session.h"

namespace exactk::props {
namespace {

using oracle::BadLogit;
using oracle::FaultKind;

constexpr size_t kRowsShown = 3;
constexpr size_t kColumnsShown = 8;
constexpr double kSameRatio = 1e-3;

// What a row is, apart from any answer.
struct RowFacts {
  int64_t request = 0;
  int64_t draft = 0;
  LogitsRow columns;
  int64_t block_size = 0;  // 0: keys in one matrix
  bool last_draft = false;
};

RowFacts facts_of(const LogitsEvidence& e, int64_t row) {
  const int64_t next_n = e.problem.c.next_n;
  RowFacts facts{row / next_n, row % next_n, {}, 0, row % next_n == next_n - 1};
  facts.columns = logits_rows(e.problem, e.step)[static_cast<size_t>(row)];
  if (e.problem.shape.paged) facts.block_size = e.problem.c.block_size;
  return facts;
}

struct Trait {
  const char* text;
  std::function<bool(const RowFacts&)> holds;
};

int64_t length_of(const RowFacts& f) {
  return f.columns.end - f.columns.begin;
}

const std::vector<Trait>& traits() {
  static const std::vector<Trait> list = {
      {"without columns", [](const RowFacts& f) { return length_of(f) == 0; }},
      {"with columns", [](const RowFacts& f) { return length_of(f) > 0; }},
      {"before the last draft", [](const RowFacts& f) { return !f.last_draft; }},
      {"that end with a block",
       [](const RowFacts& f) {
         return f.block_size > 0 && length_of(f) > 0 && length_of(f) % f.block_size == 0;
       }},
      {"that end inside a block",
       [](const RowFacts& f) { return f.block_size > 0 && length_of(f) % f.block_size != 0; }},
      {"that do not begin at column 0", [](const RowFacts& f) { return f.columns.begin > 0; }},
      {"of requests after the first", [](const RowFacts& f) { return f.request > 0; }},
  };
  return list;
}

std::string what_rows(const LogitsEvidence& e) {
  const std::vector<int64_t>& failing = e.judgement.failing_rows;
  const bool listed = e.judgement.failing_row_count == std::ssize(failing);
  std::string text =
      fmt::format("{} of {} rows", e.judgement.failing_row_count, e.problem.shape.rows);
  if (!listed || std::ssize(failing) == e.problem.shape.rows) return text;
  for (const Trait& trait : traits()) {
    bool tells = true;
    for (int64_t row = 0; tells && row < e.problem.shape.rows; ++row) {
      const bool fails = std::binary_search(failing.begin(), failing.end(), row);
      tells = trait.holds(facts_of(e, row)) == fails;
    }
    if (tells) return text + fmt::format(", exactly those {}", trait.text);
  }
  return text + fmt::format(", the first is {}", failing.front());
}

// Whether every wrong number is the same multiple of what it should be.
bool is_multiple(const std::vector<BadLogit>& bad, double& ratio) {
  ratio = 0;
  for (const BadLogit& b : bad) {
    if (b.want == 0 || !std::isfinite(b.want) || !std::isfinite(b.got)) return false;
    const double here = b.got / b.want;
    if (ratio == 0) ratio = here;
    if (std::fabs(here - ratio) > kSameRatio * std::fabs(ratio)) return false;
  }
  return ratio != 0 && std::fabs(ratio - 1) > kSameRatio;
}

std::string what_columns(const LogitsEvidence& e) {
  const oracle::LogitsJudgement& j = e.judgement;
  const auto all = [&](auto holds) { return std::all_of(j.bad.begin(), j.bad.end(), holds); };
  const auto all_are = [&](FaultKind kind) {
    return all([kind](const BadLogit& b) { return b.kind == kind; });
  };
  const int64_t width = e.problem.shape.width;
  if (all_are(FaultKind::kGuardBroken) && all([&](const BadLogit& b) { return b.column >= width; }))
    return fmt::format("{} elements between rows were written", j.bad_elements);
  if (all_are(FaultKind::kGuardBroken))
    return fmt::format("{} columns that must stay untouched were written", j.bad_elements);
  if (all_are(FaultKind::kSentinelMissing))
    return fmt::format("{} columns hold something else than -infinity", j.bad_elements);
  if (all_are(FaultKind::kNeverWritten))
    return fmt::format("{} columns are never written", j.bad_elements);
  if (all([](const BadLogit& b) { return std::isnan(b.got); }))
    return fmt::format("{} logits are NaN", j.bad_elements);
  if (all([](const BadLogit& b) { return std::isnan(b.want); }))
    return fmt::format("{} logits lack their NaN", j.bad_elements);
  double ratio = 0;
  if (is_multiple(j.bad, ratio))
    return fmt::format("{} logits are {:.4g} times what they should be", j.bad_elements, ratio);
  return fmt::format("{} logits are wrong", j.bad_elements);
}

std::string heading(const LogitsEvidence& e, int64_t row) {
  const RowFacts facts = facts_of(e, row);
  std::string text = fmt::format("row {:<5}", row);
  if (e.problem.shape.paged)
    text += fmt::format("request {}, draft {}: ", facts.request, facts.draft);
  text += fmt::format("columns {} to {} of {}", facts.columns.begin, facts.columns.end,
                      e.problem.shape.width);
  if (const int64_t launches = fixtures::launch_count(e.problem.c); launches > 1)
    text += fmt::format("; launch {} of {}", e.step + 1, launches);
  if (e.variant > 0) text += "; under the second poison";
  return text + "\n";
}

std::string column_text(const BadLogit& bad) {
  const char* before = bad.kind == FaultKind::kGuardBroken ? "what it held before, " : "";
  const std::string off = bad.bound > 0 ? fmt::format(" +- {:.3g}", bad.bound) : "";
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(bad.got));
  return fmt::format("  column {:<6} BAD  got {:.9g} (0x{:08x}), want {}{:.9g}{} ({})\n",
                     bad.column, bad.got, bits, before, bad.want, off, oracle::name(bad.kind));
}

}  // namespace

std::string diagnose(const LogitsEvidence& e) {
  return what_rows(e) + "; " + what_columns(e);
}

std::string logits_anatomy(const LogitsEvidence& e) {
  std::string text;
  const std::vector<int64_t>& failing = e.judgement.failing_rows;
  for (size_t i = 0; i < std::min(kRowsShown, failing.size()); ++i) {
    text += heading(e, failing[i]);
    size_t shown = 0;
    for (const BadLogit& bad : e.judgement.bad) {
      if (bad.row == failing[i] && ++shown <= kColumnsShown) text += column_text(bad);
    }
    if (shown > kColumnsShown)
      text += fmt::format("  ... {} bad columns listed in this row\n", shown);
  }
  if (e.judgement.failing_row_count > static_cast<int64_t>(kRowsShown))
    text += fmt::format("...     {} failing rows in all\n", e.judgement.failing_row_count);
  return text;
}

}  // namespace exactk::props
