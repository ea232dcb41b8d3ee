#include "kernels/device/host/schedule.h"

#include <numeric>

namespace exactk::host_device {
namespace {

constexpr uint64_t kShuffledMax = uint64_t{1} << 20;

}  // namespace

ScheduleOrder::ScheduleOrder(uint64_t count, uint64_t seed) : count_(count) {
  if (seed == 0 || count < 2) return;
  ScheduleRandom random(seed);
  if (count > kShuffledMax) {
    start_ = random.below(count);
    do {
      step_ = 1 + random.below(count - 1);
    } while (std::gcd(step_, count) != 1);
    return;
  }
  shuffled_.resize(count);
  std::iota(shuffled_.begin(), shuffled_.end(), 0u);
  for (uint64_t i = count; i > 1; --i) std::swap(shuffled_[i - 1], shuffled_[random.below(i)]);
}

uint64_t ScheduleOrder::at(uint64_t position) const {
  if (!shuffled_.empty()) return shuffled_[position];
  return static_cast<uint64_t>((static_cast<unsigned __int128>(position) * step_ + start_) %
                               count_);
}

}  // namespace exactk::host_device
