// Where keys are and what they hold: one matrix of bf16, or a paged cache in one of its formats.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/attention/layout.h"
#include "kernels/attention/numbers.h"

namespace exactk::kernels::attention {

struct MatrixKeys {
  // The matrix units that a prefill is made for take bf16: so are the weights that values get.
  static constexpr bool kRoundsWeights = true;

  const uint16_t* data;
  int64_t count;
  int64_t dim;

  using Key = const uint16_t*;
  template <class Traits>
  __device__ bool holds(int32_t index) const {
    return index >= 0 && index < Traits::one_past_last(count);
  }
  __device__ Key at(int32_t index) const { return data + index * dim; }
  template <class Traits>
  __device__ float value(Key key, int64_t column) const {
    return bf16_value(key[column]);
  }
};

// A key's bytes, and its scales where the format keeps them apart.
struct PagedKey {
  const uint8_t* data;
  const uint8_t* scales;
};

struct PagedKeys {
  static constexpr bool kRoundsWeights = false;

  const uint8_t* cache;
  CacheLayout layout;
  int64_t slots;  // blocks * block_size
  int64_t block_size;
  int64_t block_stride;  // bytes
  int32_t format;        // exactk_kv_format
  bool fnuz;

  using Key = PagedKey;
  template <class Traits>
  __device__ bool holds(int32_t slot) const {
    return slot >= 0 && slot < Traits::one_past_last(slots);
  }
  __device__ Key at(int32_t slot) const {
    const int64_t offset = slot % block_size;
    const uint8_t* block = cache + slot / block_size * block_stride;
    return {block + offset * layout.key_bytes,
            block + block_size * layout.key_bytes + offset * layout.scale_bytes};
  }

  template <class Traits>
  __device__ float value(const Key& key, int64_t column) const {
    if (format == EXACTK_KV_BF16) {
      return bf16_at(key.data + 2 * column);
    }
    const int64_t beyond = column - layout.nope;
    if (format == EXACTK_KV_V4) {
      return beyond >= 0 ? bf16_at(key.data + layout.nope + 2 * beyond)
                         : dequantised(key.data[column],
                                       Traits::ue8m0(key.scales[group_of<Traits>(column)]));
    }
    const auto* scales = reinterpret_cast<const float*>(key.data + layout.nope);
    return beyond >= 0 ? bf16_at(key.data + layout.nope + 4 * layout.groups + 2 * beyond)
                       : dequantised(key.data[column], scales[group_of<Traits>(column)]);
  }

 private:
  __device__ static float bf16_at(const uint8_t* at) {
    return bf16_value(*reinterpret_cast<const uint16_t*>(at));
  }
  __device__ float dequantised(uint8_t byte, float scale) const {
    return rounded_to_bf16(fp8_value(byte, fnuz) * scale);
  }
  template <class Traits>
  __device__ int64_t group_of(int64_t column) const {
    return Traits::group(column / layout.group_columns, layout.groups);
  }
};

inline PagedKeys paged_keys(const exactk_sparse_decode& d, const exactk_kv_list& list) {
  return {static_cast<const uint8_t*>(list.cache),
          cache_layout(d.format, d.dim, d.rope),
          list.blocks * list.block_size,
          list.block_size,
          list.block_stride_bytes,
          d.format,
          list.fp8 == EXACTK_FP8_FNUZ};
}

}  // namespace exactk::kernels::attention
