// The device that a test program was built for. Its main() skips every test with the reason where
// there is no such device.
#pragma once

#include <string_view>
#include <vector>

namespace exactk::kernels::test {

inline constexpr std::string_view kDeviceKind = EXACTK_TEST_DEVICE;
inline constexpr bool kOnHost = kDeviceKind == "host";

// Wave widths to test at; 0 stands for the only one that a GPU has.
inline std::vector<int> wave_widths() {
  return kOnHost ? std::vector<int>{32, 64} : std::vector<int>{0};
}

}  // namespace exactk::kernels::test
