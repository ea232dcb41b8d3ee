#include "props/cli/case_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "props/build_info.h"
#include "props/cli/common.h"

namespace exactk::props::cli {

using fixtures::Case;

namespace {

constexpr size_t kSeedDigits = 8;
constexpr const char* kShardUsage = "it is I/N, with I from 0 to N - 1; write for example 0/4";

struct Shard {
  int64_t part = 0;
  int64_t parts = 1;
};
std::optional<Shard> shard_of(const std::string& text) {
  if (text.empty()) return Shard{};
  const char* end = text.data() + text.size();
  Shard shard;
  const auto part = std::from_chars(text.data(), end, shard.part);
  if (part.ec != std::errc{} || part.ptr == end || *part.ptr != '/') return std::nullopt;
  const auto parts = std::from_chars(part.ptr + 1, end, shard.parts);
  if (parts.ec != std::errc{} || parts.ptr != end) return std::nullopt;
  if (shard.part < 0 || shard.part >= shard.parts) return std::nullopt;
  return shard;
}

// Every `parts`-th of them from number `part` on.
std::vector<Case> part_of(const std::vector<Case>& cases, const Shard& shard) {
  std::vector<Case> kept;
  for (size_t i = static_cast<size_t>(shard.part); i < cases.size();
       i += static_cast<size_t>(shard.parts))
    kept.push_back(cases[i]);
  return kept;
}

uint64_t seed_of_commit() {
  const std::string digits = build_commit_id().substr(0, kSeedDigits);
  return digits.empty() ? 1 : std::stoull(digits, nullptr, 16);
}

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
  const bool none = cases->empty();
  *cases = part_of(*cases, *shard_of(options.shard));
  if (!cases->empty() || options.random > 0) return std::move(*cases);
  if (!none)
    return complain(kNothingJudged, fmt::format("no case is left for --shard {}", options.shard));
  return complain(kNothingJudged,
                  options.filter.empty()
                      ? std::string("the files hold no case")
                      : fmt::format("no case matches --filter '{}'", options.filter));
}

namespace {

DrawLimits limits_of(const CaseOptions& options) {
  DrawLimits limits;
  limits.elements_max = options.elements_max;
  return limits;
}

}  // namespace

BaseSeed base_seed(std::optional<uint64_t> given) {
  if (given) return {*given, "given"};
  return {seed_of_commit(), build_commit_id().empty()
                                ? "no commit is known"
                                : fmt::format("the first digits of commit {}",
                                              build_commit_id().substr(0, kSeedDigits))};
}

RandomCases::RandomCases(const CaseOptions& options, const std::vector<KernelUnderTest>& kernels)
    : seed_(base_seed(options.seed)),
      sequence_(seed_.value, limits_of(options)),
      wanted_(options.random) {
  const Shard shard = *shard_of(options.shard);
  part_ = shard.part;
  parts_ = shard.parts;
  for (const KernelUnderTest& kernel : kernels) {
    if (const auto op = fixtures::op_named(kernel.kernel->op)) ops_.push_back(*op);
  }
  if (ops_.empty()) wanted_ = 0;
}

std::optional<Case> RandomCases::next() {
  while (found_ < wanted_) {
    const Case c = sequence_.next();
    if (std::find(ops_.begin(), ops_.end(), c.op) == ops_.end()) continue;
    if (found_++ % parts_ == part_) return c;
  }
  return std::nullopt;
}

void RandomCases::announce() const {
  if (wanted_ == 0) return;
  fmt::print(
      "seed {} ({}): case i follows from it and i alone; a case line holds all other seeds\n",
      seed_.value, seed_.origin);
}

bool run_cases(const std::vector<Case>& listed, RandomCases random, double budget_s,
               const std::function<void(const Case&)>& run) {
  const Budget budget(budget_s);
  for (const Case& c : listed) {
    if (budget.ended()) return true;
    run(c);
  }
  while (!budget.ended()) {
    const auto c = random.next();
    if (!c) break;
    run(*c);
  }
  return false;
}

void add_case_options(CLI::App& command, CaseOptions& options) {
  command.add_option("case", options.lines, "case lines, quoted");
  command.add_option("--cases", options.files, "case files")->take_all();
  command.add_option("--filter", options.filter,
                     "only listed cases whose text matches, * and ? as in a shell");
  command.add_option("--random", options.random, "this many random cases")->check(at_least_zero());
  command
      .add_option("--seed", options.seed,
                  "seed of the random cases (default: the first 8 hex digits of the commit)")
      ->check(at_least_zero());
  command
      .add_option("--elements", options.elements_max,
                  "logits of one launch of a random case, about; fewer make more cases a second")
      ->check(CLI::Range(int64_t{1000}, int64_t{1} << 24))
      ->capture_default_str();
  command
      .add_option("--shard", options.shard,
                  "I/N: every N-th case from the I-th on, I from 0 to N - 1")
      ->check(CLI::Validator(
          [](const std::string& text) { return shard_of(text) ? "" : kShardUsage; }, ""));
}

}  // namespace exactk::props::cli
