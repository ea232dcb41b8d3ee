// Kernels of the C interface from traits: the host side of supports, workspace and launch.
//
// A `Kernel` names itself: { static constexpr const char* kName; using Traits; } and has an
// operation as its base, which knows its struct and how it is launched:
//
//   using Descriptor; static constexpr const char* kOp;
//   check(const char* kernel, const Descriptor&, Message)  what is refused, as kernels/check.h says
//   workspace(const Descriptor&)                           bytes that a launch needs
//   enqueue<Traits>(const Call&, const Descriptor&)        false: a message is there
//
// `Traits::adapted(d)` is the descriptor as the kernels get it.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>
#include <cstdio>

#include "kernels/abi/exactk_abi.h"
#include "kernels/check.h"

namespace exactk::kernels {

// One call: who launches, where to, and where to tell of an error.
struct Call {
  const char* kernel;
  hipStream_t stream;
  Message message;

  // Checks every launch at once, so that an error is told of the kernel that has it.
  bool launched(const char* part) const {
    const hipError_t error = hipGetLastError();
    if (error != hipSuccess) {
      std::snprintf(message.text, message.bytes, "%s: the %s kernel was not launched: %s", kernel,
                    part, hipGetErrorString(error));
    }
    return error == hipSuccess;
  }
};

inline dim3 blocks(int64_t count) {
  return dim3(static_cast<unsigned>(count));
}

template <class Kernel>
const typename Kernel::Descriptor& descriptor_of(const void* descriptor) {
  return *static_cast<const typename Kernel::Descriptor*>(descriptor);
}

template <class Kernel>
exactk_status supports(const void* descriptor, char* text, size_t bytes) {
  return Kernel::check(Kernel::kName, descriptor_of<Kernel>(descriptor), {text, bytes});
}

template <class Kernel>
int64_t workspace_bytes(const void* descriptor) {
  return supports<Kernel>(descriptor, nullptr, 0) == EXACTK_OK
             ? Kernel::workspace(descriptor_of<Kernel>(descriptor))
             : 0;
}

template <class Kernel>
exactk_status launch(const void* descriptor, char* text, size_t bytes) {
  const auto& d = descriptor_of<Kernel>(descriptor);
  const Message message{text, bytes};
  exactk_status status = supports<Kernel>(descriptor, text, bytes);
  if (status == EXACTK_OK) {
    status = check_workspace(Kernel::kName, Kernel::workspace(d), d.workspace, d.workspace_bytes,
                             message);
  }
  if (status != EXACTK_OK) {
    return status;
  }
  const Call call{Kernel::kName, static_cast<hipStream_t>(d.stream), message};
  using Traits = typename Kernel::Traits;
  return Kernel::template enqueue<Traits>(call, Traits::adapted(d)) ? EXACTK_OK : EXACTK_ERROR;
}

// Not constexpr: a constant would be made for the device as well, where these functions are not.
template <class Kernel>
exactk_kernel describe(const char* description) {
  return {sizeof(exactk_kernel),
          EXACTK_MODE_REPEATABLE | EXACTK_MODE_KERNELS_ONLY,
          Kernel::kName,
          Kernel::kOp,
          description,
          &supports<Kernel>,
          &workspace_bytes<Kernel>,
          &launch<Kernel>,
          EXACTK_NAN_ORDERED,
          0,
          {}};
}

}  // namespace exactk::kernels
