// What goes wrong in a kernel is reported, never hangs, and the next launch works.
#include <cstdint>
#include <fstream>

#include "tests/kernels/device/test_support.h"

namespace exactk::kernels::test {
namespace {

// Line of the marker comment in fault_kernels.hip, as the report names it.
std::string line_of(const std::string& marker) {
  std::ifstream source(EXACTK_FAULT_KERNELS);
  std::string text;
  for (int line = 1; std::getline(source, text); ++line) {
    if (text.ends_with("// line: " + marker))
      return "fault_kernels.hip:" + std::to_string(line) + " ";
  }
  return "no marker " + marker;
}

class Faults : public HostDeviceWave {
 protected:
  // Waits for a failing launch, checks its error, and runs another kernel.
  std::string failure() {
    EXPECT_EQ(hipErrorLaunchFailure, hipDeviceSynchronize());
    EXPECT_EQ(hipErrorLaunchFailure, hipGetLastError());
    const std::string text = last_error_text();
    DeviceArray<int> out(128, 0);
    store({1, 128}, out.data(), 5);
    EXPECT_EQ(std::vector<int>(128, 5), out.read()) << "the next launch";
    return text;
  }
};

TEST_P(Faults, BarrierThatSomeThreadsSkipIsReportedWithItsLine) {
  barrier_of_some({3, 128});
  const std::string text = failure();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "kernel barrier_of_some_kernel, block (0,0,0)", text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "barrier not reached by all threads", text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "96 threads at " + line_of("of some") + "in __syncthreads (first (0,0,0))",
                      text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "32 threads ended (first (96,0,0))", text);
}

TEST_P(Faults, BarriersAtTwoLinesAreReportedWithBoth) {
  barrier_at_two_lines({1, 128});
  const std::string text = failure();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "64 threads at " + line_of("even"), text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "64 threads at " + line_of("odd"), text);
}

TEST_P(Faults, WaveOperationOfAPartOfTheWaveIsReported) {
  ballot_beside_barrier({1, 128});
  const std::string text = failure();
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "5 threads at " + line_of("partial") + "in __ballot (first (0,0,0))", text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "123 threads at " + line_of("beside") + "in __syncthreads", text);
}

TEST_P(Faults, WaveOperationsAtTwoLinesAreReported) {
  ballots_at_two_lines({1, 64});
  const std::string text = failure();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "wave operation not reached by all lanes", text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, line_of("ballot even"), text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, line_of("ballot odd"), text);
}

TEST_P(Faults, ReportIsTheSameForEveryNumberOfWorkers) {
  for (uint64_t seed : {0, 4}) {
    std::string texts[2];
    for (int workers : {1, 2}) {
      use({.wave_width = wave(), .schedule_seed = seed, .workers = workers});
      barrier_of_some({20, 128});
      texts[workers - 1] = failure();
    }
    EXPECT_EQ(texts[0], texts[1]) << "seed " << seed;
  }
}

TEST_P(Faults, WildStoreIsReportedWithBlockThreadAndAddress) {
  EXACTK_NEEDS_SIGNALS();
  store_by_one_thread({5, 128}, 3, 77, reinterpret_cast<int*>(uintptr_t{0x1230}));
  const std::string text = failure();
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "kernel store_by_one_thread_kernel, block (3,0,0): thread (77,0,0)", text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "SIGSEGV", text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "0x1230", text);
}

TEST_P(Faults, FaultsOneAfterAnotherAreAllReported) {
  EXACTK_NEEDS_SIGNALS();
  for (int i = 0; i < 5; ++i) {
    store_by_one_thread({1, 1024}, 0, 100 + i, nullptr);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "thread (" + std::to_string(100 + i) + ",0,0)",
                        failure());
  }
}

TEST_P(Faults, WhatWasEnqueuedAfterAFaultDoesNotRun) {
  EXACTK_NEEDS_SIGNALS();
  DeviceArray<int> out(64, 0);
  store_by_one_thread({1, 64}, 0, 1, nullptr);
  store({1, 64}, out.data(), 9);
  EXPECT_EQ(hipErrorLaunchFailure, hipDeviceSynchronize());
  EXPECT_EQ(std::vector<int>(64, 0), out.read());
}

TEST_P(Faults, StorePastAnAllocationNamesTheDistance) {
  EXACTK_NEEDS_SIGNALS();
  DeviceArray<int> array(64);  // 256 bytes end at an inaccessible page
  store_by_one_thread({1, 64}, 0, 3, array.data() + 64);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "0 bytes past the end of an allocation of 256 bytes",
                      failure());
}

TEST_P(Faults, UseAfterFreeIsReported) {
  EXACTK_NEEDS_SIGNALS();
  int* freed = nullptr;
  ASSERT_EQ(hipSuccess, hipMalloc(&freed, 4096));
  ASSERT_EQ(hipSuccess, hipFree(freed));
  store_by_one_thread({1, 64}, 0, 3, freed + 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "byte 8 of a freed allocation of 4096 bytes",
                      failure());
}

TEST_P(Faults, DivisionByZeroIsReported) {
  EXACTK_NEEDS_SIGNALS();
  DeviceArray<int> out(1);
  divide({1, 1}, 0, out.data());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "SIGFPE", failure());
}

TEST_P(Faults, FullStackIsReportedAsSuch) {
  EXACTK_NEEDS_SIGNALS();
  DeviceArray<int> out(1);
  recurse({1, 64}, 1000000, out.data());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "the stack of a thread is full", failure());
}

TEST_P(Faults, TrapIsReportedWithItsLine) {
  trap({1, 64});
  EXPECT_PRED_FORMAT2(
      testing::IsSubstring,
      "thread (3,0,0): __trap at " + line_of("trap").substr(0, line_of("trap").size() - 1),
      failure());
}

TEST_P(Faults, EndlessLoopIsEndedAtTheTimeLimit) {
  EXACTK_NEEDS_SIGNALS();
  DeviceArray<int> never(1, 0);
  use({.wave_width = wave(), .block_seconds_max = 1});
  spin({1, 64}, never.data());
  const std::string text = failure();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "kernel spin_kernel, block (0,0,0): thread (0,0,0)",
                      text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "time limit", text);
}

TEST_P(Faults, WritePastDynamicSharedMemoryIsReported) {
  overrun_dynamic({1, 64}, 100, 0);
  EXPECT_EQ(hipSuccess, hipDeviceSynchronize());
  for (size_t past : {1, 7, 1000}) {
    overrun_dynamic({1, 64}, 100, past);
    EXPECT_PRED_FORMAT2(testing::IsSubstring,
                        "wrote " + std::to_string(past) + " bytes past its 100 bytes", failure());
  }
}

EXACTK_BOTH_WAVES(Faults);

}  // namespace
}  // namespace exactk::kernels::test
