// A kernel as the runner sees it: the C descriptor, and what the suite knows about its dispatch.
#pragma once

#include <optional>
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
  std::string_view name() const { return kernel->name; }
};

// Kernels for devices of a kind ("host", "hip", "cuda"), by globs with commas between them: shipped
// ones whose name matches, or, for a glob that starts with "mutant", planted faults. A glob that
// matches nothing is an error that says where the names are.
fixtures::Result<std::vector<KernelUnderTest>> select_kernels(std::string_view device_kind,
                                                              std::string_view globs);

// '*' stands for any run of characters, '?' for one.
bool glob_match(std::string_view glob, std::string_view text);

}  // namespace exactk::props
