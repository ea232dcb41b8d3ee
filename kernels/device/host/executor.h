// The worker threads and the launch of a kernel on them.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernels/device/host/hip_api.h"
#include "kernels/device/host/hip_launch.h"

namespace exactk::host_device {

class Executor {
 public:
  // Runs every block of the launch. Empty, or what went wrong in the first faulty block of the
  // order. Worker w takes the places w, w + workers, ... of the block order, whatever the speed of
  // the others.
  std::string run(const KernelLaunch& launch, const Settings& settings);

 private:
  struct Job;
  struct Worker {
    pthread_t thread{};
    std::atomic<bool> known{false};
    std::atomic<uint64_t> blocks{0};  // started so far
    bool busy = false;
  };
  void work(Worker& worker, size_t index);
  static void run_share(Worker& worker, Job& job, size_t index, class BlockRunner& runner);
  void wait_with_time_limit(std::unique_lock<std::mutex>& lock, const Settings& settings);

  std::mutex mutex_;
  std::condition_variable work_there_;
  std::condition_variable work_done_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Job* job_ = nullptr;
  uint64_t generation_ = 0;
  size_t unfinished_ = 0;
};

}  // namespace exactk::host_device
