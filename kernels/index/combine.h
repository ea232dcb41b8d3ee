// The index combine: a block per token finds its request by itself, knows from its position how
// many entries of which part it has, and writes every slot of its row. No block needs another one.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/index/rows.h"
#include "kernels/index/scan.h"
#include "kernels/index/traits.h"

namespace exactk::kernels::index {

struct CombineRow {
  int64_t request;        // the number of requests: no request covers the token
  int64_t compressed;     // entries of the compressed part
  int64_t window;         // entries of the window part
  int64_t window_slots;   // of them, those that have a slot
  int64_t window_offset;  // of the window's first position in the gathered region
  __device__ int64_t filled() const { return compressed + window_slots; }
};

// The request whose tokens include `token`: the first whose query ends above it, so that requests
// without tokens are passed over. The number of requests, if there is none. By one thread alone, in
// a binary search.
template <class Traits>
__device__ int64_t request_of(const exactk_combine& d, int64_t token) {
  const int64_t wanted = token + Traits::first_query(d.query_start_loc);
  int64_t low = 1;
  int64_t high = d.requests + 1;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (d.query_start_loc[middle] > wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low - 1;
}

// The same for a token that all lanes of a whole wave ask for: each probes one end, so that a load
// narrows the search by the wave width, and up to as many requests take one.
template <class Traits>
__device__ int64_t request_of_wave(const exactk_combine& d, int64_t token) {
  const int64_t wanted = token + Traits::first_query(d.query_start_loc);
  const int64_t lane = threadIdx.x % warpSize;
  int64_t low = 0;
  int64_t high = d.requests;
  while (low < high) {
    const int64_t step = (high - low + warpSize - 1) / warpSize;
    const int64_t probed = low + lane * step;
    const bool ended = probed < high && d.query_start_loc[probed + 1] <= wanted;
    const int64_t passed = Traits::lanes_in(__ballot(ended));  // the first ones, as ends ascend
    high = low + passed * step < high ? low + passed * step : high;
    low = passed == 0 ? high : low + (passed - 1) * step + 1;
  }
  return low;
}

// How many tokens at the image's side a token sees.
__device__ inline int64_t visible(const int32_t* tokens_visible, int64_t token) {
  return tokens_visible != nullptr ? tokens_visible[token] : 0;
}

__device__ inline int64_t larger(int64_t a, int64_t b) {
  return a < b ? b : a;
}
__device__ inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// The window part of a token at `position`.
template <class Traits>
__device__ void place_window(const exactk_combine& d, int64_t token, int64_t position,
                             CombineRow& row) {
  const int64_t seq_len = d.seq_lens[row.request];
  const int64_t gathered = seq_len - d.gather_lens[row.request];
  int64_t begin = position - (d.window - 1);
  int64_t end = position + 1;
  if (d.variant == EXACTK_COMBINE_VISION) {
    begin -= Traits::widened(visible(d.left_visible, token), d.window);
    end = position < 0 ? 0 : smaller(end + visible(d.right_visible, token), seq_len);
  }
  if (d.variant == EXACTK_COMBINE_VISION || d.variant == EXACTK_COMBINE_GATHERED) {
    begin = larger(begin, Traits::window_floor(gathered));
  }
  begin = larger(begin, 0);
  row.window = Traits::window_length(end - begin);
  row.window_slots = smaller(row.window, d.window + d.max_image_tokens);
  row.window_offset = begin - gathered;
}

template <class Traits>
__device__ CombineRow combine_row(const exactk_combine& d, int64_t request, int64_t token) {
  CombineRow row{request, 0, 0, 0, 0};
  if (row.request == d.requests) {
    return row;
  }
  // The last token of a request is at its last position.
  const int64_t behind =
      d.query_start_loc[row.request + 1] - Traits::first_query(d.query_start_loc) - token;
  const int64_t position = d.seq_lens[row.request] - behind;
  if (position >= 0) {
    row.compressed = smaller(Traits::compressed_entries(position, d.ratio), d.k);
  }
  place_window<Traits>(d, token, position, row);
  return row;
}

// Slot j of a row.
template <class Traits>
__device__ int32_t combine_entry(const exactk_combine& d, const CombineRow& row,
                                 const int32_t* topk_row, int64_t j) {
  const int64_t base = d.workspace_rows * row.request;
  if (j < row.compressed) {
    const int64_t local = topk_row[j];
    const bool checked = d.variant == EXACTK_COMBINE_CHECKED || d.variant == EXACTK_COMBINE_VISION;
    const bool dropped = checked && (local < 0 || local >= d.compressed_rows);
    return static_cast<int32_t>(dropped ? -1 : base + local);
  }
  const int64_t entry = j - row.compressed;
  return static_cast<int32_t>(entry < row.window_slots
                                  ? Traits::window_base(base) + d.compressed_rows +
                                        row.window_offset + entry
                                  : -1);
}

template <class Traits>
__device__ void write_entries(const exactk_combine& d, const CombineRow& row, int64_t token,
                              int32_t* first, int64_t count) {
  const int32_t* topk_row = d.topk_indices + token * d.topk_stride_elems;
  write_slots(first, count, [&](int64_t j) { return combine_entry<Traits>(d, row, topk_row, j); });
}

// Grid: tokens.
template <class Traits>
__global__ __launch_bounds__(kThreadsMax) void combine_rows(exactk_combine d) {
  const int64_t token = blockIdx.x;
  const CombineRow row = combine_row<Traits>(d, request_of_wave<Traits>(d, token), token);
  if (row.request == d.requests) {
    return;
  }
  write_entries<Traits>(d, row, token, d.indices + token * d.out_stride_elems,
                        Traits::row_end(d.columns, row.filled()));
  if (threadIdx.x == 0) {
    d.lens[token] = static_cast<int32_t>(row.compressed + row.window);
  }
}

// Grid: tokens. -1 in every slot of the rows that requests cover.
template <class Traits>
__global__ __launch_bounds__(kThreadsMax) void fill_rows(exactk_combine d) {
  const int64_t token = blockIdx.x;
  if (token + Traits::first_query(d.query_start_loc) < d.query_start_loc[d.requests]) {
    write_slots(d.indices + token * d.out_stride_elems, d.columns,
                [](int64_t) { return int32_t{-1}; });
  }
}

// Row lengths of the ragged form, for scan_chunks.
template <class Traits>
struct CombineLengths {
  exactk_combine d;
  __device__ uint32_t operator()(int64_t token) const {
    return static_cast<uint32_t>(
        combine_row<Traits>(d, request_of<Traits>(d, token), token).filled());
  }
};

// Grid: tokens, after the scan on the same stream.
template <class Traits>
__global__ __launch_bounds__(kThreadsMax) void combine_flat(exactk_combine d, FlatRows rows) {
  const int64_t token = blockIdx.x;
  if (threadIdx.x == 0) {
    write_indptr<Traits>(rows, token, d.indptr);
  }
  const CombineRow row = combine_row<Traits>(d, request_of_wave<Traits>(d, token), token);
  write_entries<Traits>(d, row, token, d.indices + rows.begin(token), row.filled());
}

}  // namespace exactk::kernels::index
