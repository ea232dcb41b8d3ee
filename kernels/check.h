// What every kernel's parameter check is made of: numbers with limits, and one sentence for what is
// refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels {

// A message buffer of the C interface; may be empty.
struct Message {
  char* text;
  size_t bytes;
};

struct Refusal {
  const char* kernel;
  Message message;
};

// Writes "<kernel> <sentence>", as far as it fits, and returns `status`.
__attribute__((format(printf, 3, 4))) exactk_status refuse(const Refusal& r, exactk_status status,
                                                           const char* format, ...);

// A number of the descriptor and its limits: below the least it is malformed, above the most it is
// not taken.
struct Number {
  const char* what;
  int64_t got;
  int64_t least;
  int64_t most = std::numeric_limits<int64_t>::max();
};

exactk_status check_numbers(const Refusal& r, std::initializer_list<Number> numbers);

inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::min();
// One block each; on AMD the threads of a grid stay below 2^32.
inline constexpr int64_t kTokensMax = (int64_t{1} << 24) - 1;

// A stride matters only where there is a second row.
constexpr int64_t least_stride(int64_t rows, int64_t width) {
  return rows > 1 ? width : kNoLimit;
}

// EXACTK_ERROR if fewer bytes than `needed` are there.
exactk_status check_workspace(const char* kernel, int64_t needed, const void* workspace,
                              int64_t bytes, Message message);

}  // namespace exactk::kernels
