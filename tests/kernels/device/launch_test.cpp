// Limits of a launch: checked at the call, with the error code of HIP.
#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

class LaunchLimits : public HostDevice {
 protected:
  hipError_t launch(dim3 grid, dim3 block) {
    many_barriers({grid, block}, 0);
    return hipGetLastError();
  }
};

TEST_F(LaunchLimits, AllowAThousandAndTwentyFourThreads) {
  EXPECT_EQ(hipSuccess, launch(1, 1024));
  EXPECT_EQ(hipErrorInvalidConfiguration, launch(1, 1025));
  EXPECT_EQ(hipErrorInvalidConfiguration, launch(1, dim3(32, 33)));
  EXPECT_EQ(hipErrorInvalidConfiguration, launch(1, dim3(65536, 65536, 1)))
      << "the product overflows 32 bits";
}

TEST_F(LaunchLimits, RefuseEmptyGridsAndBlocks) {
  for (dim3 empty : {dim3(0), dim3(1, 0), dim3(1, 1, 0)}) {
    EXPECT_EQ(hipErrorInvalidConfiguration, launch(empty, 64));
    EXPECT_EQ(hipErrorInvalidConfiguration, launch(1, empty));
  }
}

TEST_F(LaunchLimits, AllowSixtyFiveThousandBlocksInYAndZ) {
  EXPECT_EQ(hipErrorInvalidConfiguration, launch(dim3(1, 65536), 1));
  EXPECT_EQ(hipErrorInvalidConfiguration, launch(dim3(1, 1, 65536), 1));
  EXPECT_EQ(hipErrorInvalidConfiguration, launch(dim3(0x80000000u), 1));
  EXPECT_EQ(hipErrorInvalidConfiguration, launch(dim3(1u << 22), 1024)) << "2^32 threads in x";
  EXPECT_EQ(hipSuccess, launch(dim3(1, 65535), 1));
}

TEST_F(LaunchLimits, WantAnAttributeForMuchDynamicSharedMemory) {
  DeviceArray<int> out(256);
  const auto bytes_error = [&](size_t bytes) {
    static_and_dynamic({1, 256}, bytes, out.data());
    return hipGetLastError();
  };
  ASSERT_EQ(hipSuccess, allow_dynamic(48 * 1024));
  EXPECT_EQ(hipSuccess, bytes_error(48 * 1024));
  EXPECT_EQ(hipErrorInvalidValue, bytes_error(48 * 1024 + 1));
  EXPECT_NE(std::string::npos, last_error_text().find("hipFuncSetAttribute"));
  ASSERT_EQ(hipSuccess, allow_dynamic(160 * 1024));
  EXPECT_EQ(hipSuccess, bytes_error(160 * 1024));
  EXPECT_EQ(hipErrorInvalidValue, allow_dynamic(160 * 1024 + 1));
  EXPECT_EQ(hipSuccess, hipDeviceSynchronize()) << last_error_text();
}

TEST_F(LaunchLimits, RefuseAStreamThatIsGone) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipSuccess, hipStreamCreate(&stream));
  ASSERT_EQ(hipSuccess, hipStreamDestroy(stream));
  many_barriers({1, 1, stream}, 0);
  EXPECT_EQ(hipErrorInvalidHandle, hipGetLastError());
}

TEST_F(LaunchLimits, ReportAnErrorOnce) {
  many_barriers({0, 1}, 0);
  EXPECT_EQ(hipErrorInvalidConfiguration, hipPeekAtLastError());
  EXPECT_EQ(hipErrorInvalidConfiguration, hipGetLastError());
  EXPECT_EQ(hipSuccess, hipGetLastError());
}

TEST_F(LaunchLimits, RefuseSettingsOutOfRange) {
  EXPECT_EQ(hipErrorInvalidValue, configure({.wave_width = 16}));
  EXPECT_EQ(hipErrorInvalidValue, configure({.workers = 0}));
  EXPECT_EQ(64, settings().wave_width) << "nothing changed";
}

}  // namespace
}  // namespace exactk::kernels::test
