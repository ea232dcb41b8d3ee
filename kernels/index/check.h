// What the index kernels refuse, before any device is asked.
#pragma once

#include "kernels/abi/exactk_abi.h"
#include "kernels/check.h"

namespace exactk::kernels::index {

// EXACTK_OK, or EXACTK_ERROR (a malformed descriptor) or EXACTK_DECLINED and one sentence with the
// value that starts with `kernel`. Pointers are not looked at.
exactk_status check_combine(const char* kernel, const exactk_combine& d, Message message);
exactk_status check_translate(const char* kernel, const exactk_translate& d, Message message);
exactk_status check_swa(const char* kernel, const exactk_swa& d, Message message);

// The form that fills first has no ragged rows; all else as check_combine.
exactk_status check_fill_first(const char* kernel, const exactk_combine& d, Message message);

}  // namespace exactk::kernels::index
