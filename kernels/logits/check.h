// What the logits kernels refuse, before any device is asked.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/check.h"

namespace exactk::kernels::logits {

// EXACTK_OK, or EXACTK_ERROR (a malformed descriptor) or EXACTK_DECLINED and one sentence with the
// value that starts with `kernel`. Pointers are not looked at.
exactk_status check_ragged(const char* kernel, const exactk_mqa_logits& d, Message message);
exactk_status check_paged(const char* kernel, const exactk_mqa_logits_paged& d, Message message);

}  // namespace exactk::kernels::logits
