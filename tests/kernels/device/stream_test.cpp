// Streams and events: what runs when.
#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

struct OwnedStream {
  explicit OwnedStream(unsigned flags = hipStreamNonBlocking) {
    EXPECT_EQ(hipSuccess, hipStreamCreateWithFlags(&stream, flags));
  }
  ~OwnedStream() { static_cast<void>(hipStreamDestroy(stream)); }
  operator hipStream_t() const { return stream; }
  hipStream_t stream = nullptr;
};

struct OwnedEvent {
  OwnedEvent() { EXPECT_EQ(hipSuccess, hipEventCreate(&event)); }
  ~OwnedEvent() { static_cast<void>(hipEventDestroy(event)); }
  operator hipEvent_t() const { return event; }
  hipEvent_t event = nullptr;
};

class Streams : public HostDevice {
 protected:
  // Without waiting for anything but the default stream.
  static int first_of(const DeviceArray<int>& array) {
    int value = 0;
    EXPECT_EQ(hipSuccess, hipMemcpy(&value, array.data(), sizeof(value), hipMemcpyDeviceToHost));
    return value;
  }
};

TEST_F(Streams, ReadingBeforeWaitingIsWrong) {
  OwnedStream stream;
  DeviceArray<int> out(64, 1);
  store({1, 64, stream}, out.data(), 2);
  EXPECT_EQ(1, first_of(out));
  EXPECT_EQ(hipSuccess, hipStreamSynchronize(stream));
  EXPECT_EQ(2, first_of(out));
}

TEST_F(Streams, EagerStreamsRunAtTheCall) {
  use({.eager = true});
  OwnedStream stream;
  DeviceArray<int> out(64, 1);
  store({1, 64, stream}, out.data(), 2);
  EXPECT_EQ(2, first_of(out));
}

TEST_F(Streams, KeepTheirOrder) {
  OwnedStream stream;
  DeviceArray<int> out(64, 1);
  store({1, 64, stream}, out.data(), 2);
  add_from({1, 64, stream}, out.data(), out.data(), 10);
  ASSERT_EQ(hipSuccess, hipMemsetAsync(out.data(), 0, 4, stream));
  add_from({1, 64, stream}, out.data(), out.data(), 100);
  const auto got = out.read();
  EXPECT_EQ(100, got[0]);
  EXPECT_EQ(112, got[1]);
}

TEST_F(Streams, CopiesReadHostMemoryWhenTheyRun) {
  OwnedStream stream;
  DeviceArray<int> out(1, 0);
  int source = 5;
  ASSERT_EQ(hipSuccess,
            hipMemcpyAsync(out.data(), &source, sizeof(source), hipMemcpyHostToDevice, stream));
  source = 6;
  ASSERT_EQ(hipSuccess, hipStreamSynchronize(stream));
  EXPECT_EQ(6, first_of(out));
}

TEST_F(Streams, WaitingForOneDoesNotRunAnother) {
  OwnedStream first, second;
  DeviceArray<int> out(64, 1);
  store({1, 64, first}, out.data(), 2);
  ASSERT_EQ(hipSuccess, hipStreamSynchronize(second));
  EXPECT_EQ(1, first_of(out));
}

TEST_F(Streams, AnEventOrdersTwoOfThem) {
  OwnedStream first, second;
  OwnedEvent event;
  DeviceArray<int> a(64, 1), b(64, 0);
  store({1, 64, first}, a.data(), 2);
  ASSERT_EQ(hipSuccess, hipEventRecord(event, first));
  store({1, 64, first}, a.data(), 3);
  ASSERT_EQ(hipSuccess, hipStreamWaitEvent(second, event));
  add_from({1, 64, second}, b.data(), a.data(), 0);
  ASSERT_EQ(hipSuccess, hipStreamSynchronize(second));
  EXPECT_EQ(2, first_of(b)) << "exactly up to the event";
}

TEST_F(Streams, AForgottenEventShows) {
  OwnedStream first, second;
  DeviceArray<int> a(64, 1), b(64, 0);
  store({1, 64, first}, a.data(), 2);
  add_from({1, 64, second}, b.data(), a.data(), 0);
  ASSERT_EQ(hipSuccess, hipStreamSynchronize(second));
  EXPECT_EQ(1, first_of(b));
}

TEST_F(Streams, TheDefaultStreamWaitsForBlockingOnes) {
  OwnedStream blocking(hipStreamDefault);
  DeviceArray<int> a(64, 1), b(64, 0);
  store({1, 64, blocking}, a.data(), 2);
  add_from({1, 64}, b.data(), a.data(), 0);
  store({1, 64, blocking}, a.data(), 3);
  EXPECT_EQ(2, first_of(b)) << "in the order of the calls";
}

TEST_F(Streams, AnEventOfOneRecordedStreamCanBeWaitedFor) {
  OwnedStream stream;
  OwnedEvent start, stop;
  DeviceArray<int> out(64, 1);
  ASSERT_EQ(hipSuccess, hipEventRecord(start, stream));
  store({1, 64, stream}, out.data(), 2);
  ASSERT_EQ(hipSuccess, hipEventRecord(stop, stream));
  float milliseconds = -1;
  EXPECT_EQ(hipErrorNotReady, hipEventElapsedTime(&milliseconds, start, stop));
  ASSERT_EQ(hipSuccess, hipEventSynchronize(stop));
  EXPECT_EQ(hipSuccess, hipEventElapsedTime(&milliseconds, start, stop));
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(2, first_of(out));
}

TEST_F(Streams, PollingEndsInTheEnd) {
  OwnedStream stream;
  DeviceArray<int> out(64, 1);
  for (int i = 0; i < 5; ++i) store({1, 64, stream}, out.data(), i);
  int polls = 0;
  while (hipStreamQuery(stream) == hipErrorNotReady) ASSERT_LT(++polls, 100);
  EXPECT_GT(polls, 0);
  EXPECT_EQ(4, first_of(out));
}

TEST_F(Streams, ASeedInterleavesIndependentStreams) {
  bool first_won = false, second_won = false;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    use({.schedule_seed = seed});
    OwnedStream first, second;
    DeviceArray<int> out(1, 0);
    for (int i = 0; i < 3; ++i) {
      store({1, 1, first}, out.data(), 1);
      store({1, 1, second}, out.data(), 2);
    }
    ASSERT_EQ(hipSuccess, hipDeviceSynchronize());
    (first_of(out) == 1 ? first_won : second_won) = true;
  }
  EXPECT_TRUE(first_won);
  EXPECT_TRUE(second_won);
}

TEST_F(Streams, CopiesCheckDeviceRanges) {
  DeviceArray<int> out(4);
  std::vector<int> host(8);
  EXPECT_EQ(hipErrorInvalidValue, hipMemcpy(out.data(), host.data(), 17, hipMemcpyHostToDevice));
  EXPECT_EQ(hipErrorInvalidValue,
            hipMemcpy(host.data(), host.data() + 4, 16, hipMemcpyDeviceToHost));
  EXPECT_EQ(hipErrorInvalidValue, hipMemset(out.data() + 1, 0, 16));
  EXPECT_EQ(hipSuccess, hipMemcpy(host.data(), out.data(), 16, hipMemcpyDeviceToHost));
}

}  // namespace
}  // namespace exactk::kernels::test
