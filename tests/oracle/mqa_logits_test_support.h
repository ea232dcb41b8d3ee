// Inputs of the logits tests, and a kernel to judge: the formula in float32, in several orders,
// with the faults that such kernels have.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "oracle/mqa_logits.h"
#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
inline constexpr float kPoison = 12345.0f;

struct QueryData {
  int64_t rows = 1;
  int64_t heads = 1;
  int64_t dim = 1;
  FloatFormat format = kFp8E4m3Fn;
  std::vector<uint8_t> bytes{};
  std::vector<float> weights{};

  // Rows and heads lie apart, so that a stride taken for another shows.
  int64_t head_stride() const { return dim + 3; }
  int64_t row_stride() const { return heads * head_stride() + 5; }
  int64_t weight_stride() const { return heads + 2; }

  MqaQueries view() const {
    return {.bytes = bytes,
            .weights = weights,
            .rows = rows,
            .heads = heads,
            .dim = dim,
            .row_stride = row_stride(),
            .head_stride = head_stride(),
            .weight_stride = weight_stride(),
            .format = format};
  }
  uint8_t& byte(int64_t row, int64_t head, int64_t d) {
    return bytes[static_cast<size_t>(row * row_stride() + head * head_stride() + d)];
  }
  float& weight(int64_t row, int64_t head) {
    return weights[static_cast<size_t>(row * weight_stride() + head)];
  }
};

// What fills the inputs.
enum class Fill {
  kIntegers,  // small whole numbers: every order of summation is exact
  kWide,      // any finite byte, weights and scales with full mantissas
};

inline uint8_t draw_byte(Fill fill, const FloatFormat& format, Draws& draws) {
  if (fill == Fill::kIntegers) {
    return static_cast<uint8_t>(
        encode(format, static_cast<double>(draws.below(7) - 3), Overflow::kSpecial));
  }
  const auto byte = static_cast<uint8_t>(draws.bits());
  return std::isnan(decode(format, byte)) ? uint8_t{1} : byte;
}

inline float draw_weight(Fill fill, Draws& draws) {
  return fill == Fill::kIntegers ? static_cast<float>(draws.below(9) - 4)
                                 : static_cast<float>(draws.below(1 << 24) - (1 << 23)) * 0x1p-23f;
}

inline float draw_scale(Fill fill, Draws& draws) {
  return fill == Fill::kIntegers ? std::ldexp(1.0f, static_cast<int>(draws.below(5)) - 2)
                                 : static_cast<float>(1 + draws.below(1 << 24)) * 0x1p-30f;
}

inline QueryData draw_queries(int64_t rows, int64_t heads, int64_t dim, Fill fill, Draws& draws,
                              const FloatFormat& format = kFp8E4m3Fn) {
  QueryData data{.rows = rows, .heads = heads, .dim = dim, .format = format};
  const auto nan = static_cast<uint8_t>(encode(format, NAN, Overflow::kSpecial));
  data.bytes.assign(static_cast<size_t>(rows * data.row_stride()), nan);
  data.weights.assign(static_cast<size_t>(rows * data.weight_stride()), NAN);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t head = 0; head < heads; ++head) {
      data.weight(row, head) = draw_weight(fill, draws);
      for (int64_t d = 0; d < dim; ++d) {
        data.byte(row, head, d) = draw_byte(fill, format, draws);
      }
    }
  }
  return data;
}

struct RaggedData {
  QueryData queries;
  int64_t keys = 0;
  FloatFormat key_format = kFp8E4m3Fn;
  std::vector<uint8_t> key_bytes{};
  std::vector<float> scales{};
  std::vector<int32_t> starts{};
  std::vector<int32_t> ends{};

  int64_t key_stride() const { return queries.dim + 7; }
  uint8_t& key_byte(int64_t key, int64_t d) {
    return key_bytes[static_cast<size_t>(key * key_stride() + d)];
  }
  RaggedMqa view() const {
    return {.queries = queries.view(),
            .key_bytes = key_bytes,
            .scales = scales,
            .keys = keys,
            .key_stride = key_stride(),
            .key_format = key_format,
            .starts = starts,
            .ends = ends};
  }
};

// Row m sees keys [m, keys - rows + 1 + m).
inline RaggedData draw_ragged(const QueryData& queries, int64_t keys, Fill fill, Draws& draws) {
  RaggedData data{.queries = queries, .keys = keys, .key_format = queries.format};
  data.key_bytes.assign(static_cast<size_t>(keys * data.key_stride()),
                        static_cast<uint8_t>(encode(queries.format, NAN, Overflow::kSpecial)));
  for (int64_t key = 0; key < keys; ++key) {
    data.scales.push_back(draw_scale(fill, draws));
    for (int64_t d = 0; d < queries.dim; ++d) {
      data.key_byte(key, d) = draw_byte(fill, queries.format, draws);
    }
  }
  for (int64_t row = 0; row < queries.rows; ++row) {
    data.starts.push_back(static_cast<int32_t>(row));
    data.ends.push_back(static_cast<int32_t>(keys - queries.rows + 1 + row));
  }
  return data;
}

enum class Order { kForward, kBackward, kScaledKeys, kFused };
inline constexpr Order kOrders[] = {Order::kForward, Order::kBackward, Order::kScaledKeys,
                                    Order::kFused};

enum class Fault {
  kNone,
  kScaleTwice,
  kOtherFlavour,
  kWeightOfNextHead,
  kNoRelu,
  kNaNSwallowed,
  kFutureColumn,  // one column beyond the row is stored
  kPartialBlock,  // the last block is skipped unless it is full
};

inline FloatFormat other_flavour(const FloatFormat& format) {
  return format == kFp8E4m3Fn ? kFp8E4m3Fnuz : kFp8E4m3Fn;
}

// One logit in float32. `query` is a row of `data`, `key` points to dim bytes.
inline float kernel_logit(QueryData& data, int64_t row, const uint8_t* key, FloatFormat key_format,
                          float scale, Order order, Fault fault) {
  if (fault == Fault::kOtherFlavour) {
    key_format = other_flavour(key_format);
  }
  float sum = 0;
  for (int64_t i = 0; i < data.heads; ++i) {
    const int64_t head = order == Order::kBackward ? data.heads - 1 - i : i;
    float dot = 0;
    for (int64_t j = 0; j < data.dim; ++j) {
      const int64_t d = order == Order::kBackward ? data.dim - 1 - j : j;
      const auto q = static_cast<float>(decode(data.format, data.byte(row, head, d)));
      auto k = static_cast<float>(decode(key_format, key[d]));
      if (order == Order::kScaledKeys) {
        k *= scale;
      }
      dot = order == Order::kFused ? std::fma(q, k, dot) : dot + q * k;
    }
    const bool swallow = fault == Fault::kNaNSwallowed && std::isnan(dot);
    if ((dot < 0 && fault != Fault::kNoRelu) || swallow) {
      dot = 0;
    }
    const int64_t weight_head = fault == Fault::kWeightOfNextHead ? (head + 1) % data.heads : head;
    const float weight = data.weight(row, weight_head);
    sum = order == Order::kFused ? std::fma(weight, dot, sum) : sum + weight * dot;
  }
  if (order != Order::kScaledKeys) {
    sum *= scale;
  }
  return fault == Fault::kScaleTwice ? 2 * sum : sum;
}

struct Logits {
  int64_t rows = 0;
  int64_t width = 0;
  int64_t row_stride = 0;
  std::vector<float> before{};
  std::vector<float> got{};

  float& at(int64_t row, int64_t column) {
    return got[static_cast<size_t>(row * row_stride + column)];
  }
  LogitsOutput view() const {
    return {.got = got, .before = before, .width = width, .row_stride = row_stride};
  }
};

inline Logits poisoned_logits(int64_t rows, int64_t width) {
  Logits logits{.rows = rows, .width = width, .row_stride = width + 3};
  logits.before.assign(static_cast<size_t>((rows - 1) * logits.row_stride + width), kPoison);
  logits.got = logits.before;
  return logits;
}

inline void clean_row(Logits& logits, int64_t row) {
  for (int64_t column = 0; column < logits.width; ++column) {
    logits.at(row, column) = kMinusInfinity;
  }
}

inline Logits run_ragged(RaggedData& data, Outside outside, Order order = Order::kForward,
                         Fault fault = Fault::kNone) {
  Logits logits = poisoned_logits(data.queries.rows, data.keys);
  for (int64_t row = 0; row < data.queries.rows; ++row) {
    if (outside == Outside::kMinusInfinity) {
      clean_row(logits, row);
    }
    const auto at = static_cast<size_t>(row);
    const int64_t end = data.ends[at] + (fault == Fault::kFutureColumn ? 1 : 0);
    for (int64_t key = data.starts[at]; key < std::min(end, data.keys); ++key) {
      logits.at(row, key) = kernel_logit(data.queries, row, &data.key_byte(key, 0), data.key_format,
                                         data.scales[static_cast<size_t>(key)], order, fault);
    }
  }
  return logits;
}

}  // namespace exactk::oracle
