// Capture and replay.
#include <functional>
#include <memory>
#include <stdexcept>

#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

class Graphs : public HostDevice {
 protected:
  void SetUp() override {
    HostDevice::SetUp();
    ASSERT_EQ(hipSuccess, hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking));
    ASSERT_EQ(hipSuccess, hipStreamCreateWithFlags(&side_, hipStreamNonBlocking));
  }
  void TearDown() override {
    if (executable_) static_cast<void>(hipGraphExecDestroy(executable_));
    if (graph_) static_cast<void>(hipGraphDestroy(graph_));
    static_cast<void>(hipStreamDestroy(side_));
    static_cast<void>(hipStreamDestroy(stream_));
  }
  void begin() {
    ASSERT_EQ(hipSuccess, hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal));
  }
  void end() {
    ASSERT_EQ(hipSuccess, hipStreamEndCapture(stream_, &graph_)) << last_error_text();
    ASSERT_EQ(hipSuccess, hipGraphInstantiate(&executable_, graph_, nullptr, nullptr, 0));
  }
  void replay() {
    ASSERT_EQ(hipSuccess, hipGraphLaunch(executable_, stream_));
    ASSERT_EQ(hipSuccess, hipStreamSynchronize(stream_)) << last_error_text();
  }

  hipStream_t stream_ = nullptr;
  hipStream_t side_ = nullptr;
  hipGraph_t graph_ = nullptr;
  hipGraphExec_t executable_ = nullptr;
};

TEST_F(Graphs, CapturingRunsNothing) {
  DeviceArray<int> out(64, 1);
  begin();
  store({1, 64, stream_}, out.data(), 2);
  end();
  EXPECT_EQ(std::vector<int>(64, 1), out.read());
  replay();
  EXPECT_EQ(std::vector<int>(64, 2), out.read());
}

TEST_F(Graphs, FreezeParametersAndReadMemoryAtReplay) {
  DeviceArray<int> from(64, 5), to(64, 0);
  int plus = 100;
  begin();
  add_from({1, 64, stream_}, to.data(), from.data(), plus);
  end();
  plus = 200;
  replay();
  EXPECT_EQ(std::vector<int>(64, 105), to.read());
  const std::vector<int> next(64, 7);
  ASSERT_EQ(hipSuccess, hipMemcpy(from.data(), next.data(), from.bytes(), hipMemcpyHostToDevice));
  replay();
  EXPECT_EQ(std::vector<int>(64, 107), to.read()) << "memory of now, parameter of then";
}

TEST_F(Graphs, KeepTheWaveWidthOfTheCapture) {
  DeviceArray<uint64_t> ballots(64);
  DeviceArray<int> any_all(64 * 4);
  use({.wave_width = 32});
  begin();
  ballot({1, 64, stream_}, ballots.data(), any_all.data());
  end();
  use({.wave_width = 64});
  replay();
  EXPECT_EQ(0u, ballots.read()[0] >> 32);
}

TEST_F(Graphs, HoldMemsetsAndCopies) {
  DeviceArray<int> a(64, 1), b(64, 1), c(64, 1);
  int host = 41;
  begin();
  ASSERT_EQ(hipSuccess, hipMemsetAsync(a.data(), 0xff, a.bytes(), stream_));
  ASSERT_EQ(hipSuccess,
            hipMemcpyAsync(b.data(), a.data(), b.bytes(), hipMemcpyDeviceToDevice, stream_));
  ASSERT_EQ(hipSuccess,
            hipMemcpyAsync(b.data(), &host, sizeof(host), hipMemcpyHostToDevice, stream_));
  add_from({1, 64, stream_}, c.data(), b.data(), 1);
  end();
  replay();
  const auto got = c.read();
  EXPECT_EQ(42, got[0]);
  EXPECT_EQ(0, got[1]);

  size_t count = 0;
  ASSERT_EQ(hipSuccess, hipGraphGetNodes(graph_, nullptr, &count));
  ASSERT_EQ(4u, count);
  std::vector<hipGraphNode_t> nodes(count);
  ASSERT_EQ(hipSuccess, hipGraphGetNodes(graph_, nodes.data(), &count));
  int types[3] = {};
  for (hipGraphNode_t node : nodes) {
    hipGraphNodeType type{};
    ASSERT_EQ(hipSuccess, hipGraphNodeGetType(node, &type));
    ++types[type];
  }
  EXPECT_EQ(1, types[hipGraphNodeTypeKernel]);
  EXPECT_EQ(2, types[hipGraphNodeTypeMemcpy]);
  EXPECT_EQ(1, types[hipGraphNodeTypeMemset]);
}

struct Store {
  int* to;
  const int* from;
};

HostFunction storing(const Store& arguments) {
  return {[](const void* frozen) {
            const auto& store = *static_cast<const Store*>(frozen);
            *store.to = *store.from;
          },
          std::make_shared<const Store>(arguments)};
}

TEST_F(Graphs, HoldHostFunctionsWhichRunAtReplayAndInOrder) {
  DeviceArray<int> from(1, 5), to(1, 0);
  begin();
  store({1, 1, stream_}, from.data(), 6);
  ASSERT_EQ(hipSuccess, enqueue_host_function(storing({to.data(), from.data()}), stream_));
  add_from({1, 1, stream_}, from.data(), to.data(), 1);
  end();
  EXPECT_EQ(0, to.read()[0]) << "captured, not run";
  replay();
  EXPECT_EQ(6, to.read()[0]);
  EXPECT_EQ(7, from.read()[0]);
  size_t count = 3;
  std::vector<hipGraphNode_t> nodes(count);
  ASSERT_EQ(hipSuccess, hipGraphGetNodes(graph_, nodes.data(), &count));
  ASSERT_EQ(3u, count);
  hipGraphNodeType type{};
  ASSERT_EQ(hipSuccess, hipGraphNodeGetType(nodes[1], &type));
  EXPECT_EQ(hipGraphNodeTypeHost, type);
}

TEST_F(Graphs, ReportWhatAHostFunctionThrows) {
  ASSERT_EQ(hipSuccess,
            enqueue_host_function(
                {[](const void*) { throw std::runtime_error("no luck"); }, nullptr}, stream_));
  EXPECT_EQ(hipErrorLaunchFailure, hipStreamSynchronize(stream_));
  EXPECT_EQ("a host function threw an exception: no luck", last_error_text());
  EXPECT_EQ(hipErrorInvalidValue, enqueue_host_function({}, stream_));
}

TEST_F(Graphs, SurviveTheirTemplate) {
  DeviceArray<int> out(64, 1);
  begin();
  store({1, 64, stream_}, out.data(), 3);
  end();
  ASSERT_EQ(hipSuccess, hipGraphDestroy(graph_));
  graph_ = nullptr;
  replay();
  EXPECT_EQ(3, out.read()[0]);
}

TEST_F(Graphs, ForkAndJoinOverEvents) {
  for (uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    use({.schedule_seed = seed});
    DeviceArray<int> a(64, 0), b(64, 0), c(64, 0);
    hipEvent_t fork = nullptr, join = nullptr;
    ASSERT_EQ(hipSuccess, hipEventCreate(&fork));
    ASSERT_EQ(hipSuccess, hipEventCreate(&join));
    begin();
    store({1, 64, stream_}, a.data(), 1);
    ASSERT_EQ(hipSuccess, hipEventRecord(fork, stream_));
    ASSERT_EQ(hipSuccess, hipStreamWaitEvent(side_, fork));
    add_from({1, 64, side_}, b.data(), a.data(), 10);
    ASSERT_EQ(hipSuccess, hipEventRecord(join, side_));
    ASSERT_EQ(hipSuccess, hipStreamWaitEvent(stream_, join));
    add_from({1, 64, stream_}, c.data(), b.data(), 100);
    end();
    replay();
    EXPECT_EQ(std::vector<int>(64, 111), c.read()) << "seed " << seed;
    ASSERT_EQ(hipSuccess, hipGraphExecDestroy(executable_));
    ASSERT_EQ(hipSuccess, hipGraphDestroy(graph_));
    ASSERT_EQ(hipSuccess, hipEventDestroy(fork));
    ASSERT_EQ(hipSuccess, hipEventDestroy(join));
    executable_ = nullptr;
    graph_ = nullptr;
  }
}

TEST_F(Graphs, RefuseAForkThatIsNotJoined) {
  DeviceArray<int> a(64, 0);
  hipEvent_t fork = nullptr;
  ASSERT_EQ(hipSuccess, hipEventCreate(&fork));
  begin();
  store({1, 64, stream_}, a.data(), 1);
  ASSERT_EQ(hipSuccess, hipEventRecord(fork, stream_));
  ASSERT_EQ(hipSuccess, hipStreamWaitEvent(side_, fork));
  store({1, 64, side_}, a.data(), 2);
  EXPECT_EQ(hipErrorStreamCaptureUnjoined, hipStreamEndCapture(stream_, &graph_));
  EXPECT_EQ(nullptr, graph_);
  ASSERT_EQ(hipSuccess, hipEventDestroy(fork));
}

TEST_F(Graphs, RefuseWhatCannotBeCaptured) {
  DeviceArray<int> a(64, 0);
  std::vector<int> host(64);
  void* memory = nullptr;
  const std::pair<hipError_t, std::function<hipError_t()>> illegal[] = {
      {hipErrorStreamCaptureImplicit,
       [&] { return hipMemcpy(host.data(), a.data(), 4, hipMemcpyDeviceToHost); }},
      {hipErrorStreamCaptureImplicit, [&] { return hipMemset(a.data(), 0, 4); }},
      {hipErrorStreamCaptureUnsupported, [&] { return hipStreamSynchronize(stream_); }},
      {hipErrorStreamCaptureUnsupported, [&] { return hipStreamQuery(stream_); }},
      {hipErrorStreamCaptureUnsupported, [&] { return hipDeviceSynchronize(); }},
      {hipErrorStreamCaptureUnsupported, [&] { return hipMalloc(&memory, 16); }},
      {hipErrorStreamCaptureUnsupported, [&] { return hipFree(a.data()); }},
  };
  for (const auto& [want, call] : illegal) {
    begin();
    store({1, 64, stream_}, a.data(), 1);
    EXPECT_EQ(want, call());
    const std::string reason = last_error_text();
    store({1, 64, stream_}, a.data(), 1);
    EXPECT_EQ(hipErrorStreamCaptureInvalidated, hipGetLastError());
    EXPECT_EQ(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream_, &graph_));
    EXPECT_NE(std::string::npos, last_error_text().find(reason)) << last_error_text();
    EXPECT_EQ(nullptr, graph_);
  }
  EXPECT_EQ(std::vector<int>(64, 0), a.read()) << "nothing ran, nothing was freed";
}

TEST_F(Graphs, RefuseTheDefaultStream) {
  EXPECT_EQ(hipErrorStreamCaptureUnsupported,
            hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal));
}

TEST_F(Graphs, ReportAFaultAtReplay) {
  EXACTK_NEEDS_SIGNALS();
  begin();
  store_by_one_thread({1, 64, stream_}, 0, 9, nullptr);
  end();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(hipSuccess, hipGraphLaunch(executable_, stream_));
    EXPECT_EQ(hipErrorLaunchFailure, hipStreamSynchronize(stream_));
    EXPECT_NE(std::string::npos, last_error_text().find("thread (9,0,0)"));
  }
}

}  // namespace
}  // namespace exactk::kernels::test
