// The largest numbers that the router kernels take: what a block has shared memory for.
#pragma once

#include <cstdint>

namespace exactk::kernels::router {

struct Limits {
  int64_t experts;
  int64_t groups;
  int64_t k;
};

inline constexpr Limits kWaveLimits{.experts = 1024, .groups = 32, .k = 32};
inline constexpr Limits kBlockLimits{.experts = 2048, .groups = 2048, .k = 2048};

}  // namespace exactk::kernels::router
