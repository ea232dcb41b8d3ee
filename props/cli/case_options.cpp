#include "props/cli/case_options.h"

#include <fmt/format.h>

#include "props/cli/common.h"

namespace exactk::props::cli {

using fixtures::Case;

namespace {

fixtures::Result<std::vector<Case>> read_cases(const CaseOptions& options) {
  std::vector<Case> cases;
  for (const std::string& file : options.files) {
    auto read = fixtures::read_case_file(file);
    if (!read) return tl::unexpected(read.error());
    for (const fixtures::FileCase& c : *read) cases.push_back(c.value);
  }
  for (const std::string& line : options.lines) {
    auto read = fixtures::read_case_text(line, "command line");
    if (!read) return tl::unexpected(read.error());
    for (const fixtures::FileCase& c : *read) cases.push_back(c.value);
  }
  return cases;
}

}  // namespace

std::variant<std::vector<Case>, int> listed_cases(const CaseOptions& options) {
  if (options.lines.empty() && options.files.empty() && options.random == 0) {
    return complain(kUsage, "nothing to run; give case lines, --cases FILE or --random N");
  }
  auto cases = read_cases(options);
  if (!cases) return complain(kUsage, cases.error());
  if (!options.filter.empty()) {
    std::erase_if(*cases, [&](const Case& c) {
      return !glob_match(options.filter, fixtures::print_case(c));
    });
  }
  if (!cases->empty() || options.random > 0) return std::move(*cases);
  return complain(kNothingJudged,
                  options.filter.empty()
                      ? std::string("the files hold no case")
                      : fmt::format("no case matches --filter '{}'", options.filter));
}

Case random_case(const CaseOptions& options, int64_t index,
                 const std::vector<KernelUnderTest>& kernels) {
  DrawLimits limits;
  for (const KernelUnderTest& kernel : kernels) {
    if (const auto op = fixtures::op_named(kernel.kernel->op)) limits.ops.push_back(*op);
  }
  return draw_case(options.seed, index, limits);
}

void add_case_options(CLI::App& command, CaseOptions& options) {
  command.add_option("case", options.lines, "case lines, quoted");
  command.add_option("--cases", options.files, "case files")->take_all();
  command.add_option("--filter", options.filter,
                     "only listed cases whose text matches, * and ? as in a shell");
  command.add_option("--random", options.random, "this many random cases")->check(at_least_zero());
  command.add_option("--seed", options.seed, "seed of the random cases")
      ->check(at_least_zero())
      ->capture_default_str();
}

}  // namespace exactk::props::cli
