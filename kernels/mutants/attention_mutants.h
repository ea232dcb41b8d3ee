// Kernels of the attention operations with one planted fault each. They are never part of the
// shipped kernels.
#pragma once

#include <span>

#include "kernels/registry.h"

namespace exactk::kernels::planted {

std::span<const Mutant> attention_mutants();

}  // namespace exactk::kernels::planted
