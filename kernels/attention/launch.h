// The attention operations as bases of the kernels that kernels/launch.h describes.
#pragma once

#include "kernels/device/portable.h"

#include "kernels/abi/exactk_abi.h"
#include "kernels/attention/check.h"
#include "kernels/attention/decode.h"
#include "kernels/attention/prefill.h"
#include "kernels/launch.h"

namespace exactk::kernels::attention {

static_assert(kDimVMost == kDimVMax);

inline dim3 grid_of(int64_t tokens, int64_t rows_of_token) {
  return dim3(static_cast<unsigned>(tokens), static_cast<unsigned>(rows_of_token));
}

inline int64_t tiles_of(int64_t slots) {
  return (slots + kTile - 1) / kTile;
}

// How many tiles and splits a row of the most entries goes through.
struct Passes {
  int64_t tiles;
  int64_t splits;
};

// The numbers that softmax.h explains. A wave of 32 lanes leaves the most products to a lane, one
// of 64 has the most halvings. Every split but the first adds a sum and all are rescaled once more,
// as the whole row is by the sink.
inline void report_rounding(const Passes& passes, int64_t dim, bool rounds_weights,
                            exactk_attention_report* report) {
  if (report == nullptr) {
    return;
  }
  report->unit = 0x1p-24;
  report->function_error = 0x1p-21;
  report->probability_unit = rounds_weights ? 0x1p-8 : -1;
  report->dot_roundings = (dim + 31) / 32 + 6;
  report->sum_roundings = kTile + passes.tiles + passes.splits;
  report->rescalings = passes.tiles + 2;
}

struct Prefill {
  using Descriptor = exactk_sparse_prefill;
  static constexpr const char* kOp = "attention.sparse_prefill";
  static constexpr auto check = &check_prefill;

  static int64_t workspace(const exactk_sparse_prefill&) { return 0; }

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_sparse_prefill& d) {
    report_rounding({tiles_of(d.k), 1}, d.dim, MatrixKeys::kRoundsWeights, d.report);
    hipLaunchKernelGGL((prefill_rows<Traits>), grid_of(d.tokens, d.heads), dim3(kThreads), 0,
                       call.stream, d);
    return call.launched("row");
  }
};

struct Decode {
  using Descriptor = exactk_sparse_decode;
  static constexpr const char* kOp = "attention.sparse_decode";
  static constexpr auto check = &check_decode;

  static int64_t workspace(const exactk_sparse_decode&) { return 0; }

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_sparse_decode& d) {
    report_rounding({tiles_of(d.main.k) + tiles_of(d.extra.k), 1}, d.dim, PagedKeys::kRoundsWeights,
                    d.report);
    hipLaunchKernelGGL((decode_rows<Traits>), grid_of(d.tokens, d.heads), dim3(kThreads), 0,
                       call.stream, d, paged_keys(d, d.main), paged_keys(d, d.extra),
                       Splits{1, d.main.k, d.extra.k});
    return call.launched("row");
  }
};

struct DecodeSplit {
  using Descriptor = exactk_sparse_decode;
  static constexpr const char* kOp = "attention.sparse_decode";
  static constexpr int64_t kSplitsMost = 16;

  // From shapes alone, so that a graph may replay it with any lengths.
  static Splits splits_of(const exactk_sparse_decode& d) {
    const int64_t wanted = (d.main.k + d.extra.k + 2 * kTile - 1) / (2 * kTile);
    const int64_t count = wanted < kSplitsMost ? wanted : kSplitsMost;
    return {count, (d.main.k + count - 1) / count, (d.extra.k + count - 1) / count};
  }

  static exactk_status check(const char* kernel, const exactk_sparse_decode& d, Message message) {
    const exactk_status status = check_decode(kernel, d, message);
    if (status != EXACTK_OK) {
      return status;
    }
    return check_numbers({kernel, message},
                         {{"a head count", d.heads, 1, kGridYMost / splits_of(d).count}});
  }

  static int64_t workspace(const exactk_sparse_decode& d) {
    return d.tokens * d.heads * splits_of(d).count * Partials::elems(d.dim_v) *
           int64_t{sizeof(float)};
  }

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_sparse_decode& d) {
    const Splits splits = splits_of(d);
    const Partials partials{static_cast<float*>(d.workspace), splits.count, d.dim_v};
    report_rounding({tiles_of(splits.main_slots) + tiles_of(splits.extra_slots), splits.count},
                    d.dim, PagedKeys::kRoundsWeights, d.report);
    hipLaunchKernelGGL((decode_split<Traits>), grid_of(d.tokens, d.heads * splits.count),
                       dim3(kThreads), 0, call.stream, d, paged_keys(d, d.main),
                       paged_keys(d, d.extra), splits, partials);
    if (!call.launched("split")) {
      return false;
    }
    hipLaunchKernelGGL((join_splits<Traits>), grid_of(d.tokens, d.heads), dim3(kThreads), 0,
                       call.stream, d, partials);
    return call.launched("join");
  }
};

}  // namespace exactk::kernels::attention
