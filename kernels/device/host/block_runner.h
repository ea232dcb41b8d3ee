// Runs one block at a time on the calling worker thread: a fiber per thread of the block, scheduled
// with bit masks per wave. A lane that has to wait picks its successor and jumps to it, without a
// detour over a scheduler; a lane that ends starts the next one on its own stack, so that a kernel
// without barriers never switches.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/device/host/fiber.h"
#include "kernels/device/host/hip_device.h"
#include "kernels/device/host/hip_launch.h"
#include "kernels/device/host/schedule.h"
#include "kernels/device/host/shared_segment.h"

namespace exactk::host_device {

constexpr int kThreadsMax = 1024;
constexpr int kLanesMax = 64;
constexpr int kWavesMax = kThreadsMax / 32;

struct Lane {
  FiberContext context;
  FiberStack* stack;
  const char* file;  // where it waits
  const char* what;
  uint3 thread;
  int32_t line;
  void* fake_stack;
  uint16_t wave;
  uint16_t lane;
};

// The values of one wave operation. Two per wave: the first lanes may arrive at the next operation
// while others have not read this one yet, but none can be two operations ahead.
struct WaveRow {
  uint64_t set;
  uint64_t participants;
  uint64_t values[kLanesMax];
};

struct Wave {
  uint64_t all;
  uint64_t live;
  uint64_t ready;       // may run
  uint64_t unstarted;   // may run, and has no stack yet
  uint64_t operating;   // wait in a wave operation
  uint64_t at_barrier;  // wait at a barrier of the block
  uint32_t row;         // which row the next operation uses
  bool mixed;           // lanes of `operating` wait at different operations
  Site site;
  WaveRow rows[2];
};

// Why a block did not end.
struct BlockFault {
  int signal = 0;  // 0: no thread can go on
  const void* address = nullptr;
  bool address_known = false;
  bool trapped = false;
  bool timed_out = false;
};

class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Sets up for the blocks of one launch.
  void begin_launch(const KernelLaunch& launch, uint64_t schedule_seed);
  // Runs a block to its end. An empty string: it ended; otherwise what went wrong.
  std::string run(uint3 block);

  // For the threads of the kernel.
  BarrierVotes barrier(bool predicate, const Site& site);
  const WaveRow& operate(bool predicate, uint64_t value, const Site& site);
  int lane_of_current() const { return current_->lane; }
  [[noreturn]] void trap(const Site& site);

  // For the signal handler, on the worker's own thread.
  bool in_kernel() const { return in_kernel_; }
  [[noreturn]] void abandon(const BlockFault& fault);

 private:
  enum class Order { kInOrder, kRandomLaneOfWave, kRandomLane };

  void prepare_block(uint3 block);
  Lane* pick();
  int pick_wave();
  void prefetch_after(const Lane* next) const;
  void give_stack(Lane* next);
  void resume(Lane* next, Lane* from);
  void suspend();
  void release_barrier();
  void finish_operation(Wave& wave, uint64_t stays);
  bool lane_ended();
  [[noreturn]] void run_lanes();
  static void fiber_entry(FiberTransfer transfer);

  std::string describe_fault() const;
  std::string describe_standstill() const;
  std::string describe_waits() const;
  std::string where() const;

  const KernelLaunch* launch_ = nullptr;
  uint64_t seed_ = 0;
  ScheduleRandom random_;
  Order order_ = Order::kInOrder;
  SharedSegment shared_;

  int threads_ = 0;
  int wave_width_ = 64;
  int waves_count_ = 0;
  uint64_t runnable_waves_ = 0;
  int current_wave_ = 0;
  int finished_ = 0;

  int arrived_ = 0;  // threads at the barrier
  int votes_ = 0;
  int resolved_votes_[2] = {};
  uint32_t barrier_count_ = 0;
  bool barrier_mixed_ = false;
  Site barrier_site_{};

  Lane* current_ = nullptr;
  volatile bool in_kernel_ = false;
  bool failed_ = false;
  BlockFault fault_;
  StackPool stacks_;
  FiberContext main_context_ = nullptr;
  FiberTarget main_target_;
  void* main_fake_stack_ = nullptr;
  std::unique_ptr<Lane[]> lanes_;
  std::unique_ptr<Wave[]> waves_;
};

// The runner of the calling worker thread, or nullptr.
extern __thread BlockRunner* tls_runner;

}  // namespace exactk::host_device
