// A kernel as the runner sees it: the C descriptor, and what the suite knows about its dispatch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case.h"
#include "kernels/abi/exactk_abi.h"
#include "oracle/dispatch_policy.h"

namespace exactk::props {

struct KernelUnderTest {
  const exactk_kernel* kernel = nullptr;
  std::optional<oracle::TopkMethod>
      method;  // whose policy the launch must follow; none: not predicted
  bool mutant = false;
  std::string plugin = {};  // the library that it is of, as it was given; empty: built in
  std::string_view name() const { return kernel->name; }
};

// Kernels of plugins, beside the built-in ones.
struct OutsideKernels {
  std::span<const KernelUnderTest> kernels;
  bool complete = true;  // false: some were refused, and a glob may be meant for them
};

// Kernels for devices of a kind ("host", "hip", "cuda"), by globs with commas between them: those
// from outside and shipped ones whose name matches, or, for a glob that starts with "mutant",
// planted faults. A glob that matches nothing is an error that says where the names are.
fixtures::Result<std::vector<KernelUnderTest>> select_kernels(std::string_view device_kind,
                                                              std::string_view globs,
                                                              const OutsideKernels& outside = {});

// The globs between the commas.
std::vector<std::string_view> split_globs(std::string_view globs);

// Whether one of the globs, with commas between them, matches.
bool globs_match(std::string_view globs, std::string_view text);

// '*' stands for any run of characters, '?' for one.
bool glob_match(std::string_view glob, std::string_view text);

}  // namespace exactk::props
