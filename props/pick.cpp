#include "props/pick.h"

#include <rapidcheck.h>

namespace exactk::props {

int64_t one_of(const std::vector<int64_t>& values) {
  return *rc::gen::elementOf(values);
}

bool chance(int percent) {
  return any_below(100) < percent;
}

int any_below(int count) {
  return *rc::gen::inRange(0, count);
}

}  // namespace exactk::props
