// Small draws that the generators share. They take from RapidCheck's current source, so they are
// called inside a generator only.
#pragma once

#include <cstdint>
#include <vector>

namespace exactk::props {

int64_t one_of(const std::vector<int64_t>& values);  // not empty
bool chance(int percent);
int any_below(int count);  // in [0, count)

// An enumerator from the first to `last`.
template <class Enum>
Enum any_up_to(Enum last) {
  return static_cast<Enum>(any_below(static_cast<int>(last) + 1));
}

}  // namespace exactk::props
