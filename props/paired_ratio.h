// How much longer one thing takes than another, from paired repeats: an interval instead of a look.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace exactk::props {

struct RatioInterval {
  double lower = 0;  // 0: too few pairs for a bound at this level
  double median = 0;
  double upper = 0;  // infinity: likewise
  int64_t pairs = 0;
  bool slower() const { return lower > 1; }  // the candidate, beyond doubt at the level
  bool faster() const { return upper < 1; }
};

// The median of candidate / baseline, and the interval that the sign test does not reject: with n
// pairs, the j-th smallest to the j-th largest ratio, j as large as 2 P(Binomial(n, 1/2) < j) <=
// `error_max` allows. It holds the median of such ratios with a probability of at least 1 -
// error_max, whatever their distribution; assumed is only that pairs are independent of each other.
// Both spans have the same size, at least 1, and hold seconds above 0.
//
// Source: the distribution-free interval for a median, e.g. Hollander and Wolfe, Nonparametric
// Statistical Methods, section 3.6.
RatioInterval ratio_interval(std::span<const double> baseline_s,
                             std::span<const double> candidate_s, double error_max);

// The fewest pairs that can bound a ratio at all: 2 / 2^n <= error_max.
int64_t pairs_needed(double error_max);

// "slower", "faster" or "no difference shown"
std::string_view name_of(const RatioInterval& interval);

}  // namespace exactk::props
