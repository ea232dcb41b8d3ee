#include "oracle/mqa_logits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "oracle/band.h"
#include "oracle/findings.h"

namespace exactk::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestFloat = std::numeric_limits<float>::max();
constexpr double kSmallestNormal = std::numeric_limits<float>::min();
constexpr double kExactSteps = 0x1p24;  // whole numbers up to this are all float32

template <typename T>
T at(std::span<const T> values, int64_t position) {
  return values[static_cast<size_t>(position)];
}

std::span<const uint8_t> part(std::span<const uint8_t> bytes, int64_t begin, int64_t count) {
  return bytes.subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
}

// The largest power of two that divides the value; infinity for zero, which all divide.
double quantum_of(double value) {
  if (value == 0 || !std::isfinite(value)) {
    return kInfinity;
  }
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto digits = static_cast<uint64_t>(std::ldexp(fraction, 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(digits));
}

struct Numbers {
  std::vector<double> values;
  double quantum = kInfinity;  // divides all of them
  double largest = 0;          // magnitude

  void add(double value) {
    values.push_back(value);
    quantum = std::min(quantum, quantum_of(value));
    largest = std::max(largest, std::fabs(value));
  }
};

class Fp8Reader {
 public:
  explicit Fp8Reader(const FloatFormat& format) {
    for (uint32_t byte = 0; byte < values_.size(); ++byte) {
      values_[byte] = decode(format, byte);
    }
  }
  void append(std::span<const uint8_t> bytes, Numbers& numbers) const {
    for (const uint8_t byte : bytes) {
      numbers.add(values_[byte]);
    }
  }

 private:
  std::array<double, 256> values_{};
};

struct Query {
  Numbers elements;  // [heads, dim]
  Numbers weights;   // [heads]
};

Query query_of(const MqaQueries& in, int64_t row) {
  const Fp8Reader reader(in.format);
  Query query;
  for (int64_t head = 0; head < in.heads; ++head) {
    reader.append(part(in.bytes, row * in.row_stride + head * in.head_stride, in.dim),
                  query.elements);
    query.weights.add(at(in.weights, row * in.weight_stride + head));
  }
  return query;
}

struct Key {
  std::span<const uint8_t> bytes;
  double scale = 0;
};

struct Window {
  int64_t begin = 0;
  int64_t end = 0;
};

Window window_of(const RaggedMqa& in, int64_t row) {
  const auto cut = [&](int32_t bound) {
    return std::min<int64_t>(static_cast<uint32_t>(bound), in.keys);
  };
  return {.begin = cut(at(in.starts, row)), .end = cut(at(in.ends, row))};
}

bool is_empty_row(const RaggedMqa& in, int64_t row) {
  const Window window = window_of(in, row);
  return window.end <= window.begin;
}

bool is_empty_row(const PagedMqa& in, int64_t row) {
  return row_length(in.lengths, in.seq_lens, row) == 0;
}

// nullopt: the column is outside the row.
std::optional<Key> key_of(const RaggedMqa& in, int64_t row, int64_t column) {
  const Window window = window_of(in, row);
  const int64_t key = in.compressed ? window.begin + column : column;
  if (key < window.begin || key >= window.end) {
    return std::nullopt;
  }
  return Key{.bytes = part(in.key_bytes, key * in.key_stride, in.queries.dim),
             .scale = at(in.scales, key)};
}

std::optional<Key> key_of(const PagedMqa& in, int64_t row, int64_t column) {
  if (column >= row_length(in.lengths, in.seq_lens, row)) {
    return std::nullopt;
  }
  const auto slot = slot_of(in.table, row / in.lengths.next_n, column);
  if (!slot || *slot < 0 || *slot / in.table.block_size >= in.blocks) {
    return std::nullopt;
  }
  const int64_t block_begin = *slot / in.table.block_size * in.block_stride;
  const int64_t offset = *slot % in.table.block_size;
  const int64_t scales_begin = block_begin + in.table.block_size * in.queries.dim;
  float scale = 0;
  std::memcpy(&scale, part(in.cache, scales_begin + offset * 4, 4).data(), sizeof scale);
  return Key{.bytes = part(in.cache, block_begin + offset * in.queries.dim, in.queries.dim),
             .scale = scale};
}

// The sums over heads of the definition, before the scale.
struct HeadSum {
  double value = 0;
  double magnitude = 0;  // of the terms
  double peak = 0;       // no partial result is larger, with or without the weights
};

HeadSum sum_heads(const Query& query, std::span<const double> key, ReluOfNaN relu_of_nan) {
  HeadSum sum;
  const double* q = query.elements.values.data();
  for (const double weight : query.weights.values) {
    double dot = 0;
    double magnitude = 0;
    for (const double k : key) {
      const double product = *q++ * k;
      dot += product;
      magnitude += std::fabs(product);
    }
    if (std::isnan(dot) && relu_of_nan == ReluOfNaN::kZero) {
      dot = 0;
      magnitude = 0;
    }
    const double activated = dot < 0 ? 0 : dot;  // NaN stays
    sum.value += weight * activated;
    sum.magnitude += std::fabs(weight) * magnitude;
    sum.peak += std::max(1.0, std::fabs(weight)) * magnitude;
  }
  return sum;
}

// gamma(n + 1) of the header, with n = dim + heads + 1.
double relative_bound(const MqaQueries& in, double unit_roundoff) {
  return gamma(in.dim + in.heads + 2, unit_roundoff);
}

// One logit, with what its rounding depends on.
struct Terms {
  const Query& query;
  const Numbers& key;
  double scale = 0;
  HeadSum sum;

  double magnitude() const { return std::fabs(scale) * sum.magnitude; }
  double scale_or_one() const { return std::max(1.0, std::fabs(scale)); }

  // No order of the operations has a larger partial result.
  double largest_partial() const {
    return scale_or_one() * std::max({sum.peak, key.largest, query.weights.largest});
  }
};

double bound_of(const MqaQueries& in, const Terms& terms, double unit_roundoff) {
  const double relative = relative_bound(in, unit_roundoff);
  if (!(terms.largest_partial() * (1 + relative) <= kLargestFloat)) {
    return kInfinity;
  }
  if (terms.magnitude() == 0) {
    return 0;
  }
  const double flushes = 1 + 2 * static_cast<double>(in.heads) * terms.scale_or_one() *
                                 std::max(1.0, terms.query.weights.largest);
  return relative * terms.magnitude() + flushes * kSmallestNormal;
}

bool is_exact(const Terms& terms) {
  if (!(terms.largest_partial() <= kLargestFloat)) {
    return false;
  }
  if (terms.magnitude() == 0) {
    return true;
  }
  double step = 1;           // divides every term
  double smallest_step = 1;  // no partial product has a smaller one
  for (const double quantum : {terms.query.elements.quantum, terms.key.quantum,
                               terms.query.weights.quantum, quantum_of(terms.scale)}) {
    step *= quantum;
    smallest_step *= std::min(1.0, quantum);
  }
  return smallest_step >= kSmallestNormal && terms.magnitude() <= kExactSteps * step;
}

ExpectedLogit logit_of(const MqaQueries& in, const MqaContract& contract, const Query& query,
                       const Numbers& key, double scale) {
  const Terms terms{.query = query,
                    .key = key,
                    .scale = scale,
                    .sum = sum_heads(query, key.values, contract.relu_of_nan)};
  return {.want = WantLogit::kNumber,
          .value = scale * terms.sum.value,
          .bound = bound_of(in, terms, contract.unit_roundoff),
          .exact = is_exact(terms)};
}

WantLogit want_outside(const MqaContract& contract, bool empty_row) {
  switch (contract.outside) {
    case Outside::kMinusInfinity:
      return WantLogit::kMinusInfinity;
    case Outside::kUntouched:
      return WantLogit::kUntouched;
    case Outside::kAny:
      break;
  }
  return empty_row && contract.empty_rows_untouched ? WantLogit::kUntouched : WantLogit::kAny;
}

template <typename Inputs>
std::vector<ExpectedLogit> expected_row(const Inputs& in, const MqaContract& contract, int64_t row,
                                        int64_t width) {
  const Fp8Reader reader(in.key_format);
  const Query query = query_of(in.queries, row);
  const WantLogit outside = want_outside(contract, is_empty_row(in, row));
  std::vector<ExpectedLogit> expected;
  for (int64_t column = 0; column < width; ++column) {
    const auto key = key_of(in, row, column);
    if (!key) {
      expected.push_back({.want = outside});
      continue;
    }
    Numbers elements;
    reader.append(key->bytes, elements);
    expected.push_back(logit_of(in.queries, contract, query, elements, key->scale));
  }
  return expected;
}

enum class Match { kRight, kWrong, kUnjudged };

Match match_number(const ExpectedLogit& expected, float got, CompareLogits compare) {
  const auto of = [](bool right) { return right ? Match::kRight : Match::kWrong; };
  if (std::isnan(expected.value)) {
    return of(std::isnan(got));
  }
  if (std::isinf(expected.value)) {
    return of(got == expected.value);
  }
  if (compare == CompareLogits::kBound) {
    return std::isinf(expected.bound) ? Match::kUnjudged
                                      : of(std::fabs(got - expected.value) <= expected.bound);
  }
  // Equal numbers are equal bits, but for the two zeros, of which either is right.
  return expected.exact ? of(got == expected.value) : Match::kUnjudged;
}

struct Element {
  float got = 0;
  float before = 0;

  bool same_bits() const { return std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(before); }
};

// Of a number or a clean column that is wrong.
FaultKind kind_of(const ExpectedLogit& expected, const Element& element) {
  if (element.same_bits()) {
    return FaultKind::kNeverWritten;
  }
  if (expected.want == WantLogit::kMinusInfinity) {
    return FaultKind::kSentinelMissing;
  }
  return element.got == -kInfinity ? FaultKind::kSentinelInside : FaultKind::kWrongValue;
}

struct Position {
  int64_t row = 0;
  int64_t column = 0;
};

void judge_element(const ExpectedLogit& expected, const Element& element, const Position& position,
                   CompareLogits compare, LogitsJudgement& judgement) {
  BadLogit bad{.row = position.row, .column = position.column, .kind = {}, .got = element.got};
  switch (expected.want) {
    case WantLogit::kAny:
      return;
    case WantLogit::kUntouched:
      if (element.same_bits()) return;
      bad.kind = FaultKind::kGuardBroken;
      bad.want = element.before;
      break;
    case WantLogit::kMinusInfinity:
      if (element.got == -kInfinity) return;
      bad.kind = kind_of(expected, element);
      bad.want = -kInfinity;
      break;
    case WantLogit::kNumber: {
      ++judgement.numbers;
      const Match match = match_number(expected, element.got, compare);
      judgement.unjudged += match == Match::kUnjudged ? 1 : 0;
      if (match != Match::kWrong) return;
      bad.kind = kind_of(expected, element);
      bad.want = expected.value;
      bad.bound = compare == CompareLogits::kBound ? expected.bound : 0;
      break;
    }
  }
  add_finding(judgement, bad);
}

template <typename Inputs>
LogitsJudgement judge(const Inputs& in, const MqaContract& contract, const LogitsOutput& out,
                      CompareLogits compare) {
  const ExpectedLogit gap{.want =
                              contract.gaps_untouched ? WantLogit::kUntouched : WantLogit::kAny};
  LogitsJudgement judgement;
  for (int64_t row = 0; row < in.queries.rows; ++row) {
    const auto expected = expected_row(in, contract, row, out.width);
    const bool last = row + 1 == in.queries.rows;
    for (int64_t column = 0; column < (last ? out.width : out.row_stride); ++column) {
      const int64_t position = row * out.row_stride + column;
      judge_element(column < out.width ? expected[static_cast<size_t>(column)] : gap,
                    {.got = at(out.got, position), .before = at(out.before, position)},
                    {.row = row, .column = column}, compare, judgement);
    }
  }
  return judgement;
}

}  // namespace

std::vector<ExpectedLogit> expected_logits(const RaggedMqa& in, const MqaContract& contract,
                                           int64_t row, int64_t width) {
  return expected_row(in, contract, row, width);
}

std::vector<ExpectedLogit> expected_logits(const PagedMqa& in, const MqaContract& contract,
                                           int64_t row, int64_t width) {
  return expected_row(in, contract, row, width);
}

LogitsJudgement judge_logits(const RaggedMqa& in, const MqaContract& contract,
                             const LogitsOutput& out, CompareLogits compare) {
  return judge(in, contract, out, compare);
}

LogitsJudgement judge_logits(const PagedMqa& in, const MqaContract& contract,
                             const LogitsOutput& out, CompareLogits compare) {
  return judge(in, contract, out, compare);
}

}  // namespace exactk::oracle
