#include "kernels/device/host/block_runner.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/device/host/poison.h"

namespace exactk::host_device {

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread uint3 blockDim;
__thread uint3 gridDim;
__thread int warpSize = 64;
__thread BlockRunner* tls_runner = nullptr;
int fence_variable = 0;

namespace {

// Two instances of one source line may have their own copies of its strings.
__attribute__((noinline)) bool same_text(const Site& a, const Site& b) {
  return std::strcmp(a.file, b.file) == 0 && std::strcmp(a.what, b.what) == 0;
}

inline bool same_site(const Site& a, const Site& b) {
  return a.line == b.line && ((a.file == b.file && a.what == b.what) || same_text(a, b));
}

constexpr uint64_t low_bits(int count) {
  return count >= 64 ? ~0ull : (1ull << count) - 1;
}

}  // namespace

BlockRunner::BlockRunner() : lanes_(new Lane[kThreadsMax + 1]()), waves_(new Wave[kWavesMax]()) {
  main_target_ = target_of_thread();
}

void BlockRunner::begin_launch(const KernelLaunch& launch, uint64_t schedule_seed) {
  launch_ = &launch;
  seed_ = schedule_seed;
  shared_.locate(launch.function, launch.dynamic_base);
  threads_ = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  wave_width_ = launch.wave_width;
  waves_count_ = (threads_ + wave_width_ - 1) / wave_width_;
  warpSize = wave_width_;
  blockDim = {launch.block.x, launch.block.y, launch.block.z};
  gridDim = {launch.grid.x, launch.grid.y, launch.grid.z};

  uint3 thread{0, 0, 0};
  for (int i = 0; i < threads_; ++i) {
    lanes_[i].thread = thread;
    lanes_[i].wave = static_cast<uint16_t>(i / wave_width_);
    lanes_[i].lane = static_cast<uint16_t>(i % wave_width_);
    if (++thread.x < launch.block.x) continue;
    thread.x = 0;
    if (++thread.y < launch.block.y) continue;
    thread.y = 0;
    ++thread.z;
  }
}

void BlockRunner::prepare_block(uint3 block) {
  blockIdx = block;
  for (int w = 0; w < waves_count_; ++w) {
    Wave& wave = waves_[w];
    wave.all = low_bits(std::min(wave_width_, threads_ - w * wave_width_));
    wave.live = wave.unstarted = wave.all;
    wave.ready = wave.operating = wave.at_barrier = 0;
    wave.row = 0;
    wave.mixed = false;
  }
  runnable_waves_ = low_bits(waves_count_);
  current_wave_ = 0;
  finished_ = arrived_ = votes_ = 0;
  barrier_count_ = 0;
  barrier_mixed_ = false;
  failed_ = false;
  fault_ = {};

  order_ = Order::kInOrder;
  if (seed_ != 0) {
    const uint64_t place = block.x + (uint64_t{block.y} << 32) + (uint64_t{block.z} << 48);
    random_ = ScheduleRandom(ScheduleRandom::mix(seed_) ^ ScheduleRandom::mix(place + 1));
    order_ = random_.next() & 1 ? Order::kRandomLane : Order::kRandomLaneOfWave;
    current_wave_ = random_bit(runnable_waves_, random_.next());
  }
  shared_.poison(launch_->dynamic_bytes, seed_);
}

// The wave that runs next. A wave goes on until all its lanes wait, except in the wildest order.
inline int BlockRunner::pick_wave() {
  const bool goes_on = runnable_waves_ >> current_wave_ & 1;
  switch (order_) {
    case Order::kInOrder:
      return goes_on ? current_wave_ : std::countr_zero(runnable_waves_);
    case Order::kRandomLaneOfWave:
      return goes_on ? current_wave_ : random_bit(runnable_waves_, random_.next());
    case Order::kRandomLane:
      return random_bit(runnable_waves_, random_.next());
  }
  return 0;
}

// Takes the next lane off the masks of what may run; nullptr if nothing may.
inline Lane* BlockRunner::pick() {
  if (runnable_waves_ == 0) return nullptr;
  current_wave_ = pick_wave();
  Wave& wave = waves_[current_wave_];
  const uint64_t runnable = wave.ready | wave.unstarted;
  const int lane =
      order_ == Order::kInOrder ? std::countr_zero(runnable) : random_bit(runnable, random_.next());
  const uint64_t bit = uint64_t{1} << lane;
  if (runnable == bit) runnable_waves_ &= ~(uint64_t{1} << current_wave_);
  Lane* next = &lanes_[current_wave_ * wave_width_ + lane];
  if (wave.unstarted & bit) next->stack = nullptr;
  wave.ready &= ~bit;
  wave.unstarted &= ~bit;
  return next;
}

// The stacks of a whole block do not fit into the first-level cache. In order the lane after next
// is known early enough to fetch what its resumption reads.
inline void BlockRunner::prefetch_after(const Lane* next) const {
  if (order_ != Order::kInOrder) return;
  const char* context = static_cast<const char*>(next[1].context);
  __builtin_prefetch(context);
  __builtin_prefetch(context + 64);
  __builtin_prefetch(context + 128);
}

__attribute__((noinline)) void BlockRunner::give_stack(Lane* next) {
  in_kernel_ = false;  // a signal of the time limit must not end an allocation
  next->stack = stacks_.take();
  in_kernel_ = true;
  if (!next->stack) abandon({});
  next->context = boost::context::detail::make_fcontext(
      next->stack->top, static_cast<size_t>(next->stack->top - next->stack->bottom), &fiber_entry);
}

// Leaves `from` (null: it has ended) for `next`, which may need a stack first.
inline void BlockRunner::resume(Lane* next, Lane* from) {
  if (!next->stack) give_stack(next);
  prefetch_after(next);
  current_ = next;
  threadIdx = next->thread;
  const FiberTransfer transfer = switch_fiber(
      next->context, from, from ? &from->fake_stack : nullptr, target_of(*next->stack));
  if (transfer.data) static_cast<Lane*>(transfer.data)->context = transfer.fctx;
}

inline void BlockRunner::suspend() {
  Lane* from = current_;
  Lane* next = pick();
  if (!next) abandon({});
  if (next != from) resume(next, from);
}

__attribute__((noinline)) void BlockRunner::release_barrier() {
  resolved_votes_[barrier_count_ & 1] = votes_;
  ++barrier_count_;
  arrived_ = 0;
  for (int w = 0; w < waves_count_; ++w) {
    waves_[w].at_barrier = 0;
    waves_[w].ready = waves_[w].all;
  }
  runnable_waves_ = low_bits(waves_count_);
}

inline BarrierVotes BlockRunner::barrier(bool predicate, const Site& site) {
  Lane& lane = *current_;
  lane.file = site.file;
  lane.what = site.what;
  lane.line = site.line;
  if (arrived_ == 0) {
    barrier_site_ = site;
    votes_ = 0;
  } else if (!same_site(barrier_site_, site)) {
    barrier_mixed_ = true;
  }
  const uint32_t number = barrier_count_ & 1;
  votes_ += predicate;
  ++arrived_;
  waves_[lane.wave].at_barrier |= uint64_t{1} << lane.lane;
  if (arrived_ == threads_ && !barrier_mixed_) release_barrier();
  suspend();
  return {resolved_votes_[number], threads_};
}

// Every live lane of the wave has arrived: all may read the row.
void BlockRunner::finish_operation(Wave& wave, uint64_t wave_index) {
  wave.rows[wave.row].participants = wave.operating;
  wave.ready |= wave.operating;
  wave.operating = 0;
  wave.row ^= 1;
  runnable_waves_ |= uint64_t{1} << wave_index;
}

inline const WaveRow& BlockRunner::operate(bool predicate, uint64_t value, const Site& site) {
  Lane& lane = *current_;
  Wave& wave = waves_[lane.wave];
  WaveRow& row = wave.rows[wave.row];
  lane.file = site.file;
  lane.what = site.what;
  lane.line = site.line;
  if (wave.operating == 0) {
    row.set = 0;
    wave.site = site;
  } else if (!same_site(wave.site, site)) {
    wave.mixed = true;
  }
  row.set |= uint64_t{predicate} << lane.lane;
  row.values[lane.lane] = value;
  wave.operating |= uint64_t{1} << lane.lane;
  if (wave.operating == wave.live && !wave.mixed) finish_operation(wave, lane.wave);
  suspend();
  return row;
}

// Marks the current lane as ended. True if another lane can start on its stack; false if the stack
// is free and the worker must leave for `current_`, or for its own stack when that is null.
bool BlockRunner::lane_ended() {
  Lane& lane = *current_;
  Wave& wave = waves_[lane.wave];
  wave.live &= ~(uint64_t{1} << lane.lane);
  ++finished_;
  if (wave.operating != 0 && wave.operating == wave.live && !wave.mixed) {
    finish_operation(wave, lane.wave);
  }
  FiberStack* stack = lane.stack;
  Lane* next = pick();
  if (!next && finished_ != threads_) abandon({});
  current_ = next;
  if (next && !next->stack) {
    next->stack = stack;
    threadIdx = next->thread;
    return true;
  }
  stacks_.give_back(stack);
  return false;
}

void BlockRunner::run_lanes() {
  do {
    launch_->invoke(launch_->arguments.get());
  } while (lane_ended());
  if (current_) resume(current_, nullptr);
  switch_fiber(main_context_, nullptr, nullptr, main_target_);
  std::abort();  // nobody resumes a fiber that has ended
}

void BlockRunner::fiber_entry(FiberTransfer transfer) {
#if defined(EXACTK_ASAN)
  announce_arrival(nullptr);
#endif
  BlockRunner& runner = *tls_runner;
  if (transfer.data) {
    static_cast<Lane*>(transfer.data)->context = transfer.fctx;
  } else if (!runner.main_context_) {
    runner.main_context_ = transfer.fctx;
  }
  runner.run_lanes();
}

void BlockRunner::abandon(const BlockFault& fault) {
  fault_ = fault;
  failed_ = true;
  in_kernel_ = false;
  switch_fiber(main_context_, nullptr, nullptr, main_target_);
  std::abort();  // nobody resumes an abandoned fiber
}

void BlockRunner::trap(const Site& site) {
  current_->file = site.file;
  current_->line = site.line;
  current_->what = site.what;
  BlockFault fault;
  fault.trapped = true;
  abandon(fault);
}

std::string BlockRunner::run(uint3 block) {
  prepare_block(block);
  Lane* first = pick();
  first->stack = stacks_.take();
  if (!first->stack) return "no memory for the stack of a thread";
  first->context = boost::context::detail::make_fcontext(
      first->stack->top, static_cast<size_t>(first->stack->top - first->stack->bottom),
      &fiber_entry);
  current_ = first;
  threadIdx = first->thread;
  main_context_ = nullptr;
  in_kernel_ = true;
  switch_fiber(first->context, nullptr, &main_fake_stack_, target_of(*first->stack));
  in_kernel_ = false;
  if (!failed_) {
    const std::string overrun = shared_.overrun();
    return overrun.empty() ? overrun : where() + " " + overrun;
  }
  const std::string text = fault_.signal || fault_.trapped || fault_.timed_out
                               ? describe_fault()
                               : describe_standstill();
  stacks_.reclaim_all();
  return text;
}

// --- what kernels call

BarrierVotes block_barrier(bool predicate, const Site& site) {
  return tls_runner->barrier(predicate, site);
}

WaveVotes wave_vote(bool predicate, const Site& site) {
  const WaveRow& row = tls_runner->operate(predicate, 0, site);
  return {row.set, row.participants};
}

uint64_t wave_exchange(uint64_t value, int source, const Site& site) {
  const WaveRow& row = tls_runner->operate(false, value, site);
  const bool takes_part = source >= 0 && source < kLanesMax && (row.participants >> source & 1);
  return takes_part ? row.values[source] : kExchangePoison;
}

int lane_index() {
  return tls_runner->lane_of_current();
}

void device_trap(const Site& site) {
  tls_runner->trap(site);
}

}  // namespace exactk::host_device
