// What the tests of the host device share: device arrays that clean up, and a fixture per wave
// width.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/device/test_kernels.h"

namespace exactk::kernels::test {

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    EXPECT_EQ(hipSuccess, hipMalloc(&data_, count * sizeof(T))) << last_error_text();
  }
  DeviceArray(size_t count, T value) : DeviceArray(std::vector<T>(count, value)) {}
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    EXPECT_EQ(hipSuccess,
              hipMemcpy(data_, values.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { static_cast<void>(hipFree(data_)); }

  T* data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }
  // Waits for everything first.
  std::vector<T> read() const {
    EXPECT_EQ(hipSuccess, hipDeviceSynchronize()) << last_error_text();
    std::vector<T> values(count_);
    EXPECT_EQ(hipSuccess, hipMemcpy(values.data(), data_, bytes(), hipMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

inline void use(const Settings& settings) {
  ASSERT_EQ(hipSuccess, configure(settings)) << last_error_text();
}

// The wave width is the parameter; the device is quiet and in order before each test.
class HostDeviceWave : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    static_cast<void>(hipDeviceSynchronize());
    static_cast<void>(hipGetLastError());
    use({.wave_width = GetParam()});
  }
  int wave() const { return GetParam(); }
};

class HostDevice : public testing::Test {
 protected:
  void SetUp() override {
    static_cast<void>(hipDeviceSynchronize());
    static_cast<void>(hipGetLastError());
    use({});
  }
};

inline std::string wave_name(const testing::TestParamInfo<int>& info) {
  return "Wave" + std::to_string(info.param);
}

#define EXACTK_BOTH_WAVES(fixture) \
  INSTANTIATE_TEST_SUITE_P(, fixture, testing::Values(32, 64), wave_name)

}  // namespace exactk::kernels::test
