#include "kernels/logits/check.h"

#include <cinttypes>
#include <limits>

#include "kernels/logits/tile_sizes.h"

namespace exactk::kernels::logits {
namespace {

constexpr int64_t kIndexMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kDimMax = int64_t{1} << 16;
constexpr int64_t kBlockSizeMax = int64_t{1} << 20;
// AMD: threads of a grid stay below 2^32.
constexpr int64_t kTilesMax = (int64_t{1} << 32) / kThreads - 1;

// What both operations have.
template <class Descriptor>
exactk_status check_common(const Refusal& r, const Descriptor& d) {
  if (d.fp8 != EXACTK_FP8_FN && d.fp8 != EXACTK_FP8_FNUZ) {
    return refuse(r, EXACTK_ERROR, "needs an fp8 flavour of 0 or 1; got %" PRId32, d.fp8);
  }
  if (d.outside < EXACTK_OUTSIDE_ANY || d.outside > EXACTK_OUTSIDE_UNTOUCHED) {
    return refuse(r, EXACTK_ERROR, "needs an outside mode from 0 to 2; got %" PRId32, d.outside);
  }
  const exactk_status status =
      check_numbers(r, {{"a row count", d.rows, 1, kIndexMax},
                        {"a width", d.width, 1, kIndexMax},
                        {"a head count", d.heads, 1, kDimMax},
                        {"a dim", d.dim, 1, kDimMax},
                        {"a head stride", d.head_stride_bytes, least_stride(d.heads, d.dim)},
                        {"a weight stride", d.weight_stride_elems, least_stride(d.rows, d.heads)},
                        {"a query stride", d.query_stride_bytes, least_stride(d.rows, d.dim)},
                        {"an output stride", d.out_stride_elems, least_stride(d.rows, d.width)}});
  if (status == EXACTK_OK && tiles_of(d.width) > kTilesMax / d.rows) {
    return refuse(r, EXACTK_DECLINED,
                  "takes at most %" PRId64 " tiles of %d columns; got %" PRId64 " rows of %" PRId64
                  " columns",
                  kTilesMax, kTile, d.rows, d.width);
  }
  return status;
}

// The scales of a block are read as floats where its keys end.
exactk_status check_alignment(const Refusal& r, const exactk_mqa_logits_paged& d) {
  if (d.block_size * d.dim % 4 == 0 && d.block_stride_bytes % 4 == 0) {
    return EXACTK_OK;
  }
  return refuse(r, EXACTK_DECLINED,
                "takes blocks whose keys, and which themselves, have a multiple of 4 bytes; got "
                "%" PRId64 " and %" PRId64,
                d.block_size * d.dim, d.block_stride_bytes);
}

}  // namespace

exactk_status check_ragged(const char* kernel, const exactk_mqa_logits& d, Message message) {
  const Refusal r{kernel, message};
  const exactk_status status = check_common(r, d);
  if (status != EXACTK_OK) {
    return status;
  }
  if (d.compressed != 0 && d.compressed != 1) {
    return refuse(r, EXACTK_ERROR, "needs `compressed` of 0 or 1; got %" PRId32, d.compressed);
  }
  return check_numbers(r, {{"a key count", d.key_count, 1, kIndexMax},
                           {"a key stride", d.key_stride_bytes, least_stride(d.key_count, d.dim)}});
}

exactk_status check_paged(const char* kernel, const exactk_mqa_logits_paged& d, Message message) {
  const Refusal r{kernel, message};
  exactk_status status = check_common(r, d);
  if (status != EXACTK_OK) {
    return status;
  }
  if (d.seq_lens_dim != 1 && d.seq_lens_dim != 2) {
    return refuse(r, EXACTK_ERROR, "needs seq_lens of 1 or 2 dimensions; got %" PRId32,
                  d.seq_lens_dim);
  }
  status = check_numbers(r, {{"a next_n", d.next_n, 1, kIndexMax},
                             {"a block count", d.blocks, 1, kIndexMax},
                             {"a block size", d.block_size, 1, kBlockSizeMax},
                             {"a table width", d.table_blocks, 1, kIndexMax}});
  if (status == EXACTK_OK) {
    const int64_t requests = (d.rows + d.next_n - 1) / d.next_n;
    status = check_numbers(
        r, {{"a table stride", d.table_stride_elems, least_stride(requests, d.table_blocks)},
            {"a block stride", d.block_stride_bytes,
             least_stride(d.blocks, d.block_size * (d.dim + 4))}});
  }
  return status == EXACTK_OK ? check_alignment(r, d) : status;
}

}  // namespace exactk::kernels::logits
