// Where each row of a flat list begins: the running sum of row lengths over all tokens, in two
// kernels. Chunks of tokens are summed by a block each, then one block sums the chunks. No kernel
// waits for another block, and nothing is read that the same call did not write.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/index/rows.h"

namespace exactk::kernels::index {

inline constexpr int kScanThreads = kThreadsMax;  // also the tokens of a chunk

// Views of the workspace.
struct FlatRows {
  uint32_t* before;  // [tokens], entries of the chunk's rows before this one
  uint32_t* chunks;  // [chunk_count + 1], entries before each chunk; the last: all entries
  int64_t tokens;
  int64_t chunk_count;

  // First entry of a row; of row `tokens`: the number of all entries. From the end of scan_chunks
  // and sum_chunks on.
  __device__ int64_t begin(int64_t token) const {
    return token < tokens ? int64_t{chunks[token / kScanThreads]} + before[token]
                          : chunks[chunk_count];
  }
};

inline int64_t scan_bytes(int64_t tokens) {
  const int64_t chunk_count = (tokens + kScanThreads - 1) / kScanThreads;
  return ((tokens + chunk_count + 1) * 4 + 255) / 256 * 256;
}

inline FlatRows flat_rows(void* workspace, int64_t tokens) {
  auto* words = static_cast<uint32_t*>(workspace);
  return {words, words + tokens, tokens, (tokens + kScanThreads - 1) / kScanThreads};
}

// Grid: chunk_count blocks of kScanThreads threads. `length(token)` may read before[token].
template <class Length>
__global__ __launch_bounds__(kScanThreads) void scan_chunks(FlatRows rows, Length length) {
  __shared__ uint32_t waves[kWavesMax];
  const int64_t token = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const BlockSum sum = block_sum(waves, token < rows.tokens ? length(token) : 0);
  if (token < rows.tokens) {
    rows.before[token] = sum.before;
  }
  if (threadIdx.x == 0) {
    rows.chunks[blockIdx.x] = sum.all;
  }
}

// Grid: one block of kScanThreads threads, after scan_chunks on the same stream.
template <class Traits>
__global__ __launch_bounds__(kScanThreads) void sum_chunks(FlatRows rows) {
  __shared__ uint32_t waves[kWavesMax];
  uint32_t carry = Traits::first_entry(rows.chunks + rows.chunk_count);
  for (int64_t first = 0; first < rows.chunk_count; first += blockDim.x) {
    const int64_t chunk = first + threadIdx.x;
    const bool inside = chunk < rows.chunk_count;
    const BlockSum sum = block_sum(waves, inside ? rows.chunks[chunk] : 0);
    if (inside) {
      rows.chunks[chunk] = carry + sum.before;
    }
    carry += sum.all;
  }
  if (threadIdx.x == 0) {
    rows.chunks[rows.chunk_count] = carry;
  }
}

// Of row `token`; one thread of each row calls it, after the scan.
template <class Traits>
__device__ void write_indptr(const FlatRows& rows, int64_t token, int32_t* indptr) {
  const int64_t begin = rows.begin(token);
  const int64_t end = rows.begin(token + 1);
  if (token == 0) {
    indptr[0] = static_cast<int32_t>(begin);
  }
  indptr[token + 1] = static_cast<int32_t>(
      Traits::indptr_entry(static_cast<uint32_t>(end), static_cast<uint32_t>(end - begin)));
}

}  // namespace exactk::kernels::index
