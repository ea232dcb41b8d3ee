// The kernels that are built into this program: the shipped ones and, apart from them, the mutants.
#pragma once

#include <span>
#include <string_view>

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels {

// topk.block, topk.split_merge, topk.k512, topk.k1024, topk.auto; in this order.
std::span<const exactk_kernel* const> shipped_kernels();

// One planted fault.
struct Mutant {
  const exactk_kernel* kernel;     // name "mutant.<defect>"
  std::string_view base;           // the kernel that it changes, "topk.block"
  std::string_view kind;           // kind of fault, "F04"
  std::string_view reaching_case;  // a case line at which it fails
};
std::span<const Mutant> mutants();

}  // namespace exactk::kernels
