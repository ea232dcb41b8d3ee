#include "props/index_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "fixtures/session.h"

namespace exactk::props {
namespace {

using oracle::BadElement;
using oracle::FaultKind;

constexpr size_t kTokensShown = 3;
constexpr size_t kElementsShown = 8;

// What a token is, apart from any answer.
struct TokenFacts {
  int64_t token = 0;
  bool covered = true;  // by a request
  int64_t request = 0;
  int64_t position = 0;  // -1: not known
  bool valid = true;
};

TokenFacts facts_of(const IndexEvidence& e, int64_t token) {
  const fixtures::IndexInputs& in = e.inputs;
  const size_t at = static_cast<size_t>(token);
  TokenFacts facts;
  facts.token = token;
  facts.covered = token < in.covered;
  facts.position = at < in.positions.size() ? in.positions[at] : -1;
  facts.valid = at >= in.token_valid.size() || in.token_valid[at] != 0;
  if (at < in.token_to_req.size()) facts.request = in.token_to_req[at];
  if (in.query_start_loc.empty() || !facts.covered) return facts;
  const int64_t global = in.query_start_loc.front() + token;
  const auto past = std::upper_bound(in.query_start_loc.begin(), in.query_start_loc.end(), global);
  facts.request = past - in.query_start_loc.begin() - 1;
  const size_t request = static_cast<size_t>(facts.request);
  facts.position = in.seq_lens[request] - (in.query_start_loc[request + 1] - global);
  return facts;
}

std::string heading(const IndexEvidence& e, int64_t token) {
  const TokenFacts facts = facts_of(e, token);
  std::string text = fmt::format("token {:<5}", token);
  if (!facts.covered) {
    text += "of no request";
  } else {
    text += fmt::format("request {}", facts.request);
    const bool placed = !e.inputs.positions.empty() || !e.inputs.query_start_loc.empty();
    if (placed) text += fmt::format(", position {}", facts.position);
  }
  if (!facts.valid) text += ", not valid";
  if (const int64_t launches = fixtures::launch_count(e.problem.c); launches > 1)
    text += fmt::format("; launch {} of {}", e.step + 1, launches);
  if (e.variant > 0) text += "; under the second poison";
  return text + "\n";
}

std::string element_text(const std::string& tensor, const BadElement& bad) {
  const char* before = bad.kind == FaultKind::kGuardBroken ? "what it held before, " : "";
  return fmt::format("  {}[{}][{}]  BAD  got {}, want {}{} ({})\n", tensor, bad.row, bad.slot,
                     bad.got, before, bad.want, oracle::name(bad.kind));
}

bool all_listed(const IndexEvidence& e) {
  return std::all_of(e.tensors.begin(), e.tensors.end(), [](const JudgedTensor& t) {
    return t.judgement.failing_row_count == static_cast<int64_t>(t.judgement.failing_rows.size());
  });
}

struct Trait {
  const char* text;
  std::function<bool(const TokenFacts&)> holds;
};

const std::vector<Trait>& traits() {
  static const std::vector<Trait> list = {
      {"of no request", [](const TokenFacts& f) { return !f.covered; }},
      {"at a negative position", [](const TokenFacts& f) { return f.covered && f.position < 0; }},
      {"that are not valid", [](const TokenFacts& f) { return !f.valid; }},
      {"that are valid", [](const TokenFacts& f) { return f.valid; }},
      {"of requests after the first", [](const TokenFacts& f) { return f.request > 0; }},
      {"of a request", [](const TokenFacts& f) { return f.covered; }},
  };
  return list;
}

std::string what_tokens(const IndexEvidence& e) {
  const std::vector<int64_t> failing = failing_tokens(e);
  const int64_t tokens = e.problem.shape.tokens;
  std::string text =
      fmt::format("{}{} of {} tokens", all_listed(e) ? "" : "at least ", failing.size(), tokens);
  if (failing.empty() || !all_listed(e) || static_cast<int64_t>(failing.size()) == tokens)
    return text;
  const auto fails = [&](int64_t token) {
    return std::binary_search(failing.begin(), failing.end(), token);
  };
  for (const Trait& trait : traits()) {
    bool tells = true;
    for (int64_t token = 0; tells && token < tokens; ++token)
      tells = trait.holds(facts_of(e, token)) == fails(token);
    if (tells) return text + fmt::format(", exactly those {}", trait.text);
  }
  return text + fmt::format(", the first is {}", failing.front());
}

// By how much every wrong value is off, if by the same.
std::optional<int64_t> common_offset(const std::vector<BadElement>& bad) {
  std::optional<int64_t> offset;
  for (const BadElement& element : bad) {
    if (element.want < 0 || element.got < 0) return std::nullopt;
    const int64_t by = element.got - element.want;
    if (offset && *offset != by) return std::nullopt;
    offset = by;
  }
  return offset;
}

std::string what_elements(const JudgedTensor& t) {
  const oracle::TensorJudgement& j = t.judgement;
  const std::string& name = t.expected.want.name;
  const auto all = [&](auto holds) { return std::all_of(j.bad.begin(), j.bad.end(), holds); };
  if (all([](const BadElement& b) { return b.kind == FaultKind::kGuardBroken; }))
    return fmt::format("{} of {} that must stay untouched were written", j.bad_elements, name);
  if (all([](const BadElement& b) { return b.kind == FaultKind::kNeverWritten && b.want == -1; }))
    return fmt::format("the tail of {} is not written: {} slots keep what they held", name,
                       j.bad_elements);
  if (all([](const BadElement& b) { return b.kind == FaultKind::kNeverWritten; }))
    return fmt::format("{} elements of {} are never written", j.bad_elements, name);
  if (all([](const BadElement& b) { return b.want == -1; }))
    return fmt::format("{} slots of {} hold something where -1 must stand", j.bad_elements, name);
  if (all([](const BadElement& b) { return b.got == -1; }))
    return fmt::format("-1 stands in {} slots of {} that must hold an index", j.bad_elements, name);
  const std::optional<int64_t> offset = common_offset(j.bad);
  if (offset) return fmt::format("{} elements of {} are off by {}", j.bad_elements, name, *offset);
  return fmt::format("{} elements of {} are wrong", j.bad_elements, name);
}

}  // namespace

std::vector<int64_t> failing_tokens(const IndexEvidence& e) {
  std::vector<int64_t> tokens;
  for (const JudgedTensor& t : e.tensors)
    tokens.insert(tokens.end(), t.judgement.failing_rows.begin(), t.judgement.failing_rows.end());
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  std::erase_if(tokens, [&](int64_t token) { return token >= e.problem.shape.tokens; });
  return tokens;
}

std::string diagnose(const IndexEvidence& e) {
  std::string text = what_tokens(e);
  for (const JudgedTensor& t : e.tensors) {
    if (!t.judgement.ok()) text += "; " + what_elements(t);
  }
  return text;
}

std::string index_anatomy(const IndexEvidence& e) {
  std::string text;
  const std::vector<int64_t> failing = failing_tokens(e);
  for (size_t i = 0; i < std::min(kTokensShown, failing.size()); ++i) {
    text += heading(e, failing[i]);
    for (const JudgedTensor& t : e.tensors) {
      size_t shown = 0;
      for (const BadElement& bad : t.judgement.bad) {
        if (bad.row != failing[i] || ++shown > kElementsShown) continue;
        text += element_text(t.expected.want.name, bad);
      }
      if (shown > kElementsShown)
        text += fmt::format("  ... {} bad elements of {} listed in this row\n", shown,
                            t.expected.want.name);
    }
  }
  for (const JudgedTensor& t : e.tensors) {
    // What belongs to no token: behind the last row, or the end of an indptr.
    for (const BadElement& bad : t.judgement.bad) {
      if (bad.row >= e.problem.shape.tokens) text += element_text(t.expected.want.name, bad);
    }
  }
  if (failing.size() > kTokensShown)
    text += fmt::format("...     {} failing tokens in all\n", failing.size());
  return text;
}

}  // namespace exactk::props
