// Top-k kernels with one planted fault each. They are never part of the shipped kernels.
#pragma once

#include <span>

#include "kernels/registry.h"

namespace exactk::kernels::planted {

std::span<const Mutant> topk_mutants();    // in rows, their layout, and their split
std::span<const Mutant> search_mutants();  // in what one block does to select
std::span<const Mutant> call_mutants();    // on the host side of a call

}  // namespace exactk::kernels::planted
