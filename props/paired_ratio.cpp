#include "props/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace exactk::props {
namespace {

// The largest j with 2 P(Binomial(n, 1/2) < j) <= error_max; 0: there is none.
int64_t trimmed_pairs(int64_t n, double error_max) {
  double term = std::ldexp(1.0, -static_cast<int>(n));  // P(Binomial = 0)
  double below = 0;
  int64_t j = 0;
  while (j < n && 2 * (below + term) <= error_max) {
    below += term;
    term *= static_cast<double>(n - j) / static_cast<double>(j + 1);
    ++j;
  }
  return j;
}

double median_of(const std::vector<double>& sorted) {
  const size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

RatioInterval ratio_interval(std::span<const double> baseline_s,
                             std::span<const double> candidate_s, double error_max) {
  std::vector<double> ratios;
  for (size_t i = 0; i < baseline_s.size(); ++i) ratios.push_back(candidate_s[i] / baseline_s[i]);
  std::sort(ratios.begin(), ratios.end());
  RatioInterval interval;
  interval.pairs = std::ssize(ratios);
  interval.median = median_of(ratios);
  const int64_t j = trimmed_pairs(interval.pairs, error_max);
  interval.lower = j == 0 ? 0 : ratios[static_cast<size_t>(j - 1)];
  interval.upper = j == 0 ? std::numeric_limits<double>::infinity()
                          : ratios[static_cast<size_t>(interval.pairs - j)];
  return interval;
}

int64_t pairs_needed(double error_max) {
  return static_cast<int64_t>(std::ceil(1 - std::log2(error_max)));
}

std::string_view name_of(const RatioInterval& interval) {
  if (interval.slower()) return "slower";
  return interval.faster() ? "faster" : "no difference shown";
}

}  // namespace exactk::props
