#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  exactk::tests::fuzz_case_file({reinterpret_cast<const char*>(data), size});
  return 0;
}
