// What the router kernels refuse, before any device is asked.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/check.h"

namespace exactk::kernels::router {

// EXACTK_OK, or EXACTK_ERROR (a malformed descriptor) or EXACTK_DECLINED and one sentence with the
// value that starts with `kernel`. Pointers are not looked at.
exactk_status check_wave(const char* kernel, const exactk_router& d, Message message);
exactk_status check_block(const char* kernel, const exactk_router& d, Message message);

}  // namespace exactk::kernels::router
