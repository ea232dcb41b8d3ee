// Atomics of device code. Their order is relaxed, as in HIP: only a fence orders other accesses. On
// x86 that makes no difference to the result, but ThreadSanitizer sees a forgotten fence between
// blocks.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "kernels/device/host/hip_types.h"

namespace exactk::host_device {

// The shared memory of the block that the calling thread runs. Only this thread can reach it, so
// that its atomics need no bus lock: a histogram in shared memory costs a third less.
extern __thread uintptr_t tls_shared_begin;
extern __thread uintptr_t tls_shared_bytes;

template <class T>
concept AtomicInteger =
    std::same_as<T, int> || std::same_as<T, unsigned> || std::same_as<T, unsigned long long> ||
    std::same_as<T, unsigned long> || std::same_as<T, long long> || std::same_as<T, long>;

inline bool in_shared_memory(const volatile void* address) {
  return reinterpret_cast<uintptr_t>(address) - tls_shared_begin < tls_shared_bytes;
}

// Replaces the value by change(old) and returns old.
template <class T, class Change>
inline T atomic_update(T* address, Change change) {
  if (in_shared_memory(address)) {
    const T old = *address;
    *address = change(old);
    return old;
  }
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  T wanted = change(old);
  while (!__atomic_compare_exchange(address, &old, &wanted, true, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
    wanted = change(old);
  }
  return old;
}

// Addition wraps around, also for signed types.
template <AtomicInteger T>
inline T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}

template <AtomicInteger T>
inline T atomicAdd(T* address, std::type_identity_t<T> value) {
  if (in_shared_memory(address)) {
    const T old = *address;
    *address = wrapping_add(old, value);
    return old;
  }
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline float atomicAdd(float* address, float value) {
  return atomic_update(address, [value](float old) { return old + value; });
}
inline double atomicAdd(double* address, double value) {
  return atomic_update(address, [value](double old) { return old + value; });
}
template <AtomicInteger T>
inline T atomicSub(T* address, std::type_identity_t<T> value) {
  return atomicAdd(address, wrapping_add(static_cast<T>(~value), T{1}));
}
template <AtomicInteger T>
inline T atomicMax(T* address, std::type_identity_t<T> value) {
  return atomic_update(address, [value](T old) { return old < value ? value : old; });
}
template <AtomicInteger T>
inline T atomicMin(T* address, std::type_identity_t<T> value) {
  return atomic_update(address, [value](T old) { return value < old ? value : old; });
}
template <AtomicInteger T>
inline T atomicAnd(T* address, std::type_identity_t<T> value) {
  return atomic_update(address, [value](T old) { return static_cast<T>(old & value); });
}
template <AtomicInteger T>
inline T atomicOr(T* address, std::type_identity_t<T> value) {
  return atomic_update(address, [value](T old) { return static_cast<T>(old | value); });
}
template <AtomicInteger T>
inline T atomicXor(T* address, std::type_identity_t<T> value) {
  return atomic_update(address, [value](T old) { return static_cast<T>(old ^ value); });
}
template <class T>
requires(AtomicInteger<T> || std::same_as<T, float>) inline T
    atomicExch(T* address, std::type_identity_t<T> value) {
  return atomic_update(address, [value](T) { return value; });
}
template <AtomicInteger T>
inline T atomicCAS(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
  return atomic_update(address, [=](T old) { return old == compare ? value : old; });
}
// Counts 0 .. limit and starts again.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return atomic_update(address, [limit](unsigned old) { return old >= limit ? 0u : old + 1; });
}
// Counts limit .. 0 and starts again.
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return atomic_update(address,
                       [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

// The memory of the host device is sequentially consistent between blocks as far as the CPU's is;
// the fence is real, so that the compiler and ThreadSanitizer respect it.
inline void memory_fence() {
#if defined(__SANITIZE_THREAD__)
  extern int fence_variable;  // ThreadSanitizer does not model bare fences
  __atomic_fetch_add(&fence_variable, 1, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void __threadfence() {
  memory_fence();
}
inline void __threadfence_block() {
  memory_fence();
}
inline void __threadfence_system() {
  memory_fence();
}

}  // namespace exactk::host_device
