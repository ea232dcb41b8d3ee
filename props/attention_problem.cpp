#include "props/attention_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "fixtures/session.h"

namespace exactk::props {
namespace {

using fixtures::CacheFormat;
using fixtures::Variant;

// Every pattern of a format of at most 16 bits.
std::vector<float> values_of(const oracle::FloatFormat& format) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < (1u << format.width()); ++bits)
    values.push_back(static_cast<float>(oracle::decode(format, bits)));
  return values;
}

float bf16_value(uint16_t bits) {
  static const std::vector<float> values = values_of(oracle::kBfloat16);
  return values[bits];
}

float fp8_value(uint8_t byte, bool fnuz) {
  static const std::vector<float> fn = values_of(oracle::kFp8E4m3Fn);
  static const std::vector<float> other = values_of(oracle::kFp8E4m3Fnuz);
  return (fnuz ? other : fn)[byte];
}

float rounded_to_bf16(float value) {
  return static_cast<float>(oracle::decode(
      oracle::kBfloat16, oracle::encode(oracle::kBfloat16, value, oracle::Overflow::kSpecial)));
}

template <class T>
T read(std::span<const uint8_t> bytes, int64_t at) {
  T value;
  std::memcpy(&value, bytes.subspan(static_cast<size_t>(at)).data(), sizeof(value));
  return value;
}

// One list's keys, dequantised as the contract says.
class KeyReader {
 public:
  KeyReader(const AttentionProblem& p, const fixtures::AttentionListShape& list,
            std::span<const uint8_t> bytes)
      : p_(p), layout_(p.shape.layout), list_(list), bytes_(bytes) {}

  std::vector<float> all() const {
    std::vector<float> values;
    values.reserve(static_cast<size_t>(list_.keys * p_.c.dim));
    for (int64_t key = 0; key < list_.keys; ++key) append(key, values);
    return values;
  }

 private:
  void append(int64_t key, std::vector<float>& values) const {
    const int64_t block = key / p_.shape.block_size * list_.block_bytes;
    const int64_t offset = key % p_.shape.block_size;
    const int64_t at = block + offset * layout_.key_bytes;
    for (int64_t column = 0; column < layout_.nope; ++column) {
      const float product = fp8_value(bytes_[static_cast<size_t>(at + column)], list_.fnuz) *
                            scale(block, offset, at, column / layout_.group_columns);
      values.push_back(rounded_to_bf16(product));
    }
    const int64_t scales = p_.c.cache == CacheFormat::kV32 ? 4 * layout_.groups : 0;
    const int64_t rest = at + layout_.nope + scales;
    for (int64_t column = layout_.nope; column < p_.c.dim; ++column)
      values.push_back(bf16_value(read<uint16_t>(bytes_, rest + 2 * (column - layout_.nope))));
  }

  float scale(int64_t block, int64_t offset, int64_t at, int64_t group) const {
    if (p_.c.cache == CacheFormat::kV32) return read<float>(bytes_, at + layout_.nope + 4 * group);
    const int64_t scales =
        block + p_.shape.block_size * layout_.key_bytes + offset * layout_.scale_bytes;
    return static_cast<float>(oracle::decode_ue8m0(bytes_[static_cast<size_t>(scales + group)]));
  }

  const AttentionProblem& p_;
  const fixtures::KeyLayout& layout_;
  const fixtures::AttentionListShape& list_;
  std::span<const uint8_t> bytes_;
};

oracle::KeyList key_list(const AttentionProblem& p, const fixtures::AttentionListShape& list,
                         const fixtures::AttentionListInputs& in, std::span<const float> keys) {
  if (list.k == 0) return {};
  oracle::KeyList made;
  made.keys = {keys, list.keys, p.c.dim};
  made.indices = {in.indices, list.k, list.stride, in.lens, in.indptr};
  return made;
}

std::vector<float> floats(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

std::vector<float> bf16_floats(const Bytes& bytes) {
  std::vector<float> values;
  for (size_t at = 0; at + 1 < bytes.size(); at += 2) {
    uint16_t bits = 0;
    std::memcpy(&bits, &bytes[at], sizeof(bits));
    values.push_back(bf16_value(bits));
  }
  return values;
}

}  // namespace

AttentionProblem attention_problem(const fixtures::Case& c) {
  AttentionProblem p;
  p.c = c;
  p.shape = fixtures::attention_shape(c);
  p.decode = c.op == fixtures::Op::kSparseDecode;
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(c.dim)));
  return p;
}

std::vector<TensorSpec> attention_tensors(const AttentionProblem& p) {
  const fixtures::Case& c = p.c;
  const fixtures::AttentionShape& s = p.shape;
  const bool ragged = c.variant == Variant::kRagged;
  const bool dense = c.variant == Variant::kDense;
  std::vector<TensorSpec> t(kAttentionTensors);
  const auto add_list = [&](size_t first, const std::string& name,
                            const fixtures::AttentionListShape& list) {
    const bool there = list.k > 0;
    t[first] = {name + "keys", Role::kInput, list.blocks * list.block_bytes};
    t[first + 1] = {name + "indices", Role::kInput, list.elems * 4};
    t[first + 2] = {name + "lens", Role::kInput, there && dense ? s.requests * 4 : 0};
    t[first + 3] = {name + "indptr", Role::kInput, there && ragged ? (s.tokens + 1) * 4 : 0};
  };
  t[kAttentionQuery] = {"query", Role::kInput, s.tokens * c.heads * c.dim * 2};
  add_list(kMainKeys, "", s.main);
  add_list(kExtraKeys, "extra_", s.extra);
  const bool sinks = c.sink != fixtures::SinkKind::kNone;
  t[kAttentionSink] = {"sink", Role::kInput, sinks ? c.heads * 4 : 0};
  const int64_t out = (s.tokens - 1) * s.out_stride + c.heads * c.dim_v;
  t[kAttentionOut] = {"out", Role::kOutput, out * 2, c.misalign * 2};
  t[kAttentionLse] = {"lse", Role::kOutput, s.tokens * c.heads * 4};
  t[kAttentionMax] = {"max_score", Role::kOutput, s.tokens * c.heads * 4};
  return t;
}

AttentionStep attention_step(const AttentionProblem& p, int64_t step) {
  return attention_step(p, fixtures::attention_inputs(p.c, step));
}

AttentionStep attention_step(const AttentionProblem& p, fixtures::AttentionInputs in) {
  AttentionStep made;
  made.in = std::move(in);
  for (const uint16_t bits : made.in.query) made.query.push_back(bf16_value(bits));
  made.main_keys = KeyReader(p, p.shape.main, made.in.main.keys).all();
  made.extra_keys = KeyReader(p, p.shape.extra, made.in.extra.keys).all();
  return made;
}

std::span<const std::byte> AttentionStep::bytes(size_t tensor) const {
  const auto of = [](const auto& values) { return std::as_bytes(std::span(values)); };
  switch (tensor) {
    case kAttentionQuery:
      return of(in.query);
    case kMainKeys:
      return of(in.main.keys);
    case kMainIndices:
      return of(in.main.indices);
    case kMainLens:
      return of(in.main.lens);
    case kMainIndptr:
      return of(in.main.indptr);
    case kExtraKeys:
      return of(in.extra.keys);
    case kExtraIndices:
      return of(in.extra.indices);
    case kExtraLens:
      return of(in.extra.lens);
    case kExtraIndptr:
      return of(in.extra.indptr);
    case kAttentionSink:
      return of(in.sink);
    default:
      return {};
  }
}

int64_t AttentionStep::kept_bytes() const {
  int64_t bytes = std::ssize(query) + std::ssize(main_keys) + std::ssize(extra_keys);
  bytes *= int64_t{sizeof(float)};
  for (size_t tensor = 0; tensor < kAttentionTensors; ++tensor)
    bytes += std::ssize(this->bytes(tensor));
  return bytes;
}

oracle::AttentionInput attention_input(const AttentionProblem& p, const AttentionStep& step) {
  const fixtures::Case& c = p.c;
  oracle::AttentionInput input;
  input.query = {step.query, p.shape.tokens, c.heads, c.dim, c.heads * c.dim, c.dim};
  input.main = key_list(p, p.shape.main, step.in.main, step.main_keys);
  input.extra = key_list(p, p.shape.extra, step.in.extra, step.extra_keys);
  input.d_v = c.dim_v;
  input.tokens_per_request = c.next_n;
  input.scale = p.scale;
  input.sink = step.in.sink;
  return input;
}

oracle::AttentionPrecision precision_of(const exactk_attention_report& report) {
  oracle::AttentionPrecision precision;
  if (report.unit > 0) precision.unit = report.unit;
  if (report.function_error > 0) precision.function_error = report.function_error;
  precision.probability_unit = report.probability_unit == 0  ? 0x1p-8
                               : report.probability_unit < 0 ? 0
                                                             : report.probability_unit;
  precision.output = oracle::kBfloat16;
  precision.dot_roundings = report.dot_roundings;
  precision.sum_roundings = report.sum_roundings;
  precision.rescalings = report.rescalings;
  return precision;
}

std::string problem_of(const exactk_attention_report& r) {
  // Sums that truncate, fast functions, weights of bf16: what is coarser is another contract.
  constexpr double kUnitMax = 0x1p-23;
  constexpr double kFunctionErrorMax = 0x1p-18;
  constexpr double kWeightErrorMax = 0x1p-8;
  if (!(r.unit >= 0 && r.unit <= kUnitMax))
    return fmt::format("the launch reports a unit of {}; 0 to 2^-23 can be meant", r.unit);
  if (!(r.function_error >= 0 && r.function_error <= kFunctionErrorMax) ||
      !(r.probability_unit <= kWeightErrorMax)) {
    return fmt::format(
        "the launch reports errors of {} and {} for functions and weights; up to 2^-18 and 2^-8 "
        "can "
        "be meant",
        r.function_error, r.probability_unit);
  }
  if (r.dot_roundings >= 0 && r.sum_roundings >= 0 && r.rescalings >= 0) return "";
  return fmt::format("the launch reports a negative number of roundings: {}, {} and {}",
                     r.dot_roundings, r.sum_roundings, r.rescalings);
}

oracle::AttentionJudgement judge_attention_outputs(const AttentionProblem& p,
                                                   const AttentionStep& step,
                                                   const exactk_attention_report& report,
                                                   const std::vector<Bytes>& after) {
  const std::vector<float> out = bf16_floats(after[kAttentionOut]);
  const std::vector<float> lse = floats(after[kAttentionLse]);
  const std::vector<float> max = floats(after[kAttentionMax]);
  const auto stat = [&](std::span<const float> data, uint32_t flag) {
    if ((report.unanswered & flag) != 0) return oracle::AttentionStatView{};
    return oracle::AttentionStatView{data, p.c.heads * p.c.next_n, 1, p.c.next_n};
  };
  const oracle::AttentionAnswer answer{{out, p.shape.out_stride, p.c.dim_v},
                                       stat(lse, EXACTK_UNANSWERED_LSE),
                                       stat(max, EXACTK_UNANSWERED_MAX)};
  return oracle::judge_attention(attention_input(p, step), precision_of(report), answer);
}

TokenEntries entries_of(const AttentionProblem& p, const fixtures::AttentionInputs& in,
                        int64_t token) {
  const auto count = [&](const fixtures::AttentionListShape& list,
                         const fixtures::AttentionListInputs& given) {
    if (list.k == 0) return int64_t{0};
    const auto at = static_cast<size_t>(token);
    const auto request = static_cast<size_t>(token / p.c.next_n);
    const bool ragged = !given.indptr.empty();
    const int64_t begin = ragged ? given.indptr[at] : token * list.stride;
    const int64_t slots = ragged ? given.indptr[at + 1] - begin
                          : given.lens.empty()
                              ? list.k
                              : std::clamp<int64_t>(given.lens[request], 0, list.k);
    const auto first = given.indices.begin() + begin;
    return static_cast<int64_t>(std::count_if(
        first, first + slots, [&](int32_t index) { return index >= 0 && index < list.keys; }));
  };
  return {count(p.shape.main, in.main), count(p.shape.extra, in.extra)};
}

bool attention_at_stake(const fixtures::Case& c) {
  const AttentionProblem p = attention_problem(c);
  for (int64_t step = 0; step < fixtures::launch_count(c); ++step) {
    const fixtures::AttentionInputs in = fixtures::attention_inputs(c, step);
    for (int64_t token = 0; token < p.shape.tokens; ++token) {
      if (entries_of(p, in, token).all() > 0) return true;
    }
  }
  return false;
}

}  // namespace exactk::props
