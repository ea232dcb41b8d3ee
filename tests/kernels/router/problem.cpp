#include "tests/kernels/router/problem.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "fixtures/counter_hash.h"

namespace exactk::kernels::test {
namespace {

// In [-half, half) in `steps` steps.
float drawn(uint64_t seed, uint64_t place, float half, uint64_t steps) {
  const auto step = fixtures::hash_below(fixtures::hash_pair(seed, place), steps);
  return half * (2 * static_cast<float>(step) / static_cast<float>(steps) - 1);
}

int64_t matrix_elems(int64_t rows, int64_t stride, int64_t columns) {
  return (rows - 1) * stride + columns;
}

void upload_numbers(Buffers& buffers, const std::string& name, const std::vector<float>& values,
                    bool bf16) {
  if (!bf16) {
    buffers.upload(name, values);
    return;
  }
  std::vector<uint16_t> upper;
  for (const float value : values) {
    upper.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  }
  buffers.upload(name, upper);
}

// With gaps that would win if they were read.
std::vector<float> with_gaps(const RouterProblem& p) {
  const int64_t stride = p.n.experts + p.n.logit_pad;
  std::vector<float> all(static_cast<size_t>(matrix_elems(p.n.tokens, stride, p.n.experts)), 100);
  for (int64_t token = 0; token < p.n.tokens; ++token) {
    std::copy_n(p.logits.begin() + token * p.n.experts, p.n.experts, all.begin() + token * stride);
  }
  return all;
}

}  // namespace

oracle::RouterSpec RouterProblem::spec() const {
  return {.groups = n.groups,
          .topk_groups = n.topk_groups,
          .topk = n.k,
          .scoring = n.scoring,
          .renormalize = n.renormalize,
          .scaling = n.scaling};
}

std::vector<Output> RouterProblem::outputs() const {
  const int64_t bytes = matrix_elems(n.tokens, n.k + n.out_pad, n.k) * 4;
  return {{"ids", bytes, 4 * misalign}, {"weights", bytes, 4 * misalign}};
}

std::string RouterProblem::judge_row(int64_t token, std::span<const int32_t> ids,
                                     std::span<const float> weights, int32_t before) const {
  const auto k = static_cast<size_t>(n.k);
  const auto experts = static_cast<size_t>(n.experts);
  const oracle::RouterJudgement judgement = oracle::judge_router(
      spec(), {},
      {.logits = std::span(logits).subspan(static_cast<size_t>(token) * experts, experts),
       .bias = bias},
      ids.first(k), weights.first(k));
  if (!judgement.ok()) {
    const oracle::BadChoice& bad = judgement.bad.front();
    return fmt::format("token {}: {}, expert {}", token, oracle::name(bad.kind), bad.expert);
  }
  for (size_t gap = k; gap < ids.size(); ++gap) {
    if (ids[gap] != before || std::bit_cast<int32_t>(weights[gap]) != before) {
      return fmt::format("token {}: the gap behind it was written", token);
    }
  }
  return "";
}

std::string RouterProblem::judge(Buffers& buffers, uint8_t before) const {
  const auto ids = buffers.download<int32_t>("ids");
  const auto weights = buffers.download<float>("weights");
  int32_t held = 0;
  std::memset(&held, before, sizeof(held));
  const auto stride = static_cast<size_t>(n.k + n.out_pad);
  std::string error;
  for (int64_t token = 0; error.empty() && token < n.tokens; ++token) {
    const size_t begin = static_cast<size_t>(token) * stride;
    const size_t count = std::min(stride, ids.size() - begin);
    error = judge_row(token, std::span(ids).subspan(begin, count),
                      std::span(weights).subspan(begin, count), held);
  }
  return error;
}

void RouterProblem::upload_inputs(Buffers& buffers) const {
  upload_numbers(buffers, "logits", with_gaps(*this), n.bf16);
  if (n.biased) {
    upload_numbers(buffers, "bias", bias, n.bf16);
  }
}

const void* RouterProblem::descriptor(const Buffers& buffers, const Place& place) {
  d_ = {};
  d_.struct_size = sizeof(d_);
  d_.scoring = static_cast<int32_t>(n.scoring);
  d_.logit_bytes = n.bf16 ? 2 : 4;
  d_.has_bias = n.biased ? 1 : 0;
  d_.renormalize = n.renormalize ? 1 : 0;
  d_.scaling = static_cast<float>(n.scaling);
  d_.logits = buffers.at<void>("logits");
  d_.bias = buffers.at<void>("bias");
  d_.ids = buffers.at<int32_t>("ids");
  d_.weights = buffers.at<float>("weights");
  d_.tokens = n.tokens;
  d_.experts = n.experts;
  d_.groups = n.groups;
  d_.topk_groups = n.topk_groups;
  d_.k = n.k;
  d_.logit_stride_elems = n.experts + n.logit_pad;
  d_.out_stride_elems = n.k + n.out_pad;
  d_.workspace = place.workspace;
  d_.workspace_bytes = place.workspace_bytes;
  d_.stream = place.stream;
  return &d_;
}

RouterProblem router_problem(const RouterNumbers& n) {
  RouterProblem p;
  p.n = n;
  const uint64_t steps = n.bf16 ? 64 : uint64_t{1} << 23;
  for (int64_t i = 0; i < n.tokens * n.experts; ++i) {
    p.logits.push_back(drawn(n.seed, static_cast<uint64_t>(i), 4, steps));
  }
  for (int64_t i = 0; n.biased && i < n.experts; ++i) {
    p.bias.push_back(drawn(n.seed + 1000, static_cast<uint64_t>(i), 0.5, steps));
  }
  return p;
}

}  // namespace exactk::kernels::test
