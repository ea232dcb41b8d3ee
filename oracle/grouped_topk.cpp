#include "oracle/grouped_topk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace exactk::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloatUnderflow = 0x1p-126;

struct Scores {
  std::vector<Band> plain;   // s
  std::vector<Band> choice;  // c; a NaN as -infinity
  std::vector<double> best;  // c without a margin
  bool undefined = false;    // no score is a number
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

struct Score {
  double value = 0;
  double error = 0;
};

Score sigmoid_score(double x, const RouterPrecision& precision) {
  const double value = sigmoid(x);
  if (!std::isfinite(x)) {
    return {.value = value};
  }
  const double relative = precision.function_error + 2 * precision.unit * std::abs(x) * sigmoid(-x);
  return {.value = value, .error = value * relative + kFloatUnderflow};
}

std::vector<Score> softmax_scores(std::span<const float> logits, const RouterPrecision& precision) {
  const double max = *std::max_element(logits.begin(), logits.end());
  double magnitude = 0;
  double sum = 0;
  for (const float x : logits) {
    sum += std::exp(x - max);
    magnitude = std::max(magnitude, std::isfinite(x) ? std::abs(double{x}) : 0);
  }
  const double relative = 2 * precision.function_error + 6 * precision.unit * magnitude +
                          gamma(std::ssize(logits) + 1, precision.unit);
  std::vector<Score> scores;
  for (const float x : logits) {
    const double value = std::exp(x - max) / sum;
    scores.push_back({.value = value, .error = value * relative + kFloatUnderflow});
  }
  return scores;
}

bool softmax_is_undefined(std::span<const float> logits) {
  const auto breaks = [](float x) { return std::isnan(x) || x == kInfinity; };
  return std::any_of(logits.begin(), logits.end(), breaks) ||
         std::all_of(logits.begin(), logits.end(), [](float x) { return x == -kInfinity; });
}

Scores score(const RouterSpec& spec, const RouterPrecision& precision, const RouterRow& row) {
  Scores scores;
  std::vector<Score> plain;
  if (spec.scoring == RouterScoring::kSoftmax) {
    scores.undefined = softmax_is_undefined(row.logits);
    if (scores.undefined) {
      return scores;
    }
    plain = softmax_scores(row.logits, precision);
  } else {
    for (const float x : row.logits) {
      plain.push_back(sigmoid_score(x, precision));
    }
  }
  for (size_t i = 0; i < plain.size(); ++i) {
    const auto& [value, error] = plain[i];
    const double choice = value + (row.bias.empty() ? 0 : double{row.bias[i]});
    const double margin =
        error + (row.bias.empty() ? 0 : precision.unit * (std::abs(choice) + error));
    scores.plain.push_back({.low = std::max(0.0, value - error), .high = value + error});
    if (std::isnan(choice)) {
      scores.choice.push_back(Band::exactly(-kInfinity));
      scores.best.push_back(-kInfinity);
    } else if (std::isinf(choice)) {
      scores.choice.push_back(Band::exactly(choice));
      scores.best.push_back(choice);
    } else {
      scores.choice.push_back({.low = choice - margin, .high = choice + margin});
      scores.best.push_back(choice);
    }
  }
  return scores;
}

int64_t group_size(const RouterSpec& spec, const RouterRow& row) {
  return std::ssize(row.logits) / spec.groups;
}

// Sum of the two largest with a bias (one if the group has no other), the largest without.
double group_score(std::span<const double> choices, bool biased) {
  double first = -kInfinity;
  double second = -kInfinity;
  for (const double choice : choices) {
    if (choice > first) {
      second = first;
      first = choice;
    } else {
      second = std::max(second, choice);
    }
  }
  return biased && choices.size() > 1 ? first + second : first;
}

std::vector<double> group_scores(const RouterSpec& spec, const RouterRow& row,
                                 const std::vector<double>& choices) {
  const auto size = static_cast<size_t>(group_size(spec, row));
  std::vector<double> result;
  for (size_t begin = 0; begin < choices.size(); begin += size) {
    result.push_back(group_score(std::span(choices).subspan(begin, size), !row.bias.empty()));
  }
  return result;
}

// The score grows with each of its members, so their ends give its ends.
std::vector<Band> group_bands(const RouterSpec& spec, const RouterPrecision& precision,
                              const RouterRow& row, const Scores& scores) {
  std::vector<double> low;
  std::vector<double> high;
  for (const Band& choice : scores.choice) {
    low.push_back(choice.low);
    high.push_back(choice.high);
  }
  low = group_scores(spec, row, low);
  high = group_scores(spec, row, high);
  std::vector<Band> bands;
  for (size_t group = 0; group < low.size(); ++group) {
    const auto rounding = [&](double value) {
      return row.bias.empty() || std::isinf(value) ? 0 : precision.unit * std::abs(value);
    };
    bands.push_back(
        {.low = low[group] - rounding(low[group]), .high = high[group] + rounding(high[group])});
  }
  return bands;
}

// The `count` largest, best first, ties to the smaller index.
std::vector<int32_t> largest(const std::vector<double>& values, int64_t count) {
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return values[static_cast<size_t>(a)] > values[static_cast<size_t>(b)];
  });
  order.resize(static_cast<size_t>(count));
  return order;
}

std::vector<int32_t> winners(const RouterSpec& spec, const RouterRow& row, const Scores& scores) {
  const int64_t size = group_size(spec, row);
  std::vector<int32_t> groups = largest(group_scores(spec, row, scores.best), spec.topk_groups);
  std::sort(groups.begin(), groups.end());
  std::vector<int32_t> candidates;
  std::vector<double> choices;
  for (const int32_t group : groups) {
    for (int64_t i = group * size; i < (group + 1) * size; ++i) {
      candidates.push_back(static_cast<int32_t>(i));
      choices.push_back(scores.best[static_cast<size_t>(i)]);
    }
  }
  std::vector<int32_t> ids;
  for (const int32_t place : largest(choices, spec.topk)) {
    ids.push_back(candidates[static_cast<size_t>(place)]);
  }
  return ids;
}

// Whether some scores inside the bands lead to a choice. A set of groups that holds the chosen
// experts is possible if no group outside is certainly better than one inside; the threshold below
// is the best low end outside. No group inside may hold an expert that is not chosen and certainly
// better than a chosen one.
class Feasibility {
 public:
  Feasibility(const RouterSpec& spec, const RouterRow& row, const Scores& scores,
              std::vector<Band> groups)
      : spec_(spec), size_(group_size(spec, row)), scores_(scores), groups_(std::move(groups)) {}

  bool possible(std::span<const int32_t> ids) const {
    std::vector<bool> chosen(scores_.choice.size(), false);
    std::vector<bool> required(groups_.size(), false);
    double worst = kInfinity;
    for (const int32_t id : ids) {
      chosen[static_cast<size_t>(id)] = true;
      required[static_cast<size_t>(id / size_)] = true;
      worst = std::min(worst, scores_.choice[static_cast<size_t>(id)].high);
    }
    std::vector<bool> forbidden(groups_.size(), false);
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (!chosen[i] && scores_.choice[i].low > worst) {
        forbidden[i / static_cast<size_t>(size_)] = true;
      }
    }
    const auto allows = [&](double threshold) { return allows_at(threshold, required, forbidden); };
    return allows(-kInfinity) || std::any_of(groups_.begin(), groups_.end(),
                                             [&](const Band& group) { return allows(group.low); });
  }

 private:
  bool allows_at(double threshold, const std::vector<bool>& required,
                 const std::vector<bool>& forbidden) const {
    int64_t must = 0;
    int64_t may = 0;
    for (size_t group = 0; group < groups_.size(); ++group) {
      const bool inside = required[group] || groups_[group].low > threshold;
      const bool can = groups_[group].high >= threshold && !forbidden[group];
      if (inside && !can) {
        return false;
      }
      must += inside ? 1 : 0;
      may += can ? 1 : 0;
    }
    return must <= spec_.topk_groups && may >= spec_.topk_groups;
  }

  const RouterSpec& spec_;
  int64_t size_;
  const Scores& scores_;
  std::vector<Band> groups_;
};

// Too few numbers to choose from.
bool is_open(const RouterSpec& spec, const RouterRow& row, const Scores& scores) {
  if (scores.undefined) {
    return true;
  }
  const std::vector<double> groups = group_scores(spec, row, scores.best);
  const auto is_number = [](double value) { return std::isfinite(value); };
  if (std::count_if(groups.begin(), groups.end(), is_number) < spec.topk_groups) {
    return true;
  }
  const std::vector<int32_t> ids = winners(spec, row, scores);
  return !std::all_of(ids.begin(), ids.end(),
                      [&](int32_t id) { return is_number(scores.best[static_cast<size_t>(id)]); });
}

void add(RouterJudgement& judgement, const BadChoice& bad) {
  judgement.faults.add(bad.kind);
  judgement.bad.push_back(bad);
}

// False: some id is no expert, or one twice.
bool check_ids(std::span<const int32_t> ids, int64_t experts, RouterJudgement& judgement) {
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    BadChoice bad{.slot = static_cast<int64_t>(slot), .expert = ids[slot], .want = {}};
    if (ids[slot] < 0 || ids[slot] >= experts) {
      bad.kind = FaultKind::kOutOfRange;
      add(judgement, bad);
    } else if (std::find(ids.begin(), ids.begin() + bad.slot, ids[slot]) !=
               ids.begin() + bad.slot) {
      bad.kind = FaultKind::kDuplicate;
      add(judgement, bad);
    }
  }
  return judgement.ok();
}

void explain_choice(std::span<const int32_t> ids, const std::vector<int32_t>& want,
                    RouterJudgement& judgement) {
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    if (std::find(want.begin(), want.end(), ids[slot]) == want.end()) {
      add(judgement, {.slot = static_cast<int64_t>(slot),
                      .expert = ids[slot],
                      .kind = FaultKind::kIntruder,
                      .want = {}});
    }
  }
  for (const int32_t expert : want) {
    if (std::find(ids.begin(), ids.end(), expert) == ids.end()) {
      add(judgement, {.slot = -1, .expert = expert, .kind = FaultKind::kMissingWinner, .want = {}});
    }
  }
}

Band scaled(const Band& band, double factor, double unit) {
  const double low = band.low * factor;
  const double high = band.high * factor;
  const double least = std::min(low, high);
  const double most = std::max(low, high);
  return {.low = least - 2 * unit * std::abs(least), .high = most + 2 * unit * std::abs(most)};
}

void check_weights(const RouterSpec& spec, const RouterPrecision& precision, const RouterRow& row,
                   const Scores& scores, std::span<const int32_t> ids,
                   std::span<const float> weights, RouterJudgement& judgement) {
  std::vector<Band> raw;
  Band sum;
  for (const int32_t id : ids) {
    const auto at = static_cast<size_t>(id);
    Band band = scores.plain[at];
    if (precision.weight_from_biased && !row.bias.empty()) {
      const double error =
          3 * precision.unit * (std::abs(scores.best[at]) + std::abs(double{row.bias[at]}));
      band = {.low = band.low - error, .high = band.high + error};
    }
    raw.push_back(band);
    sum = {.low = sum.low + band.low, .high = sum.high + band.high};
  }
  const double error = gamma(spec.topk + 2, precision.unit);
  // A NaN was chosen only if its group has nothing else: another choice would not be possible.
  if (spec.renormalize && (sum.low <= 0 || std::isnan(sum.high))) {
    return;
  }
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    Band band = raw[slot];
    if (std::isnan(band.high)) {
      continue;
    }
    if (spec.renormalize) {
      // A weight is part of its sum: s / (s + rest) grows with s and falls with the rest.
      const double rest_low = sum.low - band.low;
      const double rest_high = sum.high - band.high;
      band = {.low = std::min(band.low, 0.0) +
                     std::max(band.low, 0.0) / (band.low + rest_high) * (1 - error),
              .high = band.high / (band.high + rest_low) * (1 + error)};
    }
    const Band want = rounded(scaled(band, spec.scaling, precision.unit), kFloat32);
    if (!want.holds(weights[slot])) {
      add(judgement, {.slot = static_cast<int64_t>(slot),
                      .expert = ids[slot],
                      .kind = FaultKind::kWrongValue,
                      .want = want,
                      .got = weights[slot]});
    }
  }
}

}  // namespace

std::string problem_of(const RouterSpec& spec, const RouterRow& row) {
  const int64_t experts = std::ssize(row.logits);
  if (spec.groups < 1 || experts < 1 || experts % spec.groups != 0) {
    return "the groups (" + std::to_string(spec.groups) + ") do not divide the experts (" +
           std::to_string(experts) + ")";
  }
  if (spec.topk_groups < 1 || spec.topk_groups > spec.groups) {
    return "topk_groups is " + std::to_string(spec.topk_groups) + ", not in [1, groups]";
  }
  if (spec.topk < 1 || spec.topk > spec.topk_groups * (experts / spec.groups)) {
    return "topk is " + std::to_string(spec.topk) + ", more than the chosen groups have or none";
  }
  if (!row.bias.empty() && std::ssize(row.bias) != experts) {
    return "one bias per expert is needed, or none";
  }
  return std::isfinite(spec.scaling) ? "" : "the scaling factor is not finite";
}

std::vector<int32_t> grouped_topk(const RouterSpec& spec, const RouterRow& row) {
  const Scores scores = score(spec, {}, row);
  return scores.undefined ? std::vector<int32_t>{} : winners(spec, row, scores);
}

RouterJudgement judge_router(const RouterSpec& spec, const RouterPrecision& precision,
                             const RouterRow& row, std::span<const int32_t> ids,
                             std::span<const float> weights) {
  RouterJudgement judgement;
  const Scores scores = score(spec, precision, row);
  judgement.open = is_open(spec, row, scores);
  if (!check_ids(ids, std::ssize(row.logits), judgement) || judgement.open) {
    return judgement;
  }
  const Feasibility feasibility(spec, row, scores, group_bands(spec, precision, row, scores));
  if (!feasibility.possible(ids)) {
    explain_choice(ids, winners(spec, row, scores), judgement);
    return judgement;
  }
  check_weights(spec, precision, row, scores, ids, weights, judgement);
  return judgement;
}

}  // namespace exactk::oracle
