// Planners of sparse MLA attention with one planted fault each.
#pragma once

#include <span>

#include "kernels/metadata/plan.h"

namespace exactk::kernels::planted {

std::span<const metadata::PlantedPlanner> planners();

}  // namespace exactk::kernels::planted
