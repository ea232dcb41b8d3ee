// Examples of sparse attention that own their data, and a kernel in float that computes them by
// tiles with a running maximum, as the kernels that are to be judged do.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "oracle/sparse_attention.h"
#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {

inline constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kFloatNaN = std::numeric_limits<float>::quiet_NaN();

inline float to_bfloat16(float value) {
  return static_cast<float>(rounded(Band::exactly(value), kBfloat16).low);
}

struct AttentionExample {
  int64_t tokens = 1;
  int64_t heads = 1;
  int64_t d_qk = 1;
  int64_t d_v = 1;
  int64_t keys = 1;
  int64_t width = 1;
  std::vector<float> query;      // [tokens, heads, d_qk]
  std::vector<float> key_data;   // [keys, d_qk]
  std::vector<int32_t> indices;  // [tokens, width]
  std::vector<int32_t> lengths;  // [tokens] or empty
  std::vector<float> sink;       // [heads] or empty
  std::vector<float> extra_keys;
  std::vector<int32_t> extra_indices;  // [tokens, any]
  double scale = 1;
  LseBase base = LseBase::kNatural;
  IndexRule rule = IndexRule::kInRange;
  double empty_lse = std::numeric_limits<double>::infinity();

  AttentionInput input() const {
    const auto extra_width = std::ssize(extra_indices) / std::max<int64_t>(tokens, 1);
    return {.query = {query, tokens, heads, d_qk, heads * d_qk, d_qk},
            .main = {{key_data, keys, d_qk}, {indices, width, width, lengths, {}}},
            .extra = {{extra_keys, std::ssize(extra_keys) / d_qk, d_qk},
                      {extra_indices, extra_width, extra_width, {}, {}}},
            .d_v = d_v,
            .tokens_per_request = 1,
            .scale = scale,
            .sink = sink,
            .rule = rule,
            .lse_base = base,
            .empty_lse = empty_lse};
  }
};

struct AnswerData {
  std::vector<float> out;
  std::vector<float> lse;
  std::vector<float> max_score;

  AttentionAnswer views(const AttentionExample& example) const {
    return {.out = {out, example.heads * example.d_v, example.d_v},
            .lse = {lse, example.heads, 0, 1},
            .max_score = {max_score, example.heads, 0, 1}};
  }
};

// What may be planted into the kernel.
struct KernelFaults {
  bool forget_sink = false;
  bool forget_scale = false;
  bool forget_lengths = false;
  bool drop_duplicates = false;
  bool log_of_base_two = false;
  bool sink_in_lse = false;
  bool read_slots_of_no_key = false;  // as key 0, instead of skipping them
};

inline std::vector<int32_t> entries_of_kernel(const AttentionExample& example, int64_t token,
                                              const KernelFaults& faults) {
  std::vector<int32_t> entries;  // keys of the extra list follow those of the main list
  const int64_t length = example.lengths.empty() || faults.forget_lengths
                             ? example.width
                             : example.lengths[static_cast<size_t>(token)];
  for (int64_t slot = 0; slot < length; ++slot) {
    const int32_t index = example.indices[static_cast<size_t>(token * example.width + slot)];
    if (index >= 0 && index < example.keys) {
      entries.push_back(index);
    } else if (faults.read_slots_of_no_key) {
      entries.push_back(0);
    }
  }
  const int64_t extra_width = std::ssize(example.extra_indices) / example.tokens;
  const int64_t extra_keys = std::ssize(example.extra_keys) / example.d_qk;
  for (int64_t slot = 0; slot < extra_width; ++slot) {
    const int32_t index = example.extra_indices[static_cast<size_t>(token * extra_width + slot)];
    if (index >= 0 && index < extra_keys) {
      entries.push_back(static_cast<int32_t>(example.keys) + index);
    }
  }
  if (faults.drop_duplicates) {
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  }
  return entries;
}

inline const float* key_of(const AttentionExample& example, int32_t entry) {
  return entry < example.keys
             ? &example.key_data[static_cast<size_t>(entry * example.d_qk)]
             : &example.extra_keys[static_cast<size_t>((entry - example.keys) * example.d_qk)];
}

constexpr int64_t kKernelTile = 64;

// One query row: the sum of a tile first, then one rescaling per tile. Weights are rounded to bf16
// before they meet the values, as is the output.
inline void run_kernel_row(const AttentionExample& example, const KernelFaults& faults,
                           std::span<const int32_t> entries, int64_t row, AnswerData& answer) {
  const float* query = &example.query[static_cast<size_t>(row * example.d_qk)];
  const float scale = faults.forget_scale ? 1.0f : static_cast<float>(example.scale);
  float max = -kFloatInfinity;
  float sum = 0;
  std::vector<float> acc(static_cast<size_t>(example.d_v), 0);
  for (int64_t begin = 0; begin < std::ssize(entries); begin += kKernelTile) {
    const auto tile =
        entries.subspan(static_cast<size_t>(begin),
                        static_cast<size_t>(std::min(kKernelTile, std::ssize(entries) - begin)));
    std::vector<float> scores;
    float tile_max = max;
    for (const int32_t entry : tile) {
      const float* key = key_of(example, entry);
      float lanes[16] = {};
      for (int64_t i = 0; i < example.d_qk; ++i) {
        lanes[i % 16] += query[i] * key[i];
      }
      float dot = 0;
      for (const float lane : lanes) {
        dot += lane;
      }
      scores.push_back(dot * scale);
      tile_max = std::max(tile_max, scores.back());
    }
    const float factor = std::exp(max - tile_max);
    std::vector<float> tile_acc(acc.size(), 0);
    float tile_sum = 0;
    for (size_t j = 0; j < tile.size(); ++j) {
      const float weight = std::exp(scores[j] - tile_max);
      tile_sum += weight;
      const float probability = to_bfloat16(weight);
      for (size_t c = 0; c < acc.size(); ++c) {
        tile_acc[c] += probability * key_of(example, tile[j])[c];
      }
    }
    sum = sum * factor + tile_sum;
    for (size_t c = 0; c < acc.size(); ++c) {
      acc[c] = acc[c] * factor + tile_acc[c];
    }
    max = tile_max;
  }
  float denominator = sum;
  if (!example.sink.empty() && !faults.forget_sink) {
    denominator += std::exp(example.sink[static_cast<size_t>(row % example.heads)] - max);
  }
  const bool empty = entries.empty();
  for (const float value : acc) {
    answer.out.push_back(empty ? 0 : to_bfloat16(value / denominator));
  }
  const float total = faults.sink_in_lse ? denominator : sum;
  float lse = empty ? static_cast<float>(example.empty_lse) : max + std::log(total);
  if (faults.log_of_base_two != (example.base == LseBase::kTwo)) {
    lse *= 1.44269504f;
  }
  answer.lse.push_back(lse);
  answer.max_score.push_back(max);
}

inline AnswerData run_kernel(const AttentionExample& example, const KernelFaults& faults = {}) {
  AnswerData answer;
  for (int64_t token = 0; token < example.tokens; ++token) {
    const std::vector<int32_t> entries = entries_of_kernel(example, token, faults);
    for (int64_t head = 0; head < example.heads; ++head) {
      run_kernel_row(example, faults, entries, token * example.heads + head, answer);
    }
  }
  return answer;
}

// What is true of this kernel: D = 16 lanes of d / 16 additions, S = a tile, the tiles and the
// quotient, R = tiles.
inline AttentionPrecision precision_of_kernel(const AttentionExample& example) {
  const int64_t width = std::max<int64_t>(example.width, 1);
  return {.unit = 0x1p-24,
          .function_error = 0x1p-23,
          .probability_unit = 0x1p-8,
          .output = kBfloat16,
          .dot_roundings = (example.d_qk + 15) / 16 + 17,
          .sum_roundings = kKernelTile + width / kKernelTile + 1,
          .rescalings = width / kKernelTile + 1};
}

// Integers in [-range, range] / divisor.
inline std::vector<float> draw_values(Draws& draws, int64_t count, int64_t range, float divisor) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(draws.below(2 * range + 1) - range) / divisor);
  }
  return values;
}

// Small random rows of every kind: duplicates, -1, hostile indices, lengths, sink, extra list.
inline AttentionExample random_attention(uint64_t seed) {
  Draws draws(seed);
  AttentionExample example;
  example.tokens = 1 + draws.below(3);
  example.heads = 1 + draws.below(3);
  example.d_qk = 1 + draws.below(40);
  example.d_v = 1 + draws.below(example.d_qk);
  example.keys = 1 + draws.below(30);
  example.width = draws.below(90);
  example.scale = 1 / std::sqrt(static_cast<double>(example.d_qk));
  example.query = draw_values(draws, example.tokens * example.heads * example.d_qk, 127, 64);
  example.key_data = draw_values(draws, example.keys * example.d_qk, 127, 64);
  constexpr int32_t kHostile[] = {-1, -2, INT32_MIN, INT32_MAX};
  for (int64_t slot = 0; slot < example.tokens * example.width; ++slot) {
    const bool hostile = draws.below(4) == 0;
    example.indices.push_back(hostile ? kHostile[draws.below(4)]
                                      : static_cast<int32_t>(draws.below(example.keys)));
  }
  if (seed % 2 == 0) {
    for (int64_t token = 0; token < example.tokens; ++token) {
      example.lengths.push_back(static_cast<int32_t>(draws.below(example.width + 1)));
    }
  }
  if (seed % 3 == 0) {
    example.sink = draw_values(draws, example.heads, 100, 32);
  }
  if (seed % 5 == 0) {
    example.extra_keys = draw_values(draws, 7 * example.d_qk, 127, 64);
    for (int64_t slot = 0; slot < example.tokens * 5; ++slot) {
      example.extra_indices.push_back(static_cast<int32_t>(draws.below(9)) - 1);
    }
  }
  return example;
}

}  // namespace exactk::oracle
