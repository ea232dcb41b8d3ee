#include "props/attention_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "fixtures/session.h"

namespace exactk::props {
namespace {

using oracle::AttentionPart;
using oracle::BadAttention;
using oracle::Band;
using oracle::BandKind;

constexpr size_t kTokensShown = 3;
constexpr size_t kElementsShown = 6;

std::string_view part_name(AttentionPart part) {
  switch (part) {
    case AttentionPart::kOut:
      return "out";
    case AttentionPart::kLse:
      return "lse";
    case AttentionPart::kMaxScore:
      return "max_score";
  }
  return "";
}

std::string want_text(const Band& want) {
  if (want.kind == BandKind::kNotFinite) return "NaN or an infinity: a NaN must not be swallowed";
  if (want.is_one_value()) return fmt::format("{:.9g}", want.low);
  return fmt::format("{:.9g} to {:.9g}", want.low, want.high);
}

std::string element_text(const BadAttention& bad) {
  const std::string place = bad.part == AttentionPart::kOut
                                ? fmt::format("[{}][{}][{}]", bad.token, bad.head, bad.column)
                                : fmt::format("[{}][{}]", bad.token, bad.head);
  return fmt::format("  {}{}  BAD  got {:.9g}, want {}\n", part_name(bad.part), place, bad.got,
                     want_text(bad.want));
}

bool all_listed(const AttentionEvidence& e) {
  return e.judgement.bad_elements == std::ssize(e.judgement.bad);
}

struct Trait {
  const char* text;
  std::function<bool(const AttentionEvidence&, int64_t token)> holds;
};

const std::vector<Trait>& traits() {
  static const std::vector<Trait> list = {
      {"without an entry",
       [](const auto& e, int64_t t) { return entries_of(e.problem, e.inputs.in, t).all() == 0; }},
      {"with entries",
       [](const auto& e, int64_t t) { return entries_of(e.problem, e.inputs.in, t).all() > 0; }},
      {"with entries of the extra list",
       [](const auto& e, int64_t t) { return entries_of(e.problem, e.inputs.in, t).extra > 0; }},
      {"of more than one tile of 64 entries",
       [](const auto& e, int64_t t) { return entries_of(e.problem, e.inputs.in, t).all() > 64; }},
      {"of drafts after the first",
       [](const auto& e, int64_t t) { return t % e.problem.c.next_n > 0; }},
      {"of requests after the first",
       [](const auto& e, int64_t t) { return t / e.problem.c.next_n > 0; }},
  };
  return list;
}

std::string which_tokens(const AttentionEvidence& e) {
  const std::vector<int64_t> failing = failing_tokens(e);
  const int64_t tokens = e.problem.shape.tokens;
  if (failing.empty() || !all_listed(e) || std::ssize(failing) == tokens) return "";
  for (const Trait& trait : traits()) {
    bool tells = true;
    for (int64_t token = 0; tells && token < tokens; ++token) {
      tells = trait.holds(e, token) == std::binary_search(failing.begin(), failing.end(), token);
    }
    if (tells) return fmt::format(", exactly those of tokens {}", trait.text);
  }
  return fmt::format(", the first of token {}", failing.front());
}

std::string heading(const AttentionEvidence& e, int64_t token) {
  const TokenEntries entries = entries_of(e.problem, e.inputs.in, token);
  std::string text = fmt::format("token {:<5}{} entries", token, entries.main);
  if (e.problem.shape.extra.k > 0) text += fmt::format(" and {} extra ones", entries.extra);
  if (const int64_t launches = fixtures::launch_count(e.problem.c); launches > 1)
    text += fmt::format("; launch {} of {}", e.step + 1, launches);
  if (e.variant > 0) text += "; under the second poison";
  return text + "\n";
}

}  // namespace

std::vector<int64_t> failing_tokens(const AttentionEvidence& e) {
  std::vector<int64_t> tokens;
  for (const BadAttention& bad : e.judgement.bad) tokens.push_back(bad.token);
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

std::string diagnose(const AttentionEvidence& e) {
  if (!e.judgement.invalid.empty())
    return fmt::format("the launch cannot be judged: {}", e.judgement.invalid);
  std::string text;
  if (e.judgement.bad_elements > 0) {
    text = fmt::format("{} of {} rows of a token and head{}", e.judgement.failing_rows,
                       e.judgement.rows, which_tokens(e));
    std::string separator = "; wrong: ";
    for (const AttentionPart part :
         {AttentionPart::kOut, AttentionPart::kLse, AttentionPart::kMaxScore}) {
      const auto listed = std::count_if(e.judgement.bad.begin(), e.judgement.bad.end(),
                                        [&](const BadAttention& bad) { return bad.part == part; });
      if (listed == 0) continue;
      text += fmt::format("{}{}{} of {}", separator, all_listed(e) ? "" : "at least ", listed,
                          part_name(part));
      separator = ", ";
    }
  }
  if (e.changed_gaps > 0) {
    text += fmt::format("{}{} elements between tokens of out were written",
                        text.empty() ? "" : "; ", e.changed_gaps);
  }
  return text;
}

std::string attention_anatomy(const AttentionEvidence& e) {
  std::string text;
  const std::vector<int64_t> failing = failing_tokens(e);
  for (size_t i = 0; i < std::min(kTokensShown, failing.size()); ++i) {
    text += heading(e, failing[i]);
    size_t shown = 0;
    for (const BadAttention& bad : e.judgement.bad) {
      if (bad.token != failing[i] || ++shown > kElementsShown) continue;
      text += element_text(bad);
    }
    if (shown > kElementsShown)
      text += fmt::format("  ... {} bad elements listed of this token\n", shown);
  }
  if (failing.size() > kTokensShown)
    text += fmt::format("...     {} failing tokens listed\n", failing.size());
  return text;
}

}  // namespace exactk::props
