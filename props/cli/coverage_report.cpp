#include "props/cli/coverage_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "props/case_sequence.h"

namespace exactk::props::cli {
namespace {

constexpr size_t kNamed = 10;

}  // namespace

std::string missing_text(const std::string& tier, const std::vector<Bin>& missing) {
  std::string names;
  for (size_t i = 0; i < std::min(kNamed, missing.size()); ++i)
    names += fmt::format("{}'{}'", i == 0 ? "" : ", ", bin_text(missing[i]));
  if (missing.size() > kNamed) names += fmt::format(" and {} more", missing.size() - kNamed);
  std::string text = fmt::format("{} bins that tier {} requires were not visited: {}",
                                 missing.size(), tier, names);
  for (size_t i = 0; i < std::min(kNamed, missing.size()); ++i) {
    const auto example = example_of(missing[i]);
    if (!example) continue;
    return text + fmt::format("; '{}' is visited by: {}", bin_text(missing[i]),
                              fixtures::print_case(*example));
  }
  return text;
}

}  // namespace exactk::props::cli
