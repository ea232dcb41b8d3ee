#include "kernels/device/host/fiber.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#if defined(EXACTK_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(EXACTK_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace exactk::host_device {
namespace {

#if defined(EXACTK_ASAN) || defined(EXACTK_TSAN)
constexpr size_t kStackBytes = 256 * 1024;  // instrumented frames are several times as large
#else
constexpr size_t kStackBytes = 64 * 1024;
#endif

// Page-aligned stacks put the hot words of all fibers into the same cache sets, and switches take
// three times as long.
constexpr size_t kColourBytes = 192;
constexpr size_t kColours = 21;

size_t page_bytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

StackPool::~StackPool() {
  for (FiberStack* stack : all_) {
#if defined(EXACTK_TSAN)
    __tsan_destroy_fiber(stack->tsan_fiber);
#endif
    munmap(stack->mapping, kStackBytes + page_bytes());
    delete stack;
  }
}

FiberStack* StackPool::create() {
  const size_t guard = page_bytes();
  void* mapping = mmap(nullptr, kStackBytes + guard, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  mprotect(mapping, guard, PROT_NONE);
  auto* stack = new (std::nothrow) FiberStack;
  if (!stack) {
    munmap(mapping, kStackBytes + guard);
    return nullptr;
  }
  stack->mapping = static_cast<std::byte*>(mapping);
  stack->bottom = stack->mapping + guard;
  stack->top = stack->bottom + kStackBytes - all_.size() % kColours * kColourBytes;
#if defined(EXACTK_TSAN)
  stack->tsan_fiber = __tsan_create_fiber(0);
#endif
  all_.push_back(stack);
  return stack;
}

FiberStack* StackPool::take() {
  if (free_.empty()) return create();
  FiberStack* stack = free_.back();
  free_.pop_back();
#if defined(EXACTK_ASAN)
  // Its last fiber jumped away and left the marks of its frames.
  __asan_unpoison_memory_region(stack->bottom, kStackBytes);
#endif
#if defined(EXACTK_TSAN)
  // Its last fiber jumped away, and its calls never returned; a fresh one has no calls on it.
  __tsan_destroy_fiber(stack->tsan_fiber);
  stack->tsan_fiber = __tsan_create_fiber(0);
#endif
  return stack;
}

void StackPool::reclaim_all() {
  free_.assign(all_.rbegin(), all_.rend());
}

const FiberStack* StackPool::guard_at(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  for (const FiberStack* stack : all_) {
    if (at >= stack->mapping && at < stack->bottom) return stack;
  }
  return nullptr;
}

FiberTarget target_of_thread() {
  FiberTarget target;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* bottom = nullptr;
    pthread_attr_getstack(&attributes, &bottom, &target.bytes);
    target.bottom = bottom;
    pthread_attr_destroy(&attributes);
  }
#if defined(EXACTK_TSAN)
  target.tsan_fiber = __tsan_get_current_fiber();
#endif
  return target;
}

void announce_switch([[maybe_unused]] void** fake_stack,
                     [[maybe_unused]] const FiberTarget& target) {
#if defined(EXACTK_ASAN)
  __sanitizer_start_switch_fiber(fake_stack, target.bottom, target.bytes);
#endif
#if defined(EXACTK_TSAN)
  __tsan_switch_to_fiber(target.tsan_fiber, 0);
#endif
}

void announce_arrival([[maybe_unused]] void* fake_stack) {
#if defined(EXACTK_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

}  // namespace exactk::host_device
