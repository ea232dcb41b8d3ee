// Fibers: stacks of their own and the switch between them, with what the sanitizers need to know
// about it.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define EXACTK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXACTK_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define EXACTK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EXACTK_TSAN 1
#endif
#endif

namespace exactk::host_device {

// One mapping: [guard page | stack]. The stack grows down to the guard page.
struct FiberStack {
  std::byte* mapping = nullptr;
  std::byte* bottom = nullptr;  // lowest usable byte
  std::byte* top = nullptr;     // where the fiber starts, coloured
  void* tsan_fiber = nullptr;
};

// The stacks of one worker; the last one given back is the next one taken, because it is in the
// cache.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  FiberStack* take();
  void give_back(FiberStack* stack) { free_.push_back(stack); }
  // Every stack is free again, also those of abandoned fibers: what their frames owned is leaked.
  void reclaim_all();
  // The stack with its guard page at `address`, or nullptr.
  const FiberStack* guard_at(const void* address) const;

 private:
  FiberStack* create();
  std::vector<FiberStack*> all_;
  std::vector<FiberStack*> free_;
};

// What a sanitizer knows about the place that a switch goes to.
struct FiberTarget {
  const void* bottom = nullptr;
  size_t bytes = 0;
  void* tsan_fiber = nullptr;
};
inline FiberTarget target_of(const FiberStack& stack) {
  return {stack.bottom, static_cast<size_t>(stack.top - stack.bottom), stack.tsan_fiber};
}
// The stack of the calling thread itself.
FiberTarget target_of_thread();

using FiberContext = boost::context::detail::fcontext_t;
using FiberTransfer = boost::context::detail::transfer_t;

void announce_switch(void** fake_stack, const FiberTarget& target);
void announce_arrival(void* fake_stack);

// Jumps and returns when somebody jumps back. `fake_stack` is null when the calling fiber ends
// here.
inline FiberTransfer switch_fiber(FiberContext to, void* data, [[maybe_unused]] void** fake_stack,
                                  [[maybe_unused]] const FiberTarget& target) {
#if defined(EXACTK_ASAN) || defined(EXACTK_TSAN)
  announce_switch(fake_stack, target);
#endif
  const FiberTransfer transfer = boost::context::detail::jump_fcontext(to, data);
#if defined(EXACTK_ASAN)
  announce_arrival(fake_stack ? *fake_stack : nullptr);
#endif
  return transfer;
}

}  // namespace exactk::host_device
