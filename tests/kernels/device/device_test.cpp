#include "kernels/device/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/kernels/device/test_kernels.h"

namespace exactk::kernels {
namespace {

std::string refusal(std::string_view spec) {
  const auto opened = open_device(spec);
  EXPECT_FALSE(opened) << spec;
  return opened ? "" : opened.error();
}

TEST(OpenDevice, KnowsTheHost) {
  for (const char* spec : {"host", "host:0"}) {
    const auto opened = open_device(spec);
    ASSERT_TRUE(opened) << opened.error();
    const DeviceInfo info = (*opened)->info();
    EXPECT_EQ("host", info.kind);
    EXPECT_EQ("host", info.arch);
    EXPECT_EQ("CPU host device", info.name);
    EXPECT_GT(info.memory_free_bytes, 0);
  }
  ASSERT_FALSE(list_devices().empty());
  EXPECT_EQ("host", list_devices()[0].kind);
}

TEST(OpenDevice, SaysWhatIsMissing) {
  for (const std::string kind : {"hip", "cuda"}) {
    const auto built = device_kinds();
    if (std::find(built.begin(), built.end(), kind) != built.end()) continue;
    EXPECT_EQ(
        "device '" + kind + "' is not built into this program; configure with --preset " + kind,
        refusal(kind + ":3"));
  }
  EXPECT_EQ("there is no device 'host:1'; 1 of that kind is present", refusal("host:1"));
}

TEST(OpenDevice, RefusesUnknownNames) {
  for (const char* spec : {"", "gpu", "Host", "host ", ":0"}) {
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "known are host, hip, cuda", refusal(spec));
  }
  for (const char* spec : {"host:", "host:x", "host:-1", "host:1x", "hip:99999999999"}) {
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "must be a number", refusal(spec));
  }
}

class HostRuntimeDevice : public testing::Test {
 protected:
  void SetUp() override {
    device_ = std::move(*open_device("host"));
    ASSERT_TRUE(device_->configure({}));
    memory_ = static_cast<int*>(*device_->allocate(64 * sizeof(int)));
    set(1);
  }
  void TearDown() override { EXPECT_TRUE(device_->release(memory_)); }
  void set(int value) {
    const std::vector<int> values(64, value);
    ASSERT_TRUE(device_->upload(memory_, values.data(), 64 * sizeof(int)));
  }
  int first() {
    int value = 0;
    EXPECT_TRUE(device_->download(&value, memory_, sizeof(value)));
    return value;
  }
  hipStream_t hip_stream(int index) { return static_cast<hipStream_t>(device_->stream(index)); }

  std::unique_ptr<Device> device_;
  int* memory_ = nullptr;
};

TEST_F(HostRuntimeDevice, DownloadBeforeWaitingReadsTheOldBytes) {
  test::store({1, 64, hip_stream(1)}, memory_, 2);
  EXPECT_EQ(1, first());
  ASSERT_TRUE(device_->synchronize(device_->stream(1)));
  EXPECT_EQ(2, first());
}

exactk_status enqueue_set(Device& device, void* stream, int* to, int value, std::string& message) {
  struct Arguments {
    int* to;
    int value;
  } arguments{to, value};
  const auto run = [](const void* copy) {
    const auto& a = *static_cast<const Arguments*>(copy);
    *a.to = a.value;
  };
  message.resize(200);
  const exactk_status status = device.host_enqueue()(stream, run, &arguments, sizeof(arguments),
                                                     message.data(), message.size());
  message.resize(std::strlen(message.c_str()));
  arguments = {nullptr, 0};  // the stream has a copy
  return status;
}

TEST_F(HostRuntimeDevice, RunsAPlainFunctionWhenItsStreamComesToIt) {
  std::string message;
  ASSERT_EQ(EXACTK_OK, enqueue_set(*device_, device_->stream(1), memory_, 2, message));
  EXPECT_EQ(1, first());
  ASSERT_TRUE(device_->synchronize(device_->stream(1)));
  EXPECT_EQ(2, first());
}

TEST_F(HostRuntimeDevice, CountsACapturedPlainFunctionAsAKernel) {
  std::string message;
  void* stream = device_->stream(1);
  ASSERT_TRUE(device_->begin_capture(stream));
  ASSERT_EQ(EXACTK_OK, enqueue_set(*device_, stream, memory_, 2, message));
  ASSERT_EQ(hipSuccess, hipMemsetAsync(memory_, 0, 4, static_cast<hipStream_t>(stream)));
  ASSERT_EQ(EXACTK_OK, enqueue_set(*device_, stream, memory_ + 1, 3, message));
  ASSERT_TRUE(device_->end_capture(stream));
  const Device::GraphNodes nodes = device_->graph_nodes();
  EXPECT_EQ(2, nodes.kernels);
  EXPECT_EQ(1, nodes.memsets);
  EXPECT_EQ(3, nodes.all());
  ASSERT_TRUE(device_->replay(stream));
  ASSERT_TRUE(device_->synchronize(stream));
  EXPECT_EQ(0, first());
  ASSERT_TRUE(device_->drop_graph());
}

TEST_F(HostRuntimeDevice, SaysWhyAPlainFunctionIsNotTaken) {
  std::string message(200, '\0');
  EXPECT_EQ(EXACTK_ERROR,
            device_->host_enqueue()(nullptr, nullptr, nullptr, 0, message.data(), message.size()));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "a host function that is null", message);
  int no_stream = 0;
  EXPECT_EQ(EXACTK_ERROR, enqueue_set(*device_, &no_stream, memory_, 2, message));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no such stream", message);
}

TEST_F(HostRuntimeDevice, ReportsAFaultInASentence) {
  EXACTK_NEEDS_SIGNALS();
  test::store_by_one_thread({1, 64, hip_stream(1)}, 0, 5, nullptr);
  const auto waited = device_->synchronize(device_->stream(1));
  ASSERT_FALSE(waited);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "kernel store_by_one_thread_kernel, block (0,0,0): thread (5,0,0)",
                      waited.error());
  EXPECT_EQ(hipSuccess, hipGetLastError()) << "reported once";
  test::store({1, 64, hip_stream(1)}, memory_, 3);
  ASSERT_TRUE(device_->synchronize(device_->stream(1)));
  EXPECT_EQ(3, first());
}

TEST_F(HostRuntimeDevice, LosesACaptureInWhichItWaits) {
  void* stream = device_->stream(1);
  ASSERT_TRUE(device_->begin_capture(stream));
  EXPECT_FALSE(device_->synchronize(stream));
  const auto ended = device_->end_capture(stream);
  ASSERT_FALSE(ended);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "hipStreamSynchronize is not allowed", ended.error());
  EXPECT_FALSE(device_->replay(stream));
}

TEST_F(HostRuntimeDevice, ChecksItsOptions) {
  EXPECT_TRUE(device_->configure({.wave_width = 32, .schedule_seed = 7, .workers = 1}));
  EXPECT_EQ(32, device_->info().wave_width);
  const auto refused = device_->configure({.wave_width = 48});
  ASSERT_FALSE(refused);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "wave width 48", refused.error());
  EXPECT_EQ(32, device_->info().wave_width);
}

TEST_F(HostRuntimeDevice, RefusesNegativeSizesAndForeignMemory) {
  int value = 0;
  EXPECT_FALSE(device_->allocate(-1));
  EXPECT_FALSE(device_->upload(memory_, &value, -1));
  EXPECT_FALSE(device_->download(&value, memory_, -1));
  EXPECT_FALSE(device_->download(&value, &value, 4));
  EXPECT_FALSE(device_->upload(memory_, &value, 64 * sizeof(int) + 1));
  EXPECT_FALSE(device_->release(&value));
}

}  // namespace
}  // namespace exactk::kernels
