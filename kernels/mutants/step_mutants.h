// Decode steps with one planted fault each. They are never part of the shipped kernels.
#pragma once

#include <span>

#include "kernels/registry.h"

namespace exactk::kernels::planted {

std::span<const Mutant> step_mutants();

}  // namespace exactk::kernels::planted
