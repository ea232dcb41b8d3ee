// Axes of attention: entries of a row against tiles and keys, formats of the cache, sinks, numbers.
#include <fmt/format.h>

#include "fixtures/attention_inputs.h"
#include "props/attention_problem.h"
#include "props/coverage_axes.h"

namespace exactk::props {
namespace {

using namespace fixtures;

constexpr int64_t kTile = 64;  // entries, of the kernels that this project ships

void visit_variant(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.variant)));
}

void visit_entries(const Space& s, const Visit& visit) {
  const AttentionProblem p = attention_problem(s.c);
  for (const SpaceLaunch& launch : s.launches) {
    const AttentionInputs in = attention_inputs(s.c, launch.step);
    for (int64_t token = 0; token < p.shape.tokens; ++token) {
      const TokenEntries entries = entries_of(p, in, token);
      const int64_t all = entries.all();
      visit(all <= 1 ? fmt::format("{}", all) : all <= kTile ? "a tile" : "several tiles");
      if (all == 2048) visit("2048");
      if (p.shape.extra.k == 0 || all == 0) continue;
      visit(entries.extra == 0 ? "main alone" : entries.main == 0 ? "extra alone" : "both lists");
    }
  }
}

void visit_length(const Space& s, const Visit& visit) {
  if (s.c.variant == Variant::kFull) return;
  for (const SpaceLaunch& launch : s.launches) {
    for (const int64_t length : launch.distinct) {
      visit(length < 0            ? "below 0"
            : length == 0         ? "0"
            : length == s.c.k     ? "k"
            : length % kTile == 0 ? "whole tiles"
                                  : "a partial tile");
    }
  }
}

void visit_indices(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.indices.kind)));
}

void visit_slots(const Space& s, const Visit& visit) {
  visit(s.c.k <= kTile ? "to a tile" : s.c.k < 2048 ? "several tiles" : "from 2048");
}

void visit_heads(const Space& s, const Visit& visit) {
  visit(s.c.heads == 1 ? "1" : "several");
}

void visit_key(const Space& s, const Visit& visit) {
  const Case& c = s.c;
  if (c.dim == 1) visit("1");
  visit(c.dim % 64 == 0 ? "whole waves" : "a partial wave");
  visit(c.dim_v == c.dim ? "all are values" : "some are values");
  if (c.dim_v > 128) visit("values for several per thread");
}

void visit_cache(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.cache)));
}

void visit_flavour(const Space& s, const Visit& visit) {
  if (s.c.cache == CacheFormat::kBf16) return;
  visit(fmt::format("{}", name(s.c.fp8)));
  if (s.c.extra_k > 0) visit(fmt::format("{} and extra {}", name(s.c.fp8), name(s.c.extra_fp8)));
}

void visit_scales(const Space& s, const Visit& visit) {
  if (s.c.cache == CacheFormat::kBf16) return;
  visit(std::string(name(s.c.scales)));
}

void visit_groups(const Space& s, const Visit& visit) {
  const KeyLayout layout = key_layout(s.c);
  if (layout.groups > 0) visit(layout.groups == 1 ? "1" : "several");
  if (layout.groups > 0) visit(s.c.rope == 0 ? "no rope" : "rope");
}

void visit_drafts(const Space& s, const Visit& visit) {
  visit(s.c.next_n == 1 ? "1" : "several");
}

void visit_block_size(const Space& s, const Visit& visit) {
  const int64_t b = s.c.block_size;
  visit(b == 1 ? "1" : (b & (b - 1)) == 0 ? "power of two" : "other");
}

void visit_sink(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.sink)));
}

void visit_numbers(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.numbers.kind)));
}

void visit_specials(const Space& s, const Visit& visit) {
  visit(s.c.specials == 0 ? "none" : "some");
}

void visit_index_stride(const Space& s, const Visit& visit) {
  visit(s.c.index_stride == 0 ? "tight" : "given");
}

constexpr uint32_t AD = op_bit(Op::kSparseDecode);
constexpr uint32_t A = op_bit(Op::kSparsePrefill) | AD;
constexpr uint32_t DS = op_bit(Op::kDecodeStep);

constexpr Axis kAxes[] = {
    {"slots that count", "by lengths, all, or by an indptr", A, visit_variant},
    {"entries", "of a token, those that count", A, visit_entries},
    {"length of a row", "as drawn, against tiles and k", A, visit_length},
    {"selected", "what the slots hold", A, visit_indices},
    {"slots of a list", "k against tiles", A, visit_slots},
    {"attention heads", "of a token", A | DS, visit_heads},
    {"key", "its numbers against waves, and its values", A | DS, visit_key},
    {"cache", "format of the keys", AD | DS, visit_cache},
    {"cache flavours", "flavours of the caches", AD, visit_flavour},
    {"key scales", "of fp8 numbers", AD, visit_scales},
    {"scale groups", "of a key", AD, visit_groups},
    {"drafts", "query rows of a request", AD, visit_drafts},
    {"keys of a block", "of the cache", AD, visit_block_size},
    {"sink", "of the heads", A | DS, visit_sink},
    {"queries and keys", "the rule of their numbers", A, visit_numbers},
    {"special numbers", "NaN, infinities and zeros", A, visit_specials},
    {"slot stride", "elements from row to row of the indices", A, visit_index_stride},
};

}  // namespace

std::span<const Axis> attention_axes() {
  return kAxes;
}

}  // namespace exactk::props
