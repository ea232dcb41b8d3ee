// What a planted fault may change. The kernels are templates over it, so that the shipped
// instantiation holds no code of any fault; mutants derive from Shipped and replace one hook.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/attention/numbers.h"

namespace exactk::kernels::attention {

// The slots of one row and one list.
struct Slots {
  const int32_t* data;
  int64_t count;
};

struct Shipped {
  // The descriptor as the kernels get it, by value.
  template <class Descriptor>
  static const Descriptor& adapted(const Descriptor& d) {
    return d;
  }

  // Which slots of a row count, given how many its length says.
  __device__ static int64_t length(int64_t stored, int64_t k) {
    return stored < 0 ? 0 : stored < k ? stored : k;
  }
  template <class Keys>
  __device__ static int64_t counted(const Keys&, const Slots& slots) {
    return slots.count;
  }
  // The request of a token.
  __device__ static int64_t request(int64_t token, int64_t next_n, int64_t) {
    return token / next_n;
  }
  // The slot that is read for slot `at`.
  __device__ static int64_t slot(int64_t at) { return at; }
  // Whether a valid entry at place `at` of its tile counts, after the ones before it.
  __device__ static bool counts(const int32_t*, int64_t) { return true; }
  __device__ static int64_t one_past_last(int64_t count) { return count; }

  // Formats.
  __device__ static int64_t group(int64_t group, int64_t) { return group; }
  __device__ static float ue8m0(uint8_t byte) { return ue8m0_value(byte); }
  // The column of a key that is column `column` of its value.
  __device__ static int64_t value_column(int64_t column, int64_t, int64_t) { return column; }

  // Softmax.
  __device__ static int lanes() { return warpSize; }  // of a wave, in a sum over it
  __device__ static float scale(float scale) { return scale; }
  // What everything that was summed so far is multiplied by; `shift` is the new largest score.
  __device__ static float rescaled(float largest, float shift) { return expf(largest - shift); }
  // The weight that is summed, and the one that the values get.
  __device__ static float summed(float weight, float) { return weight; }
  // The barrier behind the last use of a tile.
  __device__ static void tile_done() { __syncthreads(); }
  // Whether a split without entries stores its partial result.
  __device__ static bool stores_empty_split() { return true; }
  // What a split's partial result counts in the whole row.
  __device__ static float split_weight(float largest, float shift) { return expf(largest - shift); }

  // Answers.
  __device__ static int64_t sink_head(int64_t head) { return head; }
  __device__ static float sink(float sink, float) { return sink; }
  __device__ static float lse(float largest, float sum, float) { return largest + logf(sum); }
  __device__ static float empty_lse() { return kInfinity; }
  // Whether a row has no entry, by its sum.
  __device__ static bool empty(float sum) { return sum == 0; }
  __device__ static float quotient(float sum, float all) { return sum / all; }
  // Stores the largest score of a head.
  __device__ static void store_max(float* of_token, int64_t head, int64_t stride, int64_t,
                                   float largest) {
    of_token[head * stride] = largest;
  }
  // Where the answers of a query row to all heads begin, and how far two heads lie apart.
  __device__ static int64_t stat_first(int64_t request, int64_t draft, int64_t heads,
                                       int64_t next_n) {
    return request * heads * next_n + draft;
  }
  __device__ static int64_t stat_stride(int64_t, int64_t next_n) { return next_n; }
};

}  // namespace exactk::kernels::attention
