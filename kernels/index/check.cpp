#include "kernels/index/check.h"

#include <cinttypes>
#include <limits>

namespace exactk::kernels::index {
namespace {

constexpr int64_t kIndexMax = std::numeric_limits<int32_t>::max();

// The entries of a flat list are counted in 31 bits by its indptr.
exactk_status check_flat(const Refusal& r, int64_t tokens, int64_t slots) {
  if (slots <= kIndexMax / tokens) {
    return EXACTK_OK;
  }
  return refuse(r, EXACTK_DECLINED,
                "takes flat lists of at most %" PRId64 " entries; got %" PRId64
                " tokens of %" PRId64 " slots",
                kIndexMax, tokens, slots);
}

exactk_status check_table(const Refusal& r, int64_t requests, int64_t table_blocks,
                          int64_t table_stride, int64_t block_size) {
  return check_numbers(r, {{"a request count", requests, 1},
                           {"a table width", table_blocks, 1},
                           {"a table stride", table_stride, least_stride(requests, table_blocks)},
                           {"a block size", block_size, 1, kIndexMax}});
}

exactk_status check_slot_bytes(const Refusal& r, int32_t bytes) {
  if (bytes == 4 || bytes == 8) {
    return EXACTK_OK;
  }
  return refuse(r, EXACTK_ERROR, "needs slots of 4 or 8 bytes; got %" PRId32, bytes);
}

bool is_matrix(const exactk_translate& d) {
  return d.variant == EXACTK_TRANSLATE_POSITIONAL || d.variant == EXACTK_TRANSLATE_COMPACT ||
         d.variant == EXACTK_TRANSLATE_CAPPED;
}

// What only some variants of the translation read.
exactk_status check_variant(const Refusal& r, const exactk_translate& d) {
  switch (d.variant) {
    case EXACTK_TRANSLATE_CAPPED:
      return check_numbers(r, {{"a ratio", d.ratio, 1}});
    case EXACTK_TRANSLATE_RAGGED:
      return check_flat(r, d.tokens, d.k);
    case EXACTK_TRANSLATE_PACK: {
      const exactk_status status = check_numbers(r, {{"a slot bound", d.slots_bound, -1}});
      return status == EXACTK_OK ? check_flat(r, d.tokens, d.k) : status;
    }
    default:
      return EXACTK_OK;
  }
}

}  // namespace

exactk_status check_combine(const char* kernel, const exactk_combine& d, Message message) {
  const Refusal r{kernel, message};
  const bool ragged = d.variant == EXACTK_COMBINE_RAGGED;
  if (d.variant < EXACTK_COMBINE_COMMON || d.variant > EXACTK_COMBINE_RAGGED) {
    return refuse(r, EXACTK_ERROR, "needs a combine variant from 0 to 4; got %" PRId32, d.variant);
  }
  exactk_status status = check_numbers(
      r, {{"a token count", d.tokens, 1, kTokensMax},
          {"a request count", d.requests, 1, kIndexMax},
          {"a k", d.k, 0, kIndexMax},
          {"a top-k width", d.topk_width, d.k},
          {"a top-k stride", d.topk_stride_elems, least_stride(d.tokens, d.topk_width)},
          {"a window", d.window, 1, kIndexMax},
          {"a ratio", d.ratio, 0},
          {"workspace rows", d.workspace_rows, 0, kIndexMax},
          {"compressed rows", d.compressed_rows, 0, kIndexMax},
          {"image tokens", d.max_image_tokens, 0, kIndexMax}});
  if (status != EXACTK_OK) {
    return status;
  }
  if (ragged) {
    return check_flat(r, d.tokens, d.k + d.window);
  }
  status = check_numbers(
      r, {{"columns", d.columns, d.k + d.window + d.max_image_tokens, kIndexMax},
          {"an output stride", d.out_stride_elems, least_stride(d.tokens, d.columns)}});
  return status;
}

exactk_status check_fill_first(const char* kernel, const exactk_combine& d, Message message) {
  if (d.variant == EXACTK_COMBINE_RAGGED) {
    return refuse({kernel, message}, EXACTK_DECLINED,
                  "takes matrices only; got the ragged variant, whose rows have no tail to fill");
  }
  return check_combine(kernel, d, message);
}

exactk_status check_translate(const char* kernel, const exactk_translate& d, Message message) {
  const Refusal r{kernel, message};
  if (d.variant < EXACTK_TRANSLATE_POSITIONAL || d.variant > EXACTK_TRANSLATE_CAPPED) {
    return refuse(r, EXACTK_ERROR, "needs a translate variant from 0 to 5; got %" PRId32,
                  d.variant);
  }
  const bool reads_indices = d.variant != EXACTK_TRANSLATE_CAPPED;
  exactk_status status = check_slot_bytes(r, d.slot_bytes);
  if (status == EXACTK_OK) {
    status = check_numbers(r, {{"a token count", d.tokens, 1, kTokensMax},
                               {"a k", d.k, 1, kIndexMax},
                               {"an index stride", d.index_stride_elems,
                                reads_indices ? least_stride(d.tokens, d.k) : kNoLimit},
                               {"an output stride", d.out_stride_elems,
                                is_matrix(d) ? least_stride(d.tokens, d.k) : kNoLimit}});
  }
  if (status == EXACTK_OK && d.variant != EXACTK_TRANSLATE_PACK) {
    status = check_table(r, d.requests, d.table_blocks, d.table_stride_elems, d.block_size);
  }
  return status == EXACTK_OK ? check_variant(r, d) : status;
}

exactk_status check_swa(const char* kernel, const exactk_swa& d, Message message) {
  const Refusal r{kernel, message};
  exactk_status status = check_slot_bytes(r, d.slot_bytes);
  if (status == EXACTK_OK) {
    status = check_numbers(
        r, {{"a token count", d.tokens, 1, kTokensMax},
            {"a window", d.window, 1},
            {"columns", d.columns, 1, kIndexMax},
            {"an output stride", d.out_stride_elems, least_stride(d.tokens, d.columns)}});
  }
  return status == EXACTK_OK
             ? check_table(r, d.requests, d.table_blocks, d.table_stride_elems, d.block_size)
             : status;
}

}  // namespace exactk::kernels::index
