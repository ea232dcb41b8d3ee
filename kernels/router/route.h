// The router: scores, the groups that stay, and weights, by the team of a token; the two forms
// differ in how they choose experts. Formulas: docs/CONTRACTS.md, after vLLM's grouped_topk.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/abi/exactk_abi.h"
#include "kernels/attention/numbers.h"
#include "kernels/router/team.h"
#include "kernels/router/traits.h"

namespace exactk::kernels::router {

inline constexpr int kWaveThreads = 128;  // 2 waves of 64 or 4 of 32
inline constexpr int kTeamsMax = kWaveThreads / 32;
inline constexpr int kTeamsMin = kWaveThreads / 64;
inline constexpr int kBlockThreads = 256;
inline constexpr int kBlockWavesMax = kBlockThreads / 32;

struct Bf16 {
  uint16_t bits;
};

__device__ inline float widened(float value) {
  return value;
}
__device__ inline float widened(Bf16 value) {
  return attention::bf16_value(value.bits);
}

template <class Element>
__device__ float bias_of(const exactk_router& d, int64_t expert) {
  return d.has_bias != 0 ? widened(static_cast<const Element*>(d.bias)[expert]) : 0;
}

// Words of shared memory for a token.
__host__ __device__ inline int64_t token_words(const exactk_router& d) {
  return 2 * d.experts + 2 * d.groups + d.k;
}

__device__ inline Token token_at(const exactk_router& d, float* words) {
  Token token{};
  token.scores = words;
  token.choices = token.scores + d.experts;
  token.group_scores = token.choices + d.experts;
  token.group_stays = reinterpret_cast<int32_t*>(token.group_scores + d.groups);
  token.chosen = token.group_stays + d.groups;
  return token;
}

template <class Traits, class Element, class Team>
__device__ void score_experts(const exactk_router& d, const Team& team, const Element* logits,
                              const Token& token) {
  const bool softmax = d.scoring == EXACTK_ROUTER_SOFTMAX;
  float max = kLeast;
  float sum = 0;
  if (softmax) {
    for (int64_t e = team.rank(); e < d.experts; e += team.size()) {
      max = larger(max, widened(logits[e]));
    }
    max = team.max_of(max);
    for (int64_t e = team.rank(); e < d.experts; e += team.size()) {
      sum += expf(Traits::shifted(widened(logits[e]), max));
    }
    sum = team.sum_of(sum);
  }
  for (int64_t e = team.rank(); e < d.experts; e += team.size()) {
    const float x = widened(logits[e]);
    const float score = softmax ? expf(Traits::shifted(x, max)) / sum : Traits::sigmoid(x);
    token.scores[e] = score;
    token.choices[e] = Traits::ranked(Traits::choice(score, bias_of<Element>(d, e)));
  }
  Traits::scored(team);
}

template <class Traits, class Team>
__device__ void score_groups(const exactk_router& d, const Team& team, const Token& token) {
  const int64_t size = d.experts / d.groups;
  for (int64_t group = team.rank(); group < d.groups; group += team.size()) {
    float first = kLeast;
    float second = kLeast;
    for (int64_t e = group * size; e < (group + 1) * size; ++e) {
      const float choice = token.choices[e];
      second = choice > first ? first : larger(second, choice);
      first = larger(first, choice);
    }
    // Infinities of both signs have no sum.
    token.group_scores[group] =
        Shipped::ranked(Traits::group_score(first, second, size, d.has_bias != 0));
  }
  team.sync();  // all groups have their score before anybody compares them
}

template <class Traits, class Team>
__device__ void choose_groups(const exactk_router& d, const Team& team, const Token& token) {
  const int64_t end = Traits::groups_end(d.groups);
  for (int64_t group = team.rank(); group < d.groups; group += team.size()) {
    const uint64_t key = key_of(token.group_scores[group], group);
    int64_t before = 0;
    for (int64_t other = 0; other < end; ++other) {
      before += key_of(token.group_scores[other], other) > key ? 1 : 0;
    }
    token.group_stays[group] = group < end && before < d.topk_groups ? 1 : 0;
  }
  team.sync();  // what became of each group is there before experts are chosen
}

template <class Traits>
__device__ uint64_t candidate(const exactk_router& d, const Token& token, int64_t expert) {
  const bool stays = token.group_stays[expert / (d.experts / d.groups)] != 0;
  return stays ? key_of(token.choices[expert], expert) : Traits::excluded(expert);
}

template <class Traits, class Element, class Team>
__device__ void write_row(const exactk_router& d, const Team& team, const Token& token,
                          int64_t row) {
  // Every thread adds in the order of the slots, so that the sum is the same in each and each time.
  float sum = 0;
  for (int64_t slot = 0; slot < d.k; ++slot) {
    sum += Traits::template raw_weight<Element>(d, token, token.chosen[slot]);
  }
  const float divisor = Traits::divisor(d, token, sum);
  int32_t* ids = d.ids + row * d.out_stride_elems;
  float* weights = d.weights + row * d.out_stride_elems;
  for (int64_t slot = team.rank(); slot < d.k; slot += team.size()) {
    const int32_t expert = token.chosen[slot];
    ids[slot] = expert;
    if (slot < Traits::weights_end(d.k)) {
      weights[slot] =
          Traits::weight(d, Traits::template raw_weight<Element>(d, token, expert), divisor);
    }
  }
}

template <class Traits, class Element, class Team>
__device__ void score_token(const exactk_router& d, const Team& team, const Token& token,
                            int64_t row) {
  const auto* logits = static_cast<const Element*>(d.logits) + row * d.logit_stride_elems;
  score_experts<Traits>(d, team, logits, token);
  score_groups<Traits>(d, team, token);
  choose_groups<Traits>(d, team, token);
}

// The best candidate of all lanes behind `last`.
template <class Traits>
__device__ uint64_t next_best(const exactk_router& d, const Wave& wave, const Token& token,
                              uint64_t last) {
  uint64_t best = 0;
  const int64_t end = Traits::experts_end(d.experts, wave.size());
  for (int64_t e = wave.rank(); e < end; e += wave.size()) {
    const uint64_t key = candidate<Traits>(d, token, e);
    best = Traits::follows(key, last) && key > best ? key : best;
  }
  return wave.max_of(static_cast<unsigned long long>(best));
}

// A wave per token, which looks for the best expert k times. Shared memory: kTeamsMax tokens. A
// block has as many tokens at once as waves, and goes on where the grid has too few blocks.
template <class Traits, class Element>
__global__ __launch_bounds__(kWaveThreads) void route_by_waves(exactk_router d) {
  extern __shared__ float router_words[];
  const Wave wave{Traits::lanes()};
  const int teams = static_cast<int>(blockDim.x) / warpSize;
  const int team = static_cast<int>(threadIdx.x) / warpSize;
  const Token token = token_at(d, router_words + team * token_words(d));
  const int64_t end = Traits::tokens_end(d.tokens, teams);
  for (int64_t row = int64_t{blockIdx.x} * teams + team; row < end;
       row += int64_t{gridDim.x} * teams) {
    score_token<Traits, Element>(d, wave, token, row);
    uint64_t last = ~uint64_t{0};
    for (int64_t slot = 0; slot < d.k; ++slot) {
      for (int64_t i = 0; i <= Traits::passed_over(d, slot); ++i) {
        last = next_best<Traits>(d, wave, token, last);
      }
      if (wave.rank() == 0) {
        token.chosen[slot] = expert_of(last);
      }
    }
    wave.sync();  // all slots are there before anybody adds their weights
    write_row<Traits, Element>(d, wave, token, row);
    wave.sync();  // the row is written before the next token takes its memory
  }
}

// A block per token: an expert goes to the slot that its rank says, found by counting those before
// it. Shared memory: a token and kBlockWavesMax words.
template <class Traits, class Element>
__global__ __launch_bounds__(kBlockThreads) void route_by_ranks(exactk_router d) {
  extern __shared__ float router_words[];
  const Block block{router_words};
  const Token token = token_at(d, router_words + kBlockWavesMax);
  const int64_t row = blockIdx.x;
  score_token<Traits, Element>(d, block, token, row);
  const int64_t end = Traits::experts_end(d.experts, block.size());
  for (int64_t e = block.rank(); e < end; e += block.size()) {
    const uint64_t key = candidate<Traits>(d, token, e);
    int64_t rank = key == 0 ? d.k : 0;
    for (int64_t other = 0; rank < d.k && other < end; ++other) {
      rank += Traits::stands_before(candidate<Traits>(d, token, other), key) ? 1 : 0;
    }
    if (rank < d.k) {
      token.chosen[rank] = static_cast<int32_t>(e);
    }
  }
  block.sync();  // all slots are there before anybody adds their weights
  write_row<Traits, Element>(d, block, token, row);
}

}  // namespace exactk::kernels::router
