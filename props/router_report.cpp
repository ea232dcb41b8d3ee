#include "props/router_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "fixtures/session.h"

namespace exactk::props {
namespace {

using oracle::BadChoice;
using oracle::FaultKind;

constexpr size_t kTokensShown = 3;
constexpr size_t kSlotsShown = 8;

std::string bits_text(float value) {
  return fmt::format("{} (0x{:08x})", value, std::bit_cast<uint32_t>(value));
}

std::string expert_text(const RouterEvidence& e, int64_t token, int32_t expert) {
  const oracle::RouterRow row = router_row(e.problem, e.inputs, token);
  const auto at = static_cast<size_t>(expert);
  if (expert < 0 || at >= row.logits.size()) return fmt::format("expert {}", expert);
  std::string text =
      fmt::format("expert {:<4} of group {:<3} logit {}", expert,
                  expert / (e.problem.c.experts / e.problem.c.groups), bits_text(row.logits[at]));
  if (!row.bias.empty()) text += fmt::format(" bias {}", bits_text(row.bias[at]));
  return text;
}

std::string why_text(const RouterEvidence& e, const BadChoice& bad) {
  switch (bad.kind) {
    case FaultKind::kOutOfRange:
      return fmt::format("outside [0, {}) (out of range)", e.problem.c.experts);
    case FaultKind::kDuplicate:
      return "stands in a slot before (duplicate)";
    case FaultKind::kIntruder:
      return "certainly not among the best (intruder)";
    case FaultKind::kWrongValue:
      return fmt::format("weight {}, want {} to {} (wrong value)", bad.got, bad.want.low,
                         bad.want.high);
    default:
      return std::string(oracle::name(bad.kind));
  }
}

std::string token_text(const RouterEvidence& e, const JudgedToken& token) {
  std::string text = fmt::format("token {:<4}", token.token);
  if (const int64_t launches = fixtures::launch_count(e.problem.c); launches > 1)
    text += fmt::format("; launch {} of {}", e.step + 1, launches);
  if (e.variant > 0) text += "; under the second poison";
  text += "\n";
  size_t shown = 0;
  for (const BadChoice& bad : token.judgement.bad) {
    if (++shown > kSlotsShown) break;
    if (bad.slot < 0) {
      text += fmt::format("  missing       {} (missing winner)\n",
                          expert_text(e, token.token, bad.expert));
    } else {
      text += fmt::format("  slot {:<4} BAD {}  {}\n", bad.slot,
                          expert_text(e, token.token, bad.expert), why_text(e, bad));
    }
  }
  if (token.judgement.bad.size() > kSlotsShown)
    text += fmt::format("  ... {} differences in all\n", token.judgement.bad.size());
  if (token.gap_writes > 0)
    text += fmt::format("  {} elements of the gap behind the row were written\n", token.gap_writes);
  return text;
}

std::vector<JudgedToken> failing(const RouterEvidence& e) {
  std::vector<JudgedToken> tokens;
  std::copy_if(e.tokens.begin(), e.tokens.end(), std::back_inserter(tokens),
               [](const JudgedToken& token) { return !token.ok(); });
  return tokens;
}

int64_t count(const std::vector<JudgedToken>& tokens, FaultKind kind) {
  int64_t total = 0;
  for (const JudgedToken& token : tokens) {
    total += std::count_if(token.judgement.bad.begin(), token.judgement.bad.end(),
                           [&](const BadChoice& bad) { return bad.kind == kind; });
  }
  return total;
}

// By which all wrong weights are off, if by the same factor.
std::string common_factor(const std::vector<JudgedToken>& tokens) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const JudgedToken& token : tokens) {
    for (const BadChoice& bad : token.judgement.bad) {
      if (bad.kind != FaultKind::kWrongValue) continue;
      const double factor = bad.got / ((bad.want.low + bad.want.high) / 2);
      if (!std::isfinite(factor)) return "";
      least = std::min(least, factor);
      most = std::max(most, factor);
    }
  }
  const bool same = std::abs(most - least) <= 1e-4 * std::abs(most);
  return same ? fmt::format(", all by the factor {:.6g}", most) : "";
}

struct Kind {
  FaultKind kind;
  const char* text;
};
constexpr Kind kKinds[] = {
    {FaultKind::kOutOfRange, "slots hold no expert"},
    {FaultKind::kDuplicate, "slots repeat an expert"},
    {FaultKind::kIntruder, "slots hold an expert that is certainly not among the best"},
    {FaultKind::kMissingWinner, "experts are missing"},
    {FaultKind::kWrongValue, "weights are wrong"}};

}  // namespace

std::string diagnose(const RouterEvidence& e) {
  const std::vector<JudgedToken> bad = failing(e);
  std::string text = fmt::format("{} of {} tokens", bad.size(), e.tokens.size());
  if (bad.size() < e.tokens.size()) text += fmt::format(", the first is {}", bad.front().token);
  for (const Kind& kind : kKinds) {
    const int64_t found = count(bad, kind.kind);
    if (found == 0) continue;
    text += fmt::format("; {} {}", found, kind.text);
    if (kind.kind == FaultKind::kWrongValue) text += common_factor(bad);
  }
  int64_t writes = 0;
  for (const JudgedToken& token : bad) writes += token.gap_writes;
  if (writes > 0)
    text += fmt::format("; {} elements between rows that must stay untouched were written", writes);
  return text;
}

std::string router_anatomy(const RouterEvidence& e) {
  const std::vector<JudgedToken> bad = failing(e);
  std::string text;
  for (size_t i = 0; i < std::min(kTokensShown, bad.size()); ++i) text += token_text(e, bad[i]);
  if (bad.size() > kTokensShown)
    text += fmt::format("...     {} failing tokens in all\n", bad.size());
  return text;
}

std::string router_broke(const RouterEvidence& e) {
  const std::vector<JudgedToken> bad = failing(e);
  const auto breaks = [&](FaultKind kind) { return count(bad, kind) > 0; };
  for (const Kind& kind : kKinds) {
    if (kind.kind != FaultKind::kWrongValue && breaks(kind.kind)) return "contract of the choice";
  }
  return breaks(FaultKind::kWrongValue) ? "contract of the weights" : "memory between the rows";
}

}  // namespace exactk::props
