// What a planted fault may change. The kernels are templates over it, so that the shipped
// instantiation holds no code of any fault; mutants derive from Shipped and replace one hook.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/attention/numbers.h"

namespace exactk::kernels::router {

// What a team knows of its token, in shared memory.
struct Token {
  float* scores;         // [experts], from the barrier after score_experts() on
  float* choices;        // [experts], the same; a NaN is -infinity there
  float* group_scores;   // [groups], from the barrier after score_groups() on
  int32_t* group_stays;  // [groups], from the barrier after choose_groups() on
  int32_t* chosen;       // [k], from the barrier after the selection on
};

inline constexpr float kLeast = -attention::kInfinity;

// Larger for a better choice; ties to the smaller expert. Always above 0.
__device__ inline uint64_t key_of(float choice, int64_t expert) {
  const uint32_t bits = attention::bits_of(choice);
  const uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t{ordered} << 32 | (0xffffffffu - static_cast<uint32_t>(expert));
}
__device__ inline int32_t expert_of(uint64_t key) {
  return static_cast<int32_t>(0xffffffffu - static_cast<uint32_t>(key));
}

struct Shipped {
  // The descriptor as the kernels get it, by value.
  template <class Descriptor>
  static const Descriptor& adapted(const Descriptor& d) {
    return d;
  }

  // One past the last token that `teams` teams of a block look at, and one past the last expert
  // and group that a team of `size` threads does.
  __device__ static int64_t tokens_end(int64_t tokens, int64_t) { return tokens; }
  __device__ static int64_t experts_end(int64_t experts, int64_t) { return experts; }
  __device__ static int64_t groups_end(int64_t groups) { return groups; }
  // The lanes over which a wave combines its values.
  __device__ static int lanes() { return warpSize; }

  __device__ static float sigmoid(float x) { return 1 / (1 + expf(-x)); }
  // What softmax takes the exponential of.
  __device__ static float shifted(float x, float max) { return x - max; }
  __device__ static float choice(float score, float bias) { return score + bias; }
  // A choice as it is ranked.
  __device__ static float ranked(float choice) { return choice == choice ? choice : kLeast; }
  // Separates the scores from what reads them.
  template <class Team>
  __device__ static void scored(const Team& team) {
    team.sync();
  }

  // The score of a group of `size` experts from its two best choices.
  __device__ static float group_score(float first, float second, int64_t size, bool biased) {
    return biased && size > 1 ? first + second : first;
  }
  // The key of an expert whose group does not stay: that of none.
  __device__ static uint64_t excluded(int64_t) { return 0; }
  // Whether a key may follow the one that was chosen last.
  __device__ static bool follows(uint64_t key, uint64_t last) { return key < last; }
  // How many of the best are passed over for a slot.
  __device__ static int64_t passed_over(const exactk_router&, int64_t) { return 0; }
  // Rank by counting: whether an expert with `other` stands before the one with `key`.
  __device__ static bool stands_before(uint64_t other, uint64_t key) { return other > key; }

  // The weight of an expert before it is divided and scaled.
  template <class Element>
  __device__ static float raw_weight(const exactk_router&, const Token& token, int64_t expert) {
    return token.scores[expert];
  }
  // What weights are divided by, given their sum over the chosen experts.
  __device__ static float divisor(const exactk_router&, const Token&, float sum) { return sum; }
  __device__ static float weight(const exactk_router& d, float raw, float divisor) {
    return d.renormalize != 0 ? raw / divisor * d.scaling : raw * d.scaling;
  }
  // One past the last slot whose weight is written.
  __device__ static int64_t weights_end(int64_t k) { return k; }
};

}  // namespace exactk::kernels::router
