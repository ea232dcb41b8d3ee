// What the tests of planted faults share.
#pragma once

#include <string_view>

#include "kernels/registry.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {

// Whether a mutant fails for certain on the test program's device: a GPU may have another wave
// width than the fault needs, and no schedule to choose.
inline bool shows_here(std::string_view mutant_name) {
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    if (mutant.kernel->name == mutant_name) {
      return kOnHost || (mutant.wave_width == 0 && !mutant.host_only);
    }
  }
  return false;
}

}  // namespace exactk::kernels::test
