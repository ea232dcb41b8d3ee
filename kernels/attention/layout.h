// How many bytes of what a paged key has; exactk_kv_format in the C interface.
#pragma once

#include <cstdint>

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::attention {

struct CacheLayout {
  int64_t nope;           // fp8 columns; 0 for bf16
  int64_t group_columns;  // that share a scale
  int64_t groups;
  int64_t key_bytes;    // of a slot, one behind the other from the start of the block
  int64_t scale_bytes;  // of a slot, behind all slots of the block
  int64_t slot_bytes() const { return key_bytes + scale_bytes; }
};

constexpr CacheLayout cache_layout(int32_t format, int64_t dim, int64_t rope) {
  if (format == EXACTK_KV_BF16) {
    return {0, 1, 0, 2 * dim, 0};
  }
  const int64_t nope = dim - rope;
  if (format == EXACTK_KV_V32) {
    const int64_t groups = (nope + 127) / 128;
    return {nope, 128, groups, nope + 4 * groups + 2 * rope, 0};
  }
  const int64_t groups = (nope + 63) / 64;
  return {nope, 64, groups, nope + 2 * rope, (groups + 7) / 8 * 8};
}

}  // namespace exactk::kernels::attention
