// What a planted fault may change. The kernels are templates over it, so that the shipped
// instantiation holds no code of any fault; mutants derive from Shipped and replace one hook.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/topk/params.h"
#include "kernels/topk/policy.h"
#include "kernels/topk/stable.h"

namespace exactk::kernels::topk {

struct Shipped {
  // One past the last slot that a row of at most k columns writes: behind its columns comes -1.
  __device__ static int64_t tail_end(int64_t k, int64_t) { return k; }

  // What a block of a whole row does before it starts.
  __device__ static void enter(const int32_t*) {}

  // The columns of a row.
  __device__ static RowWindow window(const TopkParams& p, int64_t row) {
    return row_window(p, row);
  }

  // Index of a chunk's first column.
  __device__ static int64_t chunk_base(int64_t first_index) { return first_index; }

  // How topk.stable hands out the slots of a row.
  __device__ static void emit_stable(StableShared& s, const RowSource& columns, const Cut& cut,
                                     uint32_t want, const Sink& sink) {
    emit_in_order(s, columns, cut, want, sink);
  }

  // An entry of a partial list that no column fills: its key means nothing, and it takes no part in
  // the merge.
  static constexpr uint32_t kEmptyKey = 0;
  __device__ static bool takes_part(int32_t index) { return index >= 0; }

  // Numbers that the host hands to the split apart from TopkParams, and the split of a row.
  struct FromHost {};
  static FromHost from_host(const exactk_topk_decode&) { return {}; }
  __device__ static SplitPlan split(const ActivePolicy& policy, FromHost, int64_t length) {
    return split_row(policy, length);
  }

  // Last changes to the second launch of a prefill call.
  static void second_launch(TopkParams*) {}
};

}  // namespace exactk::kernels::topk
