#include "kernels/attention/check.h"

#include <cinttypes>

#include "kernels/attention/layout.h"

namespace exactk::kernels::attention {
namespace {

constexpr int64_t kIndexMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kDimMost = int64_t{1} << 20;  // products of extents stay in 64 bits
constexpr int64_t kBlockBytesMost = int64_t{1} << 40;

// A choice among `count` values of an enum.
exactk_status check_choice(const Refusal& r, const char* what, int32_t got, int32_t count) {
  if (got >= 0 && got < count) {
    return EXACTK_OK;
  }
  return refuse(r, EXACTK_ERROR, "needs %s from 0 to %" PRId32 "; got %" PRId32, what, count - 1,
                got);
}

// A multiple that the alignment of a format needs.
exactk_status check_multiple(const Refusal& r, const char* what, int64_t got, int64_t of) {
  if (got % of == 0) {
    return EXACTK_OK;
  }
  return refuse(r, EXACTK_ERROR, "needs %s that is a multiple of %" PRId64 "; got %" PRId64, what,
                of, got);
}

// Offsets of a flat list have 31 bits.
exactk_status check_flat(const Refusal& r, int32_t variant, int64_t tokens, int64_t slots) {
  if (variant != EXACTK_ATTENTION_RAGGED || slots <= kIndexMax / tokens) {
    return EXACTK_OK;
  }
  return refuse(r, EXACTK_DECLINED,
                "takes flat lists of at most %" PRId64 " entries; got %" PRId64
                " tokens of %" PRId64 " slots",
                kIndexMax, tokens, slots);
}

int64_t least_index_stride(int32_t variant, int64_t tokens, int64_t k) {
  return variant == EXACTK_ATTENTION_RAGGED ? kNoLimit : least_stride(tokens, k);
}

// What both operations have.
template <class Descriptor>
exactk_status check_rows(const Refusal& r, const Descriptor& d) {
  const exactk_status status =
      check_choice(r, "an attention variant", d.variant, EXACTK_ATTENTION_RAGGED + 1);
  if (status != EXACTK_OK) {
    return status;
  }
  return check_numbers(
      r, {{"a token count", d.tokens, 1, kTokensMax},
          {"a head count", d.heads, 1, kGridYMost},
          {"a dim", d.dim, 1, kDimMost},
          {"a dim of the values", d.dim_v, 1, d.dim < kDimVMost ? d.dim : kDimVMost},
          {"an output stride", d.out_stride_elems, least_stride(d.tokens, d.heads * d.dim_v)}});
}

exactk_status check_format(const Refusal& r, const exactk_sparse_decode& d) {
  exactk_status status = check_choice(r, "a cache format", d.format, EXACTK_KV_V4 + 1);
  if (status == EXACTK_OK) {
    status = check_numbers(r, {{"a rope", d.rope, 0, d.dim}});
  }
  if (status != EXACTK_OK || d.format == EXACTK_KV_BF16) {
    return status;
  }
  const bool v32 = d.format == EXACTK_KV_V32;
  status = check_multiple(r, "a dim without rope", d.dim - d.rope, v32 ? 4 : 2);
  return status == EXACTK_OK && v32 ? check_multiple(r, "a rope", d.rope, 2) : status;
}

exactk_status check_list(const Refusal& r, const exactk_sparse_decode& d,
                         const exactk_kv_list& list) {
  exactk_status status = check_choice(r, "an fp8 flavour", list.fp8, EXACTK_FP8_FNUZ + 1);
  if (status == EXACTK_OK) {
    status = check_numbers(r, {{"a k", list.k, 1, kIndexMax},
                               {"an index stride", list.index_stride_elems,
                                least_index_stride(d.variant, d.tokens, list.k)},
                               {"a block count", list.blocks, 1, kIndexMax},
                               {"a block size", list.block_size, 1, kIndexMax}});
  }
  if (status == EXACTK_OK) {
    const int64_t slot_bytes = cache_layout(d.format, d.dim, d.rope).slot_bytes();
    status = check_numbers(r, {{"a block stride", list.block_stride_bytes,
                                list.block_size * slot_bytes, kBlockBytesMost}});
  }
  if (status == EXACTK_OK) {
    status = check_multiple(r, "a block stride", list.block_stride_bytes, 4);
  }
  return status == EXACTK_OK ? check_flat(r, d.variant, d.tokens, list.k) : status;
}

}  // namespace

exactk_status check_prefill(const char* kernel, const exactk_sparse_prefill& d, Message message) {
  const Refusal r{kernel, message};
  exactk_status status = check_rows(r, d);
  if (status == EXACTK_OK) {
    status = check_numbers(r, {{"a key count", d.key_count, 1, kIndexMax},
                               {"a k", d.k, 1, kIndexMax},
                               {"an index stride", d.index_stride_elems,
                                least_index_stride(d.variant, d.tokens, d.k)}});
  }
  return status == EXACTK_OK ? check_flat(r, d.variant, d.tokens, d.k) : status;
}

exactk_status check_decode(const char* kernel, const exactk_sparse_decode& d, Message message) {
  const Refusal r{kernel, message};
  exactk_status status = check_rows(r, d);
  if (status == EXACTK_OK) {
    status = check_numbers(r, {{"a next_n", d.next_n, 1, kIndexMax},
                               {"a k of the extra list", d.extra.k, 0, kIndexMax}});
  }
  if (status == EXACTK_OK) {
    status = check_format(r, d);
  }
  if (status == EXACTK_OK) {
    status = check_list(r, d, d.main);
  }
  return status == EXACTK_OK && d.extra.k > 0 ? check_list(r, d, d.extra) : status;
}

}  // namespace exactk::kernels::attention
