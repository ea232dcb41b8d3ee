// Runs a case on a kernel and judges it: every launch, every row, under two poisons.
#pragma once

#include <cstdint>
#include <functional>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "props/inputs.h"
#include "props/kernel_under_test.h"
#include "props/outcome.h"
#include "props/trial.h"

namespace exactk::props {

struct RunnerOptions {
  int wave_width = 64;  // host device only
  int workers = 2;      // host device only
  LogitsFrom logits_from = LogitsFrom::kHost;
  Trial trial;                          // of power measurements alone
  std::function<void()> alive = [] {};  // called after every judged launch
  // Shown every launch before it is judged; for whoever keeps what was fed and answered.
  std::function<void(const Launched&)> launched = [](const Launched&) {};
};

class Runner {
 public:
  explicit Runner(kernels::Device& device, int64_t input_cache_bytes = int64_t{1} << 30)
      : device_(device), inputs_(input_cache_bytes) {}

  // Never throws for what a kernel does; InternalError if the suite contradicts itself.
  Outcome run(const fixtures::Case& c, const KernelUnderTest& kernel, const RunnerOptions& options);

 private:
  kernels::Device& device_;
  InputCache inputs_;
};

}  // namespace exactk::props
