#include "kernels/device/host/executor.h"

#include <limits>

#include "kernels/device/host/block_runner.h"
#include "kernels/device/host/fault_handler.h"

namespace exactk::host_device {

struct Executor::Job {
  const KernelLaunch& launch;
  uint64_t seed;
  size_t shares;
  uint64_t blocks;
  ScheduleOrder order;
  // The first place of the order that failed. A worker goes on up to it, so that the report does
  // not depend on who was faster.
  std::atomic<uint64_t> failed_place{std::numeric_limits<uint64_t>::max()};
  std::mutex text_mutex;
  std::string text;
};

std::string Executor::run(const KernelLaunch& launch, const Settings& settings) {
  install_fault_handlers();
  const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const auto shares = static_cast<size_t>(std::min<uint64_t>(settings.workers, blocks));
  Job job{launch,
          settings.schedule_seed,
          shares,
          blocks,
          ScheduleOrder(blocks, settings.schedule_seed),
          {},
          {},
          {}};
  job.failed_place = std::numeric_limits<uint64_t>::max();

  std::unique_lock lock(mutex_);
  while (workers_.size() < shares) {
    workers_.push_back(std::make_unique<Worker>());
    std::thread(&Executor::work, this, std::ref(*workers_.back()), workers_.size() - 1).detach();
  }
  job_ = &job;
  ++generation_;
  unfinished_ = workers_.size();
  work_there_.notify_all();
  wait_with_time_limit(lock, settings);
  job_ = nullptr;
  return job.text;
}

// Waits for all workers; ends a block that does not end by itself.
void Executor::wait_with_time_limit(std::unique_lock<std::mutex>& lock, const Settings& settings) {
  using Clock = std::chrono::steady_clock;
  struct Progress {
    uint64_t blocks = 0;
    Clock::time_point since = Clock::now();
  };
  std::vector<Progress> progress(workers_.size());
  const auto limit = std::chrono::seconds(settings.block_seconds_max);
  while (!work_done_.wait_for(lock, std::chrono::milliseconds(200),
                              [this] { return unfinished_ == 0; })) {
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < workers_.size(); ++i) {
      Worker& worker = *workers_[i];
      const uint64_t blocks = worker.blocks;
      if (blocks != progress[i].blocks) {
        progress[i] = {blocks, now};
      } else if (worker.busy && now - progress[i].since > limit) {
        pthread_kill(worker.thread, kTimeLimitSignal);
      }
    }
  }
}

void Executor::work(Worker& worker, size_t index) {
  const AlternateStack alternate_stack;
  BlockRunner runner;
  tls_runner = &runner;
  worker.thread = pthread_self();
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    work_there_.wait(lock, [&] { return job_ && generation_ != seen; });
    seen = generation_;
    if (index < job_->shares) {
      Job& job = *job_;
      worker.busy = true;
      lock.unlock();
      run_share(worker, job, index, runner);
      lock.lock();
      worker.busy = false;
    }
    if (--unfinished_ == 0) work_done_.notify_all();
  }
}

void Executor::run_share(Worker& worker, Job& job, size_t index, BlockRunner& runner) {
  const dim3& grid = job.launch.grid;
  runner.begin_launch(job.launch, job.seed);
  for (uint64_t place = index; place < job.blocks; place += job.shares) {
    if (place > job.failed_place.load()) return;
    const uint64_t block = job.order.at(place);
    worker.blocks.fetch_add(1, std::memory_order_relaxed);
    std::string text = runner.run({static_cast<unsigned>(block % grid.x),
                                   static_cast<unsigned>(block / grid.x % grid.y),
                                   static_cast<unsigned>(block / grid.x / grid.y)});
    if (text.empty()) continue;
    const std::lock_guard lock(job.text_mutex);
    if (place < job.failed_place.load()) {
      job.failed_place = place;
      job.text = std::move(text);
    }
    return;
  }
}

}  // namespace exactk::host_device
