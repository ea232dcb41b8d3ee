// What the index kernels refuse, before any device is asked.
#pragma once

#include <cstddef>

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::index {

// A message buffer of the C interface; may be empty.
struct Message {
  char* text;
  size_t bytes;
};

// EXACTK_OK, or EXACTK_ERROR (a malformed descriptor) or EXACTK_DECLINED and one sentence with the
// value that starts with `kernel`. Pointers are not looked at.
exactk_status check_combine(const char* kernel, const exactk_combine& d, Message message);
exactk_status check_translate(const char* kernel, const exactk_translate& d, Message message);
exactk_status check_swa(const char* kernel, const exactk_swa& d, Message message);

// The form that fills first has no ragged rows; all else as check_combine.
exactk_status check_fill_first(const char* kernel, const exactk_combine& d, Message message);

// EXACTK_ERROR if fewer bytes than `needed` are there.
exactk_status check_workspace(const char* kernel, int64_t needed, const void* workspace,
                              int64_t bytes, Message message);

}  // namespace exactk::kernels::index
