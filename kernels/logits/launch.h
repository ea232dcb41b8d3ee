// The logits operations as bases of the kernels that kernels/launch.h describes.
#pragma once

#include "kernels/device/portable.h"

#include "kernels/launch.h"
#include "kernels/logits/check.h"
#include "kernels/logits/tile.h"

namespace exactk::kernels::logits {

template <template <class> class RowsOf>
struct Tiles {
  static int64_t workspace(const typename RowsOf<Shipped>::Descriptor&) { return 0; }

  template <class Traits>
  static bool enqueue(const Call& call, const typename RowsOf<Traits>::Descriptor& d) {
    hipLaunchKernelGGL((logits_tile<Traits, RowsOf<Traits>>), blocks(d.rows * tiles_of(d.width)),
                       dim3(kThreads), 0, call.stream, d);
    return call.launched("tile");
  }
};

struct Ragged : Tiles<RaggedRows> {
  using Descriptor = exactk_mqa_logits;
  static constexpr const char* kOp = "logits.mqa";
  static constexpr auto check = &check_ragged;
};

struct Paged : Tiles<PagedRows> {
  using Descriptor = exactk_mqa_logits_paged;
  static constexpr const char* kOp = "logits.mqa_paged";
  static constexpr auto check = &check_paged;
};

}  // namespace exactk::kernels::logits
