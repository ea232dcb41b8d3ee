#include "oracle/sparse_attention.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace exactk::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloatOverflow = 0x1p127;  // magnitudes from here on may overflow in float
constexpr double kFloatUnderflow = 0x1p-126;
constexpr double kGrow = 1 + 0x1p-20;  // covers the error of the double arithmetic

using Key = std::span<const float>;  // [d_qk]

double slack(double error) {
  return error / (1 - error);
}

std::span<const int32_t> slots_of(const AttentionInput& input, const IndexListView& list,
                                  int64_t token) {
  const auto at = static_cast<size_t>(token);
  if (!list.indptr.empty()) {
    const auto begin = static_cast<size_t>(list.indptr[at]);
    return list.data.subspan(begin, static_cast<size_t>(list.indptr[at + 1]) - begin);
  }
  if (list.data.empty()) {
    return {};
  }
  int64_t count = list.width;
  if (!list.lengths.empty()) {
    const int64_t length = list.lengths[static_cast<size_t>(token / input.tokens_per_request)];
    count = std::clamp<int64_t>(length, 0, list.width);
  }
  return list.data.subspan(static_cast<size_t>(token * list.stride), static_cast<size_t>(count));
}

// Appends the keys of the valid entries. False: an index that the contract does not allow.
bool append_keys(const AttentionInput& input, const KeyList& list, int64_t token,
                 std::vector<Key>& keys) {
  bool allowed = true;
  for (const int32_t index : slots_of(input, list.indices, token)) {
    if (index >= 0 && index < list.keys.keys) {
      keys.push_back(list.keys.data.subspan(static_cast<size_t>(index * list.keys.stride),
                                            static_cast<size_t>(input.query.d_qk)));
    } else if (index != -1 && input.rule == IndexRule::kNegativeOneOnly) {
      allowed = false;
    }
  }
  return allowed;
}

struct Scores {
  std::vector<double> values;  // P_j
  std::vector<double> errors;  // d_j
  double largest = 0;          // the largest magnitude of a finite P_j
  bool exact_dots = true;
  bool overflows = false;  // float may
  bool has_nan = false;    // NaN or +inf
  bool all_absent = true;  // every score is -inf
  bool equal = true;       // all P_j
};

Scores score(const AttentionInput& input, const AttentionPrecision& precision, Key query,
             std::span<const Key> keys) {
  const int64_t most = input.query.d_qk;
  const int64_t roundings =
      precision.dot_roundings > 0 ? std::min(precision.dot_roundings, most) : most;
  Scores scores;
  std::vector<double> terms(query.size());
  for (const Key key : keys) {
    double dot = 0;
    double magnitude = 0;
    for (size_t i = 0; i < query.size(); ++i) {
      terms[i] = double{query[i]} * double{key[i]};
      dot += terms[i];
      magnitude += std::abs(terms[i]);
    }
    const double value = input.scale * dot;
    const bool exact = sums_exactly(terms, precision.unit);
    const double scaled = std::abs(input.scale) * magnitude;
    scores.exact_dots = scores.exact_dots && exact;
    scores.errors.push_back(exact ? 0 : gamma(roundings, precision.unit) * scaled);
    scores.has_nan = scores.has_nan || std::isnan(value) || value == kInfinity;
    scores.all_absent = scores.all_absent && value == -kInfinity;
    if (std::isfinite(value)) {
      scores.overflows =
          scores.overflows || magnitude >= kFloatOverflow || scaled >= kFloatOverflow;
      scores.largest = std::max(scores.largest, std::abs(value));
    } else {
      scores.errors.back() = 0;
    }
    scores.equal = scores.equal && (scores.values.empty() || value == scores.values.front());
    scores.values.push_back(value);
  }
  return scores;
}

// Everything about the weights of one row that the bands need; the reasons are in the header.
struct Weights {
  std::vector<double> values;          // exp(P_j - shift)
  std::vector<double> errors;          // e_j
  std::vector<double> product_errors;  // of a weight on its way to the values, per |v|
  double shift = 0;
  double low = 0;  // the sum with all errors down, up
  double high = 0;
  double argument_error = 0;  // of one more weight: the sink's
  bool ones = false;          // exactly 1, whatever the implementation
  bool countable = false;     // ones, whose sum is exact in every order
};

// `shift` is the largest score, or a larger sink; `magnitude` is A.
Weights weigh(const Scores& scores, const AttentionPrecision& precision, double shift,
              double magnitude) {
  const auto n = std::ssize(scores.values);
  const auto count_of = [n](int64_t known) { return known > 0 ? std::min(known, n) : n; };
  const double unit = precision.unit;
  const auto rescalings = count_of(precision.rescalings);
  Weights weights;
  weights.shift = shift;
  weights.ones = magnitude == 0 && scores.exact_dots && scores.equal;
  weights.countable = weights.ones && static_cast<double>(n) <= 1 / unit;
  weights.argument_error = weights.ones
                               ? 0
                               : static_cast<double>(1 + rescalings) *
                                     (6 * unit * magnitude + slack(precision.function_error));
  const int64_t sum_roundings = count_of(precision.sum_roundings) + (weights.ones ? 0 : rescalings);
  const double sum_error = weights.countable ? 0 : gamma(sum_roundings, unit);
  double largest_error = 0;
  for (size_t j = 0; j < scores.values.size(); ++j) {
    const double argument = scores.errors[j] + weights.argument_error;
    const double error = kGrow * (argument + sum_error);
    const double weight = std::exp(scores.values[j] - shift);
    weights.values.push_back(weight);
    weights.errors.push_back(error);
    weights.low += std::exp(scores.values[j] - shift - error);
    weights.high += std::exp(scores.values[j] - shift + error);
    largest_error = std::max(largest_error, argument);
  }
  // Weights this close to 1 are rounded to 1.
  const bool rounds_to_one = scores.equal && scores.exact_dots && shift == scores.values.front() &&
                             largest_error < precision.probability_unit / 4;
  const double probability_error = rounds_to_one ? 0 : slack(precision.probability_unit);
  for (size_t j = 0; j < weights.values.size(); ++j) {
    const double exponent = weights.errors[j] + probability_error + slack(unit);
    // A large bound may lift a weight that is 0 in double.
    weights.product_errors.push_back(exponent < 1 ? weights.values[j] * std::expm1(exponent)
                                                  : std::exp(scores.values[j] - shift + exponent));
  }
  return weights;
}

Band max_band(const Scores& scores, const AttentionPrecision& precision) {
  Band band = Band::exactly(-kInfinity);
  for (size_t j = 0; j < scores.values.size(); ++j) {
    const double value = scores.values[j];
    if (value == -kInfinity) {
      continue;
    }
    const double error =
        kGrow * (scores.errors[j] + 4 * precision.unit * (std::abs(value) + scores.errors[j]));
    band.low = std::max(band.low, value - error);
    band.high = std::max(band.high, value + error);
  }
  return rounded(band, kFloat32);
}

// In natural logarithms, before the rounding to float; the shift is the largest score.
Band lse_band(const Weights& weights, const AttentionPrecision& precision) {
  const double low = std::log(weights.low);
  const double high = std::log(weights.high);
  const double log_size = std::max(std::abs(low), std::abs(high));
  const bool exact = weights.countable && weights.values.size() == 1;
  const double error = exact ? 0
                             : kGrow * (precision.function_error * std::max(1.0, log_size) +
                                        4 * precision.unit * (std::abs(weights.shift) + log_size));
  return {.low = weights.shift + low - error, .high = weights.shift + high + error};
}

int64_t blind_entries(const Weights& weights, const Band& lse) {
  double sum = 0;
  for (const double weight : weights.values) {
    sum += weight;
  }
  const double width = lse.high - lse.low;
  return std::count_if(weights.values.begin(), weights.values.end(), [&](double weight) {
    return -std::log1p(-std::min(1.0, weight / sum)) <= width;
  });
}

struct Denominator {
  double low = 0;
  double high = 0;
};

Band out_band(std::span<const Key> keys, size_t column, const Weights& weights,
              const Denominator& denominator, const AttentionPrecision& precision) {
  const auto n = std::ssize(keys);
  double sum = 0;
  double error = 0;
  double magnitude = 0;
  std::vector<double> terms;
  for (size_t j = 0; j < keys.size(); ++j) {
    const double value = keys[j][column];
    if (!std::isfinite(value)) {
      return Band::any();
    }
    terms.push_back(value);
    const double weight = weights.values[j];
    sum += weight * value;
    magnitude += std::abs(value);
    error += std::abs(value) * weights.product_errors[j];
  }
  const bool one_sink_free_sum = weights.countable && denominator.low == denominator.high;
  double quotient_error = 3 * precision.unit;
  double underflow = kFloatUnderflow * magnitude;
  if (one_sink_free_sum) {
    const int64_t roundings =
        precision.sum_roundings > 0 ? std::min(precision.sum_roundings, n) : n;
    const bool exact = sums_exactly(terms, precision.unit);
    error = exact ? 0 : gamma(roundings, precision.unit) * magnitude;
    quotient_error = (n & (n - 1)) == 0 ? 0 : quotient_error;
    underflow = exact ? 0 : underflow;
  }
  if (!std::isfinite(error) || !std::isfinite(denominator.high)) {
    return Band::any();
  }
  const double low = sum - kGrow * error;
  const double high = sum + kGrow * error;
  Band band{.low = low / (low >= 0 ? denominator.high : denominator.low),
            .high = high / (high >= 0 ? denominator.low : denominator.high)};
  band.low -= kGrow * quotient_error * std::abs(band.low) + underflow;
  band.high += kGrow * quotient_error * std::abs(band.high) + underflow;
  return rounded(band, precision.output);
}

std::vector<Band> out_bands(const AttentionInput& input, const AttentionPrecision& precision,
                            std::span<const Key> keys, const Scores& scores, double sink) {
  const auto columns = static_cast<size_t>(input.d_v);
  if (std::isnan(sink)) {
    return std::vector<Band>(columns, Band::not_finite());
  }
  if (sink == kInfinity) {
    return std::vector<Band>(columns, Band::exactly(0));
  }
  const double max = *std::max_element(scores.values.begin(), scores.values.end());
  const bool has_sink = sink != -kInfinity;
  const double magnitude = std::max(scores.largest, has_sink ? std::abs(sink) : 0);
  const Weights weights = weigh(scores, precision, std::max(max, sink), magnitude);
  Denominator denominator{.low = weights.low, .high = weights.high};
  if (has_sink) {
    const double weight = std::exp(sink - weights.shift);
    const double error = kGrow * (weights.argument_error + 2 * slack(precision.unit));
    denominator.low = (denominator.low + weight * std::exp(-error)) * (1 - slack(precision.unit));
    denominator.high = (denominator.high + weight * std::exp(error)) * (1 + slack(precision.unit));
  }
  std::vector<Band> bands;
  for (size_t column = 0; column < columns; ++column) {
    bands.push_back(out_band(keys, column, weights, denominator, precision));
  }
  return bands;
}

void fill_row(AttentionRow& row, int64_t d_v, const Band& out, const Band& lse, const Band& max) {
  row.out.assign(static_cast<size_t>(d_v), out);
  row.lse = lse;
  row.max_score = max;
}

Band in_base(const Band& natural, LseBase base, double unit) {
  if (base == LseBase::kNatural || natural.kind != BandKind::kInterval) {
    return rounded(natural, kFloat32);
  }
  const auto converted = [](double value) { return value * std::numbers::log2e; };
  const double error = 2 * unit * std::max(std::abs(natural.low), std::abs(natural.high));
  return rounded({.low = converted(natural.low - error), .high = converted(natural.high + error)},
                 kFloat32);
}

struct RowKeys {
  std::vector<Key> keys;
  bool allowed = true;
};

RowKeys keys_of(const AttentionInput& input, int64_t token) {
  RowKeys row;
  row.allowed = append_keys(input, input.main, token, row.keys);
  row.allowed = append_keys(input, input.extra, token, row.keys) && row.allowed;
  return row;
}

AttentionRow attend_keys(const AttentionInput& input, const AttentionPrecision& precision,
                         const RowKeys& row_keys, Key query, double sink) {
  AttentionRow row;
  row.entries = std::ssize(row_keys.keys);
  if (row_keys.allowed && row_keys.keys.empty()) {
    fill_row(row, input.d_v, Band::exactly(0), Band::exactly(input.empty_lse),
             Band::exactly(-kInfinity));
    return row;
  }
  const Scores scores = score(input, precision, query, row_keys.keys);
  row.blind_entries = row.entries;
  if (!row_keys.allowed || scores.overflows || scores.all_absent) {
    row.open = true;
    fill_row(row, input.d_v, Band::any(), Band::any(), Band::any());
    return row;
  }
  if (scores.has_nan) {
    fill_row(row, input.d_v, Band::not_finite(), Band::not_finite(), Band::any());
    return row;
  }
  const double max = *std::max_element(scores.values.begin(), scores.values.end());
  const Weights weights = weigh(scores, precision, max, scores.largest);
  const Band lse = lse_band(weights, precision);
  row.lse = in_base(lse, input.lse_base, precision.unit);
  row.max_score = max_band(scores, precision);
  row.blind_entries = blind_entries(weights, lse);
  row.out = out_bands(input, precision, row_keys.keys, scores, sink);
  return row;
}

Key query_of(const QueryView& query, int64_t token, int64_t head) {
  return query.data.subspan(
      static_cast<size_t>(token * query.token_stride + head * query.head_stride),
      static_cast<size_t>(query.d_qk));
}

double sink_of(const AttentionInput& input, int64_t head) {
  return input.sink.empty() ? -kInfinity : double{input.sink[static_cast<size_t>(head)]};
}

// Elements that a view of these extents reaches; 0 if one extent is 0.
struct Extent {
  int64_t count = 0;
  int64_t stride = 0;
};
int64_t reach(std::initializer_list<Extent> extents) {
  int64_t last = 0;
  for (const auto& [count, stride] : extents) {
    if (count <= 0) {
      return 0;
    }
    last += (count - 1) * stride;
  }
  return last + 1;
}

std::string problem_of_list(const AttentionInput& input, const KeyList& list,
                            const std::string& name) {
  const IndexListView& indices = list.indices;
  const int64_t tokens = input.query.tokens;
  if (list.keys.keys < 0 || list.keys.stride < 0 ||
      std::ssize(list.keys.data) <
          reach({{list.keys.keys, list.keys.stride}, {input.query.d_qk, 1}})) {
    return name + ": the keys reach beyond their data";
  }
  if (!indices.indptr.empty()) {
    if (std::ssize(indices.indptr) != tokens + 1 || indices.indptr.front() < 0 ||
        !std::is_sorted(indices.indptr.begin(), indices.indptr.end()) ||
        indices.indptr.back() > std::ssize(indices.data)) {
      return name + ": indptr needs tokens + 1 ascending offsets into the indices";
    }
    return {};
  }
  if (indices.data.empty() && indices.width == 0) {
    return {};
  }
  if (indices.width < 0 || indices.stride < 0 ||
      std::ssize(indices.data) < reach({{tokens, indices.stride}, {indices.width, 1}})) {
    return name + ": the indices reach beyond their data";
  }
  const int64_t requests = (tokens + input.tokens_per_request - 1) / input.tokens_per_request;
  if (!indices.lengths.empty() && std::ssize(indices.lengths) != requests) {
    return name + ": one length per request is needed, or none";
  }
  return {};
}

int64_t position_of(const AttentionInput& input, const AttentionStatView& view, int64_t token,
                    int64_t head) {
  return token / input.tokens_per_request * view.request_stride +
         token % input.tokens_per_request * view.token_stride + head * view.head_stride;
}

std::string problem_of_answer(const AttentionInput& input, const AttentionAnswer& answer) {
  const int64_t tokens = input.query.tokens;
  const int64_t heads = input.query.heads;
  if (answer.out.data.empty() && answer.lse.data.empty() && answer.max_score.data.empty() &&
      tokens * heads > 0) {
    return "the answer is empty: give the output, the log-sum-exp or the largest scores";
  }
  if (answer.out.token_stride < 0 || answer.out.head_stride < 0 ||
      (!answer.out.data.empty() &&
       std::ssize(answer.out.data) < reach({{tokens, answer.out.token_stride},
                                            {heads, answer.out.head_stride},
                                            {input.d_v, 1}}))) {
    return "the output reaches beyond its data";
  }
  const int64_t per_request = std::min(tokens, input.tokens_per_request);
  const int64_t requests = (tokens + input.tokens_per_request - 1) / input.tokens_per_request;
  for (const AttentionStatView& view : {answer.lse, answer.max_score}) {
    if (!view.data.empty() && std::ssize(view.data) < reach({{requests, view.request_stride},
                                                             {per_request, view.token_stride},
                                                             {heads, view.head_stride}})) {
      return "a log-sum-exp or largest score lies beyond its data";
    }
  }
  return {};
}

class AnswerChecker {
 public:
  AnswerChecker(const AttentionInput& input, const AttentionAnswer& answer,
                AttentionJudgement& judgement)
      : input_(input), answer_(answer), judgement_(judgement) {}

  void check(const AttentionRow& row, int64_t token, int64_t head) {
    const int64_t before = judgement_.bad_elements;
    check_out(row, token, head);
    check_stat(answer_.lse, AttentionPart::kLse, row.lse, token, head);
    check_stat(answer_.max_score, AttentionPart::kMaxScore, row.max_score, token, head);
    ++judgement_.rows;
    judgement_.open_rows += row.open ? 1 : 0;
    judgement_.entries += row.entries;
    judgement_.blind_entries += answer_.lse.data.empty() ? row.entries : row.blind_entries;
    judgement_.failing_rows += judgement_.bad_elements > before ? 1 : 0;
  }

 private:
  void check_out(const AttentionRow& row, int64_t token, int64_t head) {
    const AttentionOutView& view = answer_.out;
    if (view.data.empty()) {
      return;
    }
    for (int64_t column = 0; column < input_.d_v; ++column) {
      const int64_t position = token * view.token_stride + head * view.head_stride + column;
      const Band& want = row.out[static_cast<size_t>(column)];
      judgement_.exact_elements += want.is_one_value() ? 1 : 0;
      check_one({.part = AttentionPart::kOut,
                 .token = token,
                 .head = head,
                 .column = column,
                 .kind = FaultKind::kWrongValue,
                 .want = want,
                 .got = view.data[static_cast<size_t>(position)]});
    }
  }

  void check_stat(const AttentionStatView& view, AttentionPart part, const Band& want,
                  int64_t token, int64_t head) {
    if (view.data.empty()) {
      return;
    }
    const int64_t position = position_of(input_, view, token, head);
    check_one({.part = part,
               .token = token,
               .head = head,
               .column = 0,
               .kind = FaultKind::kWrongValue,
               .want = want,
               .got = view.data[static_cast<size_t>(position)]});
  }

  void check_one(const BadAttention& element) {
    if (element.want.holds(element.got)) {
      return;
    }
    judgement_.faults.add(element.kind);
    ++judgement_.bad_elements;
    if (std::ssize(judgement_.bad) < kBadAttentionMax) {
      judgement_.bad.push_back(element);
    }
  }

  const AttentionInput& input_;
  const AttentionAnswer& answer_;
  AttentionJudgement& judgement_;
};

}  // namespace

std::string problem_of(const AttentionInput& input) {
  const QueryView& query = input.query;
  if (query.tokens < 0 || query.heads < 0 || query.d_qk < 1 || query.token_stride < 0 ||
      query.head_stride < 0 ||
      std::ssize(query.data) < reach({{query.tokens, query.token_stride},
                                      {query.heads, query.head_stride},
                                      {query.d_qk, 1}})) {
    return "the query reaches beyond its data, or has a negative size";
  }
  if (input.d_v < 0 || input.d_v > query.d_qk) {
    return "d_v is " + std::to_string(input.d_v) + ", not in [0, d_qk]";
  }
  if (input.tokens_per_request < 1) {
    return "tokens_per_request is " + std::to_string(input.tokens_per_request) + ", not positive";
  }
  if (!std::isfinite(input.scale)) {
    return "the scale is not finite";
  }
  if (!input.sink.empty() && std::ssize(input.sink) != query.heads) {
    return "one sink per head is needed, or none";
  }
  const std::string problem = problem_of_list(input, input.main, "main list");
  return problem.empty() ? problem_of_list(input, input.extra, "extra list") : problem;
}

AttentionRow attend(const AttentionInput& input, const AttentionPrecision& precision, int64_t token,
                    int64_t head) {
  return attend_keys(input, precision, keys_of(input, token), query_of(input.query, token, head),
                     sink_of(input, head));
}

AttentionJudgement judge_attention(const AttentionInput& input, const AttentionPrecision& precision,
                                   const AttentionAnswer& answer) {
  AttentionJudgement judgement;
  judgement.invalid = problem_of(input);
  if (judgement.invalid.empty()) {
    judgement.invalid = problem_of_answer(input, answer);
  }
  if (!judgement.invalid.empty()) {
    return judgement;
  }
  AnswerChecker checker(input, answer, judgement);
  for (int64_t token = 0; token < input.query.tokens; ++token) {
    const RowKeys keys = keys_of(input, token);
    for (int64_t head = 0; head < input.query.heads; ++head) {
      const Key query = query_of(input.query, token, head);
      checker.check(attend_keys(input, precision, keys, query, sink_of(input, head)), token, head);
    }
  }
  return judgement;
}

}  // namespace exactk::oracle
