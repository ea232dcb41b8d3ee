// The prefill: a block per token and head.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/attention/keys.h"
#include "kernels/attention/slots.h"
#include "kernels/attention/softmax.h"

namespace exactk::kernels::attention {

// Grid: tokens, heads.
template <class Traits>
__global__ __launch_bounds__(kThreads) void prefill_rows(exactk_sparse_prefill d) {
  __shared__ Tile tile;
  const int64_t token = blockIdx.x;
  const int64_t head = blockIdx.y;
  const MatrixKeys keys{d.keys, d.key_count, d.dim};
  const Query query{d.query + (token * d.heads + head) * d.dim, d.dim, d.dim_v,
                    static_cast<float>(d.scale)};
  const IndexList list{d.indices, d.lens, d.indptr, d.k, d.index_stride_elems};
  const Slots slots = slots_of<Traits>(list, d.variant, token, token);
  Softmax softmax;
  attend<Traits>(query, {slots.data, 0, Traits::counted(keys, slots)}, keys, tile, softmax);
  const int64_t first = token * d.heads;
  answer<Traits>({d.out + token * d.out_stride_elems + head * d.dim_v,
                  d.lse != nullptr ? d.lse + first : nullptr,
                  d.max_score != nullptr ? d.max_score + first : nullptr, 1, head, d.heads},
                 d.sink, query, softmax);
}

}  // namespace exactk::kernels::attention
