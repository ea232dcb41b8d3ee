// What the attention kernels refuse, before any device is asked.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/check.h"

namespace exactk::kernels::attention {

inline constexpr int64_t kDimVMost = 1024;    // columns that a block's threads hold
inline constexpr int64_t kGridYMost = 65535;  // blocks

// EXACTK_OK, or EXACTK_ERROR (a malformed descriptor) or EXACTK_DECLINED and one sentence with the
// value that starts with `kernel`. Pointers are not looked at.
exactk_status check_prefill(const char* kernel, const exactk_sparse_prefill& d, Message message);
exactk_status check_decode(const char* kernel, const exactk_sparse_decode& d, Message message);

}  // namespace exactk::kernels::attention
