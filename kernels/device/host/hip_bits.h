// Bit and reinterpretation intrinsics of device code.
#pragma once

#include <bit>

#include "kernels/device/host/hip_types.h"

namespace exactk::host_device {

inline int __popc(unsigned value) {
  return std::popcount(value);
}
inline int __popcll(unsigned long long value) {
  return std::popcount(value);
}
// Position of the lowest set bit plus one, 0 if none.
inline int __ffs(unsigned value) {
  return value ? std::countr_zero(value) + 1 : 0;
}
inline int __ffsll(unsigned long long value) {
  return value ? std::countr_zero(value) + 1 : 0;
}
inline int __clz(int value) {
  return std::countl_zero(static_cast<unsigned>(value));
}
inline int __clzll(long long value) {
  return std::countl_zero(static_cast<unsigned long long>(value));
}

inline unsigned __brev(unsigned value) {
  value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
  value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
  value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(value);
}
inline unsigned long long __brevll(unsigned long long value) {
  const auto low = static_cast<unsigned>(value);
  const auto high = static_cast<unsigned>(value >> 32);
  return static_cast<unsigned long long>(__brev(low)) << 32 | __brev(high);
}

inline unsigned __float_as_uint(float value) {
  return std::bit_cast<unsigned>(value);
}
inline int __float_as_int(float value) {
  return std::bit_cast<int>(value);
}
inline float __uint_as_float(unsigned value) {
  return std::bit_cast<float>(value);
}
inline float __int_as_float(int value) {
  return std::bit_cast<float>(value);
}
inline long long __double_as_longlong(double value) {
  return std::bit_cast<long long>(value);
}
inline double __longlong_as_double(long long value) {
  return std::bit_cast<double>(value);
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}

template <class T>
inline T __ldg(const T* address) {
  return *address;
}

// As in device code, where min and max need no namespace.
template <class T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}

}  // namespace exactk::host_device
