// Calls of a kernel's own functions. What a kernel does wrong there, by an exception or an answer
// that is none, is an error of one sentence and never leaves this layer as anything else.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/abi/exactk_abi.h"
#include "kernels/device/device.h"

namespace exactk::props {

struct Support {
  exactk_status status = EXACTK_OK;
  std::string reason;  // the kernel's own; of anything but EXACTK_OK
};

kernels::Result<Support> ask_supports(const exactk_kernel& kernel, const void* descriptor);
kernels::Result<int64_t> ask_workspace_bytes(const exactk_kernel& kernel, const void* descriptor);
kernels::Result<void> call_launch(const exactk_kernel& kernel, const void* descriptor);

}  // namespace exactk::props
