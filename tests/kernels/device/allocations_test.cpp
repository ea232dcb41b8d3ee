// Device memory of the host device.
#include <cstring>
#include <limits>

#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

class Memory : public HostDevice {};

TEST_F(Memory, IsAlignedAndHoldsPoisonAtFirst) {
  for (size_t bytes : {1, 4, 255, 256, 257, 4096, 100000}) {
    unsigned char* memory = nullptr;
    ASSERT_EQ(hipSuccess, hipMalloc(&memory, bytes));
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(memory) % 256);
    std::vector<unsigned char> got(bytes);
    ASSERT_EQ(hipSuccess, hipMemcpy(got.data(), memory, bytes, hipMemcpyDeviceToHost));
    for (unsigned char byte : got) ASSERT_NE(0, byte) << bytes << " bytes";
    ASSERT_EQ(hipSuccess, hipFree(memory));
  }
}

TEST_F(Memory, AsWordsIsNegativeAndNotANumber) {
  DeviceArray<int> words(16);
  for (int word : words.read()) {
    EXPECT_LT(word, 0);
    const float as_float = __int_as_float(word);
    EXPECT_NE(as_float, as_float);
  }
}

TEST_F(Memory, IsFreedOnce) {
  int* memory = nullptr;
  ASSERT_EQ(hipSuccess, hipMalloc(&memory, 64));
  EXPECT_EQ(hipErrorInvalidValue, hipFree(memory + 1));
  EXPECT_EQ(hipSuccess, hipFree(memory));
  EXPECT_EQ(hipErrorInvalidValue, hipFree(memory));
  EXPECT_EQ(hipSuccess, hipFree(nullptr));
}

TEST_F(Memory, FreeingWaitsForWhatUsesIt) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipSuccess, hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  int* memory = nullptr;
  ASSERT_EQ(hipSuccess, hipMalloc(&memory, 256));
  store({1, 64, stream}, memory, 1);
  EXPECT_EQ(hipSuccess, hipFree(memory)) << last_error_text();
  EXPECT_EQ(hipSuccess, hipStreamDestroy(stream));
}

TEST_F(Memory, BeyondTheMachineIsRefusedWithASentence) {
  void* memory = nullptr;
  EXPECT_EQ(hipErrorOutOfMemory, hipMalloc(&memory, size_t{1} << 50));
  EXPECT_EQ(nullptr, memory);
  EXPECT_NE(std::string::npos, last_error_text().find("1125899906842624 bytes wanted"));
  EXPECT_EQ(hipErrorOutOfMemory, hipMalloc(&memory, std::numeric_limits<size_t>::max()));
}

TEST_F(Memory, FreedManyTimesStaysUsable) {
  for (int i = 0; i < 600; ++i) {
    int* memory = nullptr;
    ASSERT_EQ(hipSuccess, hipMalloc(&memory, 256));
    ASSERT_EQ(hipSuccess, hipMemset(memory, 0, 256));
    ASSERT_EQ(hipSuccess, hipFree(memory)) << last_error_text();
  }
}

TEST_F(Memory, InfoIsPlausible) {
  size_t free_bytes = 0, total_bytes = 0;
  ASSERT_EQ(hipSuccess, hipMemGetInfo(&free_bytes, &total_bytes));
  EXPECT_GT(free_bytes, 0u);
  EXPECT_LT(free_bytes, total_bytes);
}

}  // namespace
}  // namespace exactk::kernels::test
