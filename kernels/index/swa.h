// The sliding windows of a decode step: a block per token.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/index/rows.h"
#include "kernels/index/table.h"
#include "kernels/index/traits.h"

namespace exactk::kernels::index {

// Grid: tokens.
template <class Traits, class Slot>
__global__ __launch_bounds__(kThreadsMax) void swa_rows(exactk_swa d) {
  const int64_t token = blockIdx.x;
  const int64_t position = d.positions[token];
  int64_t begin = 0;
  int64_t length = 0;
  if (d.token_valid[token] != 0 && position >= 0) {
    const int64_t left = d.left_visible != nullptr ? d.left_visible[token] : 0;
    const int64_t right = d.right_visible != nullptr ? d.right_visible[token] : 0;
    begin = Traits::window_begin(position, d.window, Traits::widened(left, d.window));
    length = position + right + 1 - begin;
  }
  const TableRow table = table_row(d, d.token_to_req[token]);
  write_slots(static_cast<Slot*>(d.slots) + token * d.out_stride_elems, d.columns, [&](int64_t j) {
    return static_cast<Slot>(j < length ? slot_at<Traits>(table, begin + j) : -1);
  });
  if (threadIdx.x == 0) {
    d.lens[token] = static_cast<int32_t>(length);
  }
}

}  // namespace exactk::kernels::index
