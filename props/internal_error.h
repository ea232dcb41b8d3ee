// A contradiction inside the suite itself: two of its own oracles disagree. Never a verdict on a
// kernel; exit code 70.
#pragma once

#include <stdexcept>

namespace exactk::props {

class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace exactk::props
