// What a kernel declares not to take: such cases are skipped without a question to the kernel.
#pragma once

#include <string>

#include "fixtures/case.h"
#include "kernels/abi/exactk_abi.h"

namespace exactk::props {

// One sentence if the case, which must be valid, exceeds a limit; empty: it does not.
std::string beyond_limits(const exactk_limits& limits, const fixtures::Case& c);

}  // namespace exactk::props
