#include "props/router_problem.h"

#include <algorithm>
#include <bit>

#include "fixtures/session.h"

namespace exactk::props {
namespace {

using fixtures::DataType;

Bytes bytes_of(const auto& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// bf16 is the upper half of a float; the lower one is 0.
Bytes encoded(const std::vector<float>& values, DataType type) {
  if (type == DataType::kF32) return bytes_of(values);
  std::vector<uint16_t> upper;
  for (const float value : values)
    upper.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  return bytes_of(upper);
}

template <class T>
std::span<const T> elements(const Bytes& bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// Of the elements between this row and the next one, or the end.
int64_t gap_writes(const RouterProblem& p, int64_t token, const Bytes& after, const Bytes& before) {
  const auto got = elements<int32_t>(after), held = elements<int32_t>(before);
  const int64_t begin = token * p.shape.out_stride;
  const int64_t end = std::min(begin + p.shape.out_stride, std::ssize(got));
  int64_t writes = 0;
  for (auto i = static_cast<size_t>(begin + p.c.k); i < static_cast<size_t>(end); ++i)
    writes += got[i] != held[i] ? 1 : 0;
  return writes;
}

}  // namespace

RouterProblem router_problem(const fixtures::Case& c) {
  RouterProblem p{c, fixtures::router_shape(c), {}};
  const bool sigmoid = c.scoring == fixtures::Scoring::kSigmoid;
  p.spec = {.groups = c.groups,
            .topk_groups = c.topk_groups,
            .topk = c.k,
            .scoring = sigmoid ? oracle::RouterScoring::kSigmoid : oracle::RouterScoring::kSoftmax,
            .renormalize = c.renormalize,
            .scaling = static_cast<float>(static_cast<double>(c.scaling) / 1000)};
  return p;
}

std::vector<TensorSpec> router_tensors(const RouterProblem& p) {
  const int64_t element = p.c.dtype == DataType::kF32 ? 4 : 2;
  const fixtures::RouterShape& s = p.shape;
  const int64_t logits = (s.tokens - 1) * s.logit_stride + s.experts;
  const int64_t bias = p.c.bias == fixtures::BiasKind::kNone ? 0 : s.experts;
  const int64_t slots = (s.tokens - 1) * s.out_stride + p.c.k;
  std::vector<TensorSpec> t(kRouterTensors);
  t[kRouterLogits] = {"logits", Role::kInput, logits * element, p.c.misalign * element};
  t[kRouterBias] = {"bias", Role::kInput, bias * element};
  t[kRouterIds] = {"ids", Role::kOutput, slots * 4, p.c.misalign * 4};
  t[kRouterWeights] = {"weights", Role::kOutput, slots * 4, p.c.misalign * 4};
  return t;
}

RouterStep::RouterStep(const fixtures::Case& c, int64_t step)
    : in(fixtures::router_inputs(c, step)),
      logits(encoded(in.logits, c.dtype)),
      bias(encoded(in.bias, c.dtype)) {}

std::span<const std::byte> RouterStep::bytes(size_t tensor) const {
  if (tensor == kRouterLogits) return logits;
  return tensor == kRouterBias ? std::span<const std::byte>(bias) : std::span<const std::byte>();
}

int64_t RouterStep::kept_bytes() const {
  return std::ssize(logits) + std::ssize(bias) + 4 * (std::ssize(in.logits) + std::ssize(in.bias));
}

oracle::RouterRow router_row(const RouterProblem& p, const fixtures::RouterInputs& in,
                             int64_t token) {
  return {.logits = std::span(in.logits).subspan(static_cast<size_t>(token * p.shape.logit_stride),
                                                 static_cast<size_t>(p.shape.experts)),
          .bias = in.bias};
}

RouterAnswer router_answer(const RouterProblem& p, std::span<const Bytes> after, int64_t token) {
  const auto begin = static_cast<size_t>(token * p.shape.out_stride);
  const auto k = static_cast<size_t>(p.c.k);
  return {elements<int32_t>(after[kRouterIds]).subspan(begin, k),
          elements<float>(after[kRouterWeights]).subspan(begin, k)};
}

std::vector<JudgedToken> judge_tokens(const RouterProblem& p, const fixtures::RouterInputs& in,
                                      std::span<const Bytes> after, std::span<const Bytes> before) {
  std::vector<JudgedToken> judged;
  for (int64_t token = 0; token < p.shape.tokens; ++token) {
    const RouterAnswer answer = router_answer(p, after, token);
    JudgedToken one{
        token,
        oracle::judge_router(p.spec, {}, router_row(p, in, token), answer.ids, answer.weights), 0};
    for (const size_t tensor : {kRouterIds, kRouterWeights})
      one.gap_writes += gap_writes(p, token, after[tensor], before[tensor]);
    judged.push_back(std::move(one));
  }
  return judged;
}

bool any_choice_at_stake(const fixtures::Case& c) {
  const RouterProblem p = router_problem(c);
  // Some answer that is in range and without duplicates, right or not: open rows take it.
  std::vector<int32_t> ids(static_cast<size_t>(c.k));
  for (size_t slot = 0; slot < ids.size(); ++slot) ids[slot] = static_cast<int32_t>(slot);
  const std::vector<float> weights(ids.size());
  for (int64_t step = 0; step < fixtures::launch_count(c); ++step) {
    const fixtures::RouterInputs in = fixtures::router_inputs(c, step);
    for (int64_t token = 0; token < p.shape.tokens; ++token) {
      if (!oracle::judge_router(p.spec, {}, router_row(p, in, token), ids, weights).open)
        return true;
    }
  }
  return false;
}

}  // namespace exactk::props
