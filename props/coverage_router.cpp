// Axes of the router: experts and groups, scores, and what a row of logits holds.
#include <fmt/format.h>

#include "fixtures/router_inputs.h"
#include "props/coverage_axes.h"

namespace exactk::props {
namespace {

using namespace fixtures;

void visit_tokens(const Space& s, const Visit& visit) {
  visit(s.c.rows == 1 ? "1" : s.c.rows % 4 == 0 ? "mod 4 0" : "mod 4 not 0");
}

void visit_experts(const Space& s, const Visit& visit) {
  const int64_t e = s.c.experts;
  visit(e < 32 ? "below a wave" : e % 64 == 0 ? "whole waves" : "a partial wave");
  if (e > 256) visit("above a block");
}

void visit_groups(const Space& s, const Visit& visit) {
  const Case& c = s.c;
  if (c.groups == 1) visit("1");
  if (c.groups == 32) visit("32");
  if (c.experts == c.groups) visit("one expert each");
  if (c.groups > 1 && c.groups != c.experts) visit("several");
}

void visit_kept(const Space& s, const Visit& visit) {
  visit(s.c.topk_groups == s.c.groups ? "all" : s.c.topk_groups == 1 ? "one" : "some");
}

void visit_chosen(const Space& s, const Visit& visit) {
  const int64_t candidates = s.c.topk_groups * (s.c.experts / s.c.groups);
  if (s.c.k == 1) visit("1");
  visit(s.c.k == candidates ? "all candidates" : s.c.k > 32 ? "above 32" : "some");
}

void visit_scoring(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.scoring)));
}

void visit_bias(const Space& s, const Visit& visit) {
  if (s.c.bias == BiasKind::kNone) return visit("none");
  for (const SpaceLaunch& launch : s.launches) {
    const int sign = bias_sign(s.c, launch.step);
    visit(fmt::format("{} {}", name(s.c.bias),
                      sign < 0   ? "negative"
                      : sign > 0 ? "positive"
                                 : "of both signs"));
  }
}

void visit_weights(const Space& s, const Visit& visit) {
  visit(fmt::format("{}{}", s.c.scaling == 1000 ? "" : "scaled ",
                    s.c.renormalize ? "shares" : "scores"));
}

void visit_type(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.dtype)));
}

void visit_numbers(const Space& s, const Visit& visit) {
  if (s.c.numbers.kind != NumberKind::kTies) return visit(std::string(name(s.c.numbers.kind)));
  constexpr const char* kTies[] = {"ties: all equal", "ties: few", "ties: near",
                                   "ties: all equal but one"};
  for (int64_t row = 0; row < std::min<int64_t>(s.c.rows, 4); ++row)
    visit(kTies[static_cast<size_t>(ties_of(row))]);
}

void visit_specials(const Space& s, const Visit& visit) {
  visit(s.c.specials == 0 ? "none" : "some");
}

void visit_stride(const Space& s, const Visit& visit) {
  visit(s.c.row_stride == 0 ? "tight" : "given");
}

constexpr uint32_t R = op_bit(Op::kRouter);

constexpr Axis kAxes[] = {
    {"tokens", "rows of the router", R, visit_tokens},
    {"experts", "experts against waves and blocks", R, visit_experts},
    {"groups", "groups of experts", R, visit_groups},
    {"chosen groups", "groups whose experts take part", R, visit_kept},
    {"chosen experts", "k against the candidates", R, visit_chosen},
    {"scoring", "how logits become scores", R, visit_scoring},
    {"bias", "against the scores", R, visit_bias},
    {"weights", "renormalised or not, scaled or not", R, visit_weights},
    {"logit type", "of logits and bias", R, visit_type},
    {"logits", "what a row of logits holds", R, visit_numbers},
    {"special logits", "NaN, infinities and zeros", R, visit_specials},
    {"logit stride", "elements from row to row of the logits", R, visit_stride},
};

}  // namespace

std::span<const Axis> router_axes() {
  return kAxes;
}

}  // namespace exactk::props
