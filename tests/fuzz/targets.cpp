#include "tests/fuzz/targets.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "fixtures/case.h"
#include "fixtures/case_file.h"
#include "props/internal_error.h"
#include "props/npy.h"
#include "props/outcome_json.h"

namespace exactk::tests {
namespace {

void require(bool holds, const std::string& sentence) {
  if (!holds) throw std::logic_error(sentence);
}

void require_sentence(const fixtures::Error& error) {
  require(!error.empty(), "a refusal without a reason");
  require(error.find('\n') == std::string::npos, "a refusal of several lines: " + error);
}

void require_round_trip(const fixtures::Case& c) {
  const std::string line = fixtures::print_case(c);
  require(fixtures::validate(c).empty(), "an invalid case is taken: " + line);
  const auto again = fixtures::parse_case(line);
  require(again.has_value() && *again == c, "its own line gives another case: " + line);
}

}  // namespace

void fuzz_npy(std::string_view file) {
  const auto header = props::parse_npy(std::as_bytes(std::span(file)));
  if (!header) {
    require_sentence(header.error());
    const auto& text = header.error();
    require(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }),
            "a refusal that cannot be printed");
    return;
  }
  const int64_t bytes = header->elems * props::size_of(header->type);
  require(header->elems >= 0 && header->data_begin + bytes == std::ssize(file),
          "elements outside the file");
}

void fuzz_case(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);  // of a seed's file
  const auto c = fixtures::parse_case(line);
  if (!c) return require_sentence(c.error());
  require_round_trip(*c);
}

void fuzz_case_file(std::string_view text) {
  const auto cases = fixtures::read_case_text(text, "fuzz");
  if (!cases) return require_sentence(cases.error());
  for (const fixtures::FileCase& c : *cases) require_round_trip(c.value);
}

void fuzz_json(std::string_view text) {
  props::Outcome outcome;
  try {
    outcome = props::outcome_from_json(text);
  } catch (const props::InternalError&) {
    return;
  }
  const std::string printed = props::outcome_to_json(outcome);
  require(printed == props::outcome_to_json(props::outcome_from_json(printed)),
          "its own JSON gives another outcome");
}

}  // namespace exactk::tests
