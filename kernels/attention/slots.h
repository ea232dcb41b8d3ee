// The slots of an index list that count for a row.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/attention/traits.h"

namespace exactk::kernels::attention {

struct IndexList {
  const int32_t* indices;
  const int32_t* lens;
  const int32_t* indptr;
  int64_t k;
  int64_t stride;
};

// `length_of`: whose length the row has in the dense form.
template <class Traits>
__device__ Slots slots_of(const IndexList& list, int32_t variant, int64_t token,
                          int64_t length_of) {
  if (variant == EXACTK_ATTENTION_RAGGED) {
    const int64_t begin = list.indptr[token];
    return {list.indices + begin, list.indptr[token + 1] - begin};
  }
  const int64_t count =
      variant == EXACTK_ATTENTION_DENSE ? Traits::length(list.lens[length_of], list.k) : list.k;
  return {list.indices + token * list.stride, count};
}

}  // namespace exactk::kernels::attention
