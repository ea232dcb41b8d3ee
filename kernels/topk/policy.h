// How many blocks of a row are active: the part of the dispatch policy that is evaluated on the
// device, from the length that the row has at this launch or replay. Source: vLLM sampler.cu with
// its gfx950 K=512 path.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

namespace exactk::kernels::topk {

enum class ActiveRule : int32_t { kAll, kK512, kK1024 };

struct ActivePolicy {
  ActiveRule rule;
  int32_t shift;  // thresholds are divided by 2^shift
  int64_t rows;
  int64_t max_blocks;  // blocks per row of the grid and the workspace
  int64_t min_chunk;   // kK512: columns that a chunk has at least
};

namespace detail {

__host__ __device__ inline int64_t k512_wanted(const ActivePolicy& p, int64_t length) {
  const auto above = [&](int64_t threshold) { return length > (threshold >> p.shift); };
  if (p.rows <= 32) {
    return above(262144) ? 16 : above(131072) ? 10 : above(16384) ? 8 : 1;
  }
  if (p.rows <= 128) {
    return above(524288) ? 10 : above(65536) ? 4 : 1;
  }
  if (p.rows <= 256 && above(262144)) {
    return p.rows <= 160 ? 3 : 2;
  }
  return 1;
}

__host__ __device__ inline int64_t at_most(int64_t value, int64_t limit) {
  return value < limit ? value : limit;
}

}  // namespace detail

// 1 .. max_blocks.
__host__ __device__ inline int64_t active_blocks(const ActivePolicy& p, int64_t length) {
  if (p.rule == ActiveRule::kK512) {
    const int64_t wanted = detail::at_most(detail::k512_wanted(p, length), p.max_blocks);
    const int64_t full_chunks = length / p.min_chunk;
    return detail::at_most(wanted, full_chunks > 1 ? full_chunks : 1);
  }
  // The reserve of 3 blocks belongs to 65 .. 256 rows: long rows use 2 of them.
  if (p.rule == ActiveRule::kK1024 && p.max_blocks == 3 && length >= (65536 >> p.shift)) {
    return 2;
  }
  return p.max_blocks;
}

// How a row is cut into chunks: chunk b holds the columns [b * chunk, (b + 1) * chunk), the last
// active one up to `length`.
struct SplitPlan {
  int64_t length;
  int64_t active;
  int64_t chunk;
};

__host__ __device__ inline SplitPlan split_row(const ActivePolicy& policy, int64_t length) {
  const int64_t active = active_blocks(policy, length);
  return {length, active, length / active};
}

}  // namespace exactk::kernels::topk
