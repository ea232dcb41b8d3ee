// Inputs made once and shared by the kernels and wave widths that run the case.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "props/operation.h"

namespace exactk::props {

// Keeps recent launches' data up to `bytes_max`.
class InputCache {
 public:
  explicit InputCache(int64_t bytes_max) : bytes_max_(bytes_max) {}
  std::shared_ptr<const StepInputs> get(const Operation& operation, int64_t step, LogitsFrom from);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const StepInputs> inputs;
    int64_t bytes;
  };
  int64_t bytes_max_;
  int64_t bytes_ = 0;
  std::list<Entry> entries_;  // newest first
};

}  // namespace exactk::props
