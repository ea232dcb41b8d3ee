#include "kernels/topk/plan.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <limits>

namespace exactk::kernels::topk {
namespace {

constexpr int64_t kIndexMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kRowsMax = (int64_t{1} << 22) - 1;  // AMD: threads of a grid stay below 2^32
constexpr int64_t kSplitBlocksMax = 1024;
constexpr int64_t kShiftMax = 20;  // 1 Mi / 2^20 is one column
constexpr int64_t kListBytesMax = int64_t{1} << 40;

struct Request {
  const Dispatch& dispatch;
  const exactk_topk_decode& d;
  Message message;
  exactk_topk_tuning tune;  // 0: published
};

__attribute__((format(printf, 3, 4))) exactk_status refuse(const Request& r, exactk_status status,
                                                           const char* format, ...) {
  if (r.message.text == nullptr || r.message.bytes == 0) {
    return status;
  }
  const int used = std::snprintf(r.message.text, r.message.bytes, "%s ", r.dispatch.kernel);
  if (used < 0 || static_cast<size_t>(used) >= r.message.bytes) {
    return status;
  }
  va_list values;
  va_start(values, format);
  std::vsnprintf(r.message.text + used, r.message.bytes - static_cast<size_t>(used), format,
                 values);
  va_end(values);
  return status;
}

int64_t tuned(int64_t injected, int64_t published) {
  return injected > 0 ? injected : published;
}

bool is_gfx950(const exactk_topk_decode& d) {
  return d.arch != nullptr && std::strncmp(d.arch, "gfx950", 6) == 0;
}

exactk_status check_at_least(const Request& r, const char* what, int64_t least, int64_t got) {
  if (got >= least) {
    return EXACTK_OK;
  }
  return refuse(r, EXACTK_ERROR, "needs %s of at least %" PRId64 "; got %" PRId64, what, least,
                got);
}

exactk_status check_at_most(const Request& r, const char* what, int64_t most, int64_t got) {
  if (got <= most) {
    return EXACTK_OK;
  }
  return refuse(r, EXACTK_DECLINED, "takes %s of at most %" PRId64 "; got %" PRId64, what, most,
                got);
}

exactk_status check_descriptor(const Request& r) {
  const exactk_topk_decode& d = r.d;
  if (d.seq_lens_dim != 1 && d.seq_lens_dim != 2) {
    return refuse(r, EXACTK_ERROR, "needs seq_lens of 1 or 2 dimensions; got %d", d.seq_lens_dim);
  }
  const int64_t out_stride_min = d.rows > 1 ? d.k : std::numeric_limits<int64_t>::min();
  for (const exactk_status status :
       {check_at_least(r, "a row count", 1, d.rows), check_at_least(r, "a next_n", 1, d.next_n),
        check_at_least(r, "a width", 1, d.width), check_at_least(r, "a k", 1, d.k),
        check_at_least(r, "an output stride", out_stride_min, d.out_stride_elems),
        check_at_most(r, "a row count", kRowsMax, d.rows),
        check_at_most(r, "a width", kIndexMax, d.width), check_at_most(r, "a k", kIndexMax, d.k)}) {
    if (status != EXACTK_OK) {
      return status;
    }
  }
  return EXACTK_OK;
}

exactk_status check_tuning(const Request& r) {
  const exactk_topk_tuning& t = r.tune;
  const int64_t threads = t.block_threads;
  if (threads != 0 && (threads < 64 || threads > 1024 || threads % 64 != 0)) {
    return refuse(r, EXACTK_DECLINED,
                  "takes blocks of a multiple of 64 threads, up to 1024; got %" PRId64, threads);
  }
  const int64_t least = std::min({t.radix_width, t.split_width, t.split_blocks, t.policy_shift,
                                  t.min_chunk, t.final_items, t.insertion_items, t.radix_rows});
  for (const exactk_status status :
       {check_at_least(r, "tuning values", 0, least),
        check_at_most(r, "a split", kSplitBlocksMax, t.split_blocks),
        check_at_most(r, "a policy shift", kShiftMax, t.policy_shift)}) {
    if (status != EXACTK_OK) {
      return status;
    }
  }
  return EXACTK_OK;
}

// What topk.k512 and topk.k1024 have in common; `rows_max` is theirs.
exactk_status check_gfx950_shape(const Request& r, int64_t k, int64_t rows_max) {
  const exactk_topk_decode& d = r.d;
  if (d.k != k) {
    return refuse(r, EXACTK_DECLINED, "takes k = %" PRId64 " only; got %" PRId64, k, d.k);
  }
  if (!is_gfx950(d)) {
    return refuse(r, EXACTK_DECLINED, "takes architecture gfx950 only; got %s",
                  d.arch != nullptr ? d.arch : "none");
  }
  if (d.column_stride_elems != 1) {
    return refuse(r, EXACTK_DECLINED, "takes a column stride of 1 only; got %" PRId64,
                  d.column_stride_elems);
  }
  if (d.rows > rows_max) {
    return refuse(r, EXACTK_DECLINED, "takes at most %" PRId64 " rows; got %" PRId64, rows_max,
                  d.rows);
  }
  return EXACTK_OK;
}

int64_t k512_max_blocks(const exactk_topk_decode& d, int64_t shift) {
  // One test after the other, as published: few rows of a small width fall through to the later
  // lines.
  const auto wider = [&](int64_t columns) { return d.width > (columns >> shift); };
  if (d.rows <= 32 && wider(16384)) {
    return 16;
  }
  if (d.rows <= 128 && wider(65536)) {
    return 10;
  }
  if (d.rows <= 160 && wider(262144)) {
    return 3;
  }
  return d.rows <= 256 && wider(262144) ? 2 : 1;
}

exactk_status plan_k512(const Request& r, LaunchPlan* plan) {
  if (const exactk_status status = check_gfx950_shape(r, 512, 384); status != EXACTK_OK) {
    return status;
  }
  const int64_t width_max = (int64_t{1} << 20) >> r.tune.policy_shift;
  if (r.d.width > width_max) {
    return refuse(r, EXACTK_DECLINED, "takes at most %" PRId64 " columns; got %" PRId64, width_max,
                  r.d.width);
  }
  plan->path = EXACTK_PATH_K512;
  plan->max_blocks = k512_max_blocks(r.d, r.tune.policy_shift);
  plan->block_threads = 1024;
  plan->list_capacity = kCapacityK512;
  plan->insertion_items = tuned(r.tune.insertion_items, 128);
  return EXACTK_OK;
}

exactk_status plan_k1024(const Request& r, LaunchPlan* plan) {
  if (const exactk_status status = check_gfx950_shape(r, 1024, 256); status != EXACTK_OK) {
    return status;
  }
  const int64_t width_min = tuned(r.tune.split_width, 200000);
  if (r.d.width < width_min) {
    return refuse(r, EXACTK_DECLINED, "takes at least %" PRId64 " columns; got %" PRId64, width_min,
                  r.d.width);
  }
  plan->path = EXACTK_PATH_K1024;
  plan->max_blocks = r.d.rows <= 32 ? 8 : r.d.rows <= 64 ? 4 : 3;
  plan->block_threads = 1024;
  plan->insertion_items = tuned(r.tune.insertion_items, 128);
  return EXACTK_OK;
}

exactk_status plan_block(const Request& r, LaunchPlan* plan) {
  const bool radix = r.d.width >= tuned(r.tune.radix_width, 12288);
  plan->path = radix ? EXACTK_PATH_BLOCK_RADIX : EXACTK_PATH_BLOCK_INSERTION;
  plan->insertion_items = radix ? 0 : kCapacityGeneric;
  return EXACTK_OK;
}

exactk_status plan_generic(const Request& r, LaunchPlan* plan) {
  plan_block(r, plan);
  const bool wide =
      plan->path == EXACTK_PATH_BLOCK_RADIX && r.d.width >= tuned(r.tune.split_width, 200000);
  // Strided columns stay on one block, as the split is published for adjacent ones.
  if (wide && r.d.column_stride_elems == 1) {
    plan->path = EXACTK_PATH_SPLIT;
    plan->max_blocks = tuned(r.tune.split_blocks, 10);
  }
  return EXACTK_OK;
}

exactk_status plan_auto(const Request& r, LaunchPlan* plan) {
  Request quiet = r;
  quiet.message = {nullptr, 0};
  if (plan_k512(quiet, plan) == EXACTK_OK || plan_k1024(quiet, plan) == EXACTK_OK) {
    return EXACTK_OK;
  }
  return plan_generic(r, plan);
}

exactk_status plan_full_radix(LaunchPlan* plan) {
  plan->path = EXACTK_PATH_FULL_RADIX;
  plan->block_threads = 1024;
  return EXACTK_OK;
}

// The published path gate (vLLM rocm_aiter_mla_sparse.py): whether a decode call leaves the native
// kernels.
bool leaves_native(const Request& r) {
  const exactk_topk_decode& d = r.d;
  if (d.compress_ratio <= 1 || !is_gfx950(d)) {
    return false;
  }
  if (d.k == 512 && d.rows <= r.dispatch.gate_rows &&
      d.width <= (int64_t{1} << 20) >> r.tune.policy_shift) {
    return false;
  }
  const int64_t longest = d.full_graph != 0 ? d.width * d.compress_ratio : d.max_seq_len_hint;
  return d.rows > 256 || longest <= 65536 >> r.tune.policy_shift;
}

exactk_status plan_gated(const Request& r, LaunchPlan* plan) {
  for (const exactk_status status :
       {check_at_least(r, "a compress ratio", 1, r.d.compress_ratio),
        check_at_most(r, "a compress ratio", kIndexMax, r.d.compress_ratio)}) {
    if (status != EXACTK_OK) {
      return status;
    }
  }
  return leaves_native(r) ? plan_full_radix(plan) : plan_auto(r, plan);
}

exactk_status plan_prefill(const Request& r, LaunchPlan* plan) {
  plan->path = EXACTK_PATH_PREFILL;
  plan->insertion_items = kCapacityGeneric;
  plan->radix_rows = tuned(r.tune.radix_rows, 12288);
  plan->launches = r.d.rows > plan->radix_rows ? 2 : 1;
  return EXACTK_OK;
}

exactk_status plan_path(const Request& r, LaunchPlan* plan) {
  switch (r.dispatch.method) {
    case Method::kBlock:
      return plan_block(r, plan);
    case Method::kSplitMerge:
      return plan_generic(r, plan);
    case Method::kK512:
      return plan_k512(r, plan);
    case Method::kK1024:
      return plan_k1024(r, plan);
    case Method::kAuto:
      return plan_auto(r, plan);
    case Method::kFullRadix:
      return plan_full_radix(plan);
    case Method::kGated:
      return plan_gated(r, plan);
    case Method::kPrefill:
      return plan_prefill(r, plan);
  }
  return refuse(r, EXACTK_ERROR, "has an unknown method %d", static_cast<int>(r.dispatch.method));
}

// The partial lists: their entries are counted in 64 bits, their sum per row is counted in 32 bits
// on the device.
exactk_status size_lists(const Request& r, LaunchPlan* plan) {
  if (!plan->merges()) {
    return EXACTK_OK;
  }
  const int64_t per_row = plan->max_blocks * r.d.k;
  if (per_row > kIndexMax || per_row > kListBytesMax / 4 / r.d.rows) {
    return refuse(r, EXACTK_DECLINED,
                  "takes partial lists of at most 2^31 - 1 entries per row and 1 TiB in all; got "
                  "%" PRId64 " rows, %" PRId64 " blocks, k = %" PRId64,
                  r.d.rows, plan->max_blocks, r.d.k);
  }
  plan->launches = 2;
  plan->list_elems = r.d.rows * per_row;
  plan->list_bytes = (plan->list_elems * 4 + 255) / 256 * 256;
  return EXACTK_OK;
}

}  // namespace

exactk_status plan_launch(const Dispatch& dispatch, const exactk_topk_decode& d, LaunchPlan* plan,
                          Message message) {
  Request r{dispatch, d, message, d.tuning != nullptr ? *d.tuning : exactk_topk_tuning{}};
  *plan = {};
  for (const auto check : {check_descriptor, check_tuning}) {
    if (const exactk_status status = check(r); status != EXACTK_OK) {
      return status;
    }
  }
  if (const exactk_status status = plan_path(r, plan); status != EXACTK_OK) {
    return status;
  }
  plan->policy_shift = r.tune.policy_shift;
  plan->min_chunk = tuned(r.tune.min_chunk, plan->min_chunk);
  plan->list_capacity =
      std::min(tuned(r.tune.final_items, plan->list_capacity), plan->list_capacity);
  if (r.tune.block_threads != 0) {
    plan->block_threads = plan->merge_threads = r.tune.block_threads;
  }
  return size_lists(r, plan);
}

}  // namespace exactk::kernels::topk
