// What a planted fault may change. The kernels are templates over it, so that the shipped
// instantiation holds no code of any fault; mutants derive from Shipped and replace one hook.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/topk/params.h"
#include "kernels/topk/plan.h"
#include "kernels/topk/policy.h"
#include "kernels/topk/stable.h"

namespace exactk::kernels::topk {

struct Shipped {
  // One past the last slot that a row of at most k columns writes: behind its columns comes -1.
  __device__ static int64_t tail_end(int64_t k, int64_t) { return k; }

  // What a block of a whole row does before it starts, and the row that it works on.
  __device__ static void enter(const int32_t*) {}
  __device__ static int64_t row(int64_t first_row, int64_t block) { return first_row + block; }

  // The columns of a row.
  __device__ static RowWindow window(const TopkParams& p, int64_t row) {
    return row_window(p, row);
  }

  // Where a row of logits begins, and its columns as they are read.
  __device__ static int64_t row_offset(int64_t row, int64_t stride) { return row * stride; }
  __device__ static RowSource columns(const RowSource& columns) { return columns; }

  // Selection, of a whole row, of a chunk (into a sink with keys) or of the chunks' lists. `Self`
  // are the traits that it goes on with.
  template <class Self, int kCapacity, class Source>
  __device__ static void select(SelectShared<kCapacity>& s, const Source& source, uint32_t want,
                                const SelectLimits& limits, const Sink& sink) {
    select_best<Self>(s, source, want, limits, sink);
  }

  // How the members of the threshold bin are ranked where they are few.
  template <int kCapacity>
  __device__ static void rank(SelectShared<kCapacity>& s, const Cut& cut, int64_t first_slot,
                              const Sink& sink) {
    rank_list(s, cut, first_slot, sink);
  }

  // topk.stable: selection in index order.
  __device__ static void select_stable(StableShared& s, const RowSource& columns, uint32_t want,
                                       const Sink& sink) {
    emit_in_order<uint64_t>(s, columns, full_search(s, columns, want), want, sink);
  }

  // Index of a chunk's first column, and one past its last column, counted from the window's start.
  __device__ static int64_t chunk_base(int64_t first_index) { return first_index; }
  __device__ static int64_t chunk_end(const SplitPlan& plan, int64_t block) {
    return block + 1 == plan.active ? plan.length : (block + 1) * plan.chunk;
  }

  // An entry of a partial list that no column fills: its key means nothing, and it takes no part in
  // the merge. The entries behind `filled` ones are made so up to the end.
  static constexpr uint32_t kEmptyKey = 0;
  __device__ static bool takes_part(int32_t index) { return index >= 0; }
  __device__ static int64_t list_end(int64_t k, int64_t) { return k; }

  // What the merge of a row takes for the number of its lists, and for that of all rows' lists.
  __device__ static int64_t lists_of_row(const ActivePolicy&, const SplitPlan& plan) {
    return plan.active;
  }
  __device__ static int64_t lists_per_row(const ActivePolicy& policy, const SplitPlan&) {
    return policy.max_blocks;
  }

  // Numbers that the host hands to the split apart from TopkParams, and the split of a row.
  struct FromHost {};
  static FromHost from_host(const exactk_topk_decode&) { return {}; }
  __device__ static SplitPlan split(const ActivePolicy& policy, FromHost, int64_t length) {
    return split_row(policy, length);
  }

  // Last changes to what the kernels of a call get, and to the second launch of a prefill call.
  static void adapt(TopkParams*, const LaunchPlan&) {}
  static void second_launch(TopkParams*) {}
};

}  // namespace exactk::kernels::topk
