// What the device layer promises on every kind of device.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/device/device.h"
#include "tests/kernels/device/test_kernels.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels {
namespace {

class RuntimeDevice : public testing::Test {
 protected:
  void SetUp() override {
    device_ = std::move(*open_device(test::kDeviceKind));
    memory_ = static_cast<int*>(*device_->allocate(64 * sizeof(int)));
    const std::vector<int> ones(64, 1);
    ASSERT_TRUE(device_->upload(memory_, ones.data(), 64 * sizeof(int)));
  }
  void TearDown() override { EXPECT_TRUE(device_->release(memory_)); }
  int first() {
    int value = 0;
    EXPECT_TRUE(device_->download(&value, memory_, sizeof(value)));
    return value;
  }
  hipStream_t hip_stream(int index) { return static_cast<hipStream_t>(device_->stream(index)); }

  std::unique_ptr<Device> device_;
  int* memory_ = nullptr;
};

TEST_F(RuntimeDevice, TellsWhatItIs) {
  const DeviceInfo info = device_->info();
  EXPECT_EQ(test::kDeviceKind, info.kind);
  EXPECT_EQ(0, info.index);
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.arch.empty());
  EXPECT_TRUE(info.wave_width == 32 || info.wave_width == 64) << info.wave_width;
  EXPECT_GT(info.memory_free_bytes, 0);
}

TEST_F(RuntimeDevice, IsListed) {
  bool listed = false;
  for (const DeviceInfo& info : list_devices()) {
    listed = listed || (info.kind == test::kDeviceKind && info.name == device_->info().name);
  }
  EXPECT_TRUE(listed);
}

TEST_F(RuntimeDevice, RefusesAnIndexThatIsNotThere) {
  const auto opened = open_device(std::string(test::kDeviceKind) + ":1000");
  ASSERT_FALSE(opened);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, ":1000'", opened.error());
}

TEST_F(RuntimeDevice, HasADefaultStreamAndCreatedOnes) {
  EXPECT_EQ(nullptr, device_->stream(0));
  EXPECT_NE(nullptr, device_->stream(1));
  EXPECT_NE(device_->stream(1), device_->stream(2));
  EXPECT_EQ(device_->stream(1), device_->stream(1));
}

TEST_F(RuntimeDevice, RunsAKernelOnEveryStream) {
  for (int stream = 0; stream < 3; ++stream) {
    test::store({1, 64, hip_stream(stream)}, memory_, 10 + stream);
    ASSERT_TRUE(device_->synchronize(device_->stream(stream)));
    EXPECT_EQ(10 + stream, first());
  }
}

TEST_F(RuntimeDevice, UploadIsOverBeforeAnyStreamReadsIt) {
  for (int round = 2; round < 200; ++round) {
    const std::vector<int> values(64, round);
    ASSERT_TRUE(device_->upload(memory_, values.data(), 64 * sizeof(int)));
    test::add_from({1, 64, hip_stream(1)}, memory_, memory_, 1000);
    ASSERT_TRUE(device_->synchronize(device_->stream(1)));
    ASSERT_EQ(round + 1000, first());
  }
}

TEST_F(RuntimeDevice, ReplaysAGraphAndCountsItsNodes) {
  void* stream = device_->stream(1);
  ASSERT_TRUE(device_->begin_capture(stream));
  ASSERT_EQ(hipSuccess, hipMemsetAsync(memory_, 0, 4, hip_stream(1)));
  test::add_from({1, 64, hip_stream(1)}, memory_, memory_, 10);
  ASSERT_TRUE(device_->end_capture(stream));
  EXPECT_EQ(1, device_->graph_nodes().kernels);
  EXPECT_EQ(1, device_->graph_nodes().memsets);
  EXPECT_EQ(0, device_->graph_nodes().memcpys);
  EXPECT_EQ(1, first()) << "nothing ran";
  ASSERT_TRUE(device_->replay(stream));
  ASSERT_TRUE(device_->synchronize(stream));
  EXPECT_EQ(10, first());
  ASSERT_TRUE(device_->drop_graph());
  EXPECT_FALSE(device_->replay(stream));
  EXPECT_EQ(0, device_->graph_nodes().kernels);
}

TEST_F(RuntimeDevice, LosesACaptureInWhichItWaits) {
  void* stream = device_->stream(1);
  ASSERT_TRUE(device_->begin_capture(stream));
  EXPECT_FALSE(device_->synchronize(stream));
  EXPECT_FALSE(device_->end_capture(stream));
  EXPECT_FALSE(device_->replay(stream));
  test::store({1, 64, hip_stream(1)}, memory_, 3);
  ASSERT_TRUE(device_->synchronize(stream)) << "the device works on";
  EXPECT_EQ(3, first());
}

TEST_F(RuntimeDevice, RefusesHostOptionsUnlessItIsTheHostDevice) {
  EXPECT_TRUE(device_->configure({}));
  EXPECT_EQ(test::kOnHost, device_->configure({.schedule_seed = 7}).has_value());
}

TEST_F(RuntimeDevice, ReportsALaunchThatIsTooBig) {
  test::store({1, 2048, hip_stream(1)}, memory_, 2);
  EXPECT_NE(hipSuccess, hipGetLastError());
  EXPECT_EQ(hipSuccess, hipGetLastError()) << "reported once";
  EXPECT_EQ(1, first());
}

TEST_F(RuntimeDevice, ReportsMemoryThatItDoesNotHave) {
  const auto memory = device_->allocate(int64_t{1} << 55);
  ASSERT_FALSE(memory);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "allocating device memory", memory.error());
  EXPECT_EQ(1, first()) << "the device works on";
}

}  // namespace
}  // namespace exactk::kernels
