// Random programs of metadata steps.
#pragma once

#include <cstdint>

#include "props/mla_program.h"

namespace exactk::props {

inline constexpr int64_t kMlaCommandsMax = 12;

// Program `index` of a seed: without a problem, of 1 to kMlaCommandsMax commands, with at least one
// build in which a token sees a key. A function of the two alone.
MlaProgram random_mla_program(uint64_t seed, uint64_t index);

}  // namespace exactk::props
