// The cases that a command is given: from files, from the line, or drawn at random.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fixtures/case_file.h"
#include "props/case_sequence.h"
#include "props/kernel_under_test.h"

namespace exactk::props::cli {

struct CaseOptions {
  std::vector<std::string> lines;
  std::vector<std::string> files;
  std::string filter;  // of the listed cases
  int64_t random = 0;
  std::optional<uint64_t> seed;                      // none: of the commit
  int64_t elements_max = DrawLimits{}.elements_max;  // logits of one launch of a random case
  std::string shard;  // "I/N": every N-th case from the I-th on, I from 0; empty: all
};

void add_case_options(CLI::App& command, CaseOptions& options);

// The seed of random draws, as given or else of the commit.
struct BaseSeed {
  uint64_t value;
  std::string origin;  // "given"
};
BaseSeed base_seed(std::optional<uint64_t> given);

// The listed cases that the filter leaves: files in the order given, then the lines. Where neither
// they nor random cases are left to run: an exit code, its sentence printed.
std::variant<std::vector<fixtures::Case>, int> listed_cases(const CaseOptions& options);

// The random cases, one after the other: a CaseSequence, of which those of operations that no
// kernel has, and those of other shards, are passed over. The shards of a run have together what
// the whole run has.
class RandomCases {
 public:
  RandomCases(const CaseOptions& options, const std::vector<KernelUnderTest>& kernels);

  // Nothing once the wanted number, all shards together, was reached.
  std::optional<fixtures::Case> next();

  // Prints the seed and what follows from it, if random cases are wanted.
  void announce() const;

 private:
  BaseSeed seed_;
  CaseSequence sequence_;
  std::vector<fixtures::Op> ops_;
  int64_t wanted_;
  int64_t part_, parts_;  // shard
  int64_t found_ = 0;     // draws of wanted operations so far
};

// Runs the listed cases, then the random ones, until `budget_s` seconds are over (0: without an
// end). Whether they were over before the listed ones.
bool run_cases(const std::vector<fixtures::Case>& listed, RandomCases random, double budget_s,
               const std::function<void(const fixtures::Case&)>& run);

}  // namespace exactk::props::cli
