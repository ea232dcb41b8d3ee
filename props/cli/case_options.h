// The cases that a command is given: from files, from the line, or drawn at random.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fixtures/case_file.h"
#include "props/generators.h"
#include "props/kernel_under_test.h"

namespace exactk::props::cli {

struct CaseOptions {
  std::vector<std::string> lines;
  std::vector<std::string> files;
  std::string filter;  // of the listed cases
  int64_t random = 0;
  uint64_t seed = 1;
};

void add_case_options(CLI::App& command, CaseOptions& options);

// The listed cases that the filter leaves: files in the order given, then the lines. Where neither
// they nor random cases are left to run: an exit code, its sentence printed.
std::variant<std::vector<fixtures::Case>, int> listed_cases(const CaseOptions& options);

// Case `index` of the random ones, of the operations that the kernels have.
fixtures::Case random_case(const CaseOptions& options, int64_t index,
                           const std::vector<KernelUnderTest>& kernels);

}  // namespace exactk::props::cli
