// Small draws that the generators share. They take from RapidCheck's current source, so they are
// called inside a generator only.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace exactk::props {

template <class T>
T one_of(std::vector<T> values) {
  return *rc::gen::elementOf(std::move(values));
}
inline int64_t one_of(std::initializer_list<int64_t> values) {
  return one_of(std::vector<int64_t>(values));
}

inline bool chance(int percent) {
  return *rc::gen::inRange(0, 100) < percent;
}

// An enumerator from the first to `last`.
template <class Enum>
Enum any_up_to(Enum last) {
  return static_cast<Enum>(*rc::gen::inRange(0, static_cast<int>(last) + 1));
}

}  // namespace exactk::props
