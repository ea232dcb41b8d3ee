// The shipped kernels are silent on random cases, at both wave widths.
#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "props/generators.h"
#include "props/kernel_under_test.h"
#include "props/report.h"
#include "props/runner.h"

namespace exactk::tests {
namespace {

class RandomCases : public testing::TestWithParam<int> {};

TEST_P(RandomCases, PassOnEveryShippedKernel) {
  constexpr int kCases = 60;
  auto device = kernels::open_device("host");
  ASSERT_TRUE(device.has_value()) << device.error();
  props::Runner runner(**device);
  props::RunnerOptions options;
  options.wave_width = GetParam();
  const auto kernels = props::select_kernels("host", "*");
  ASSERT_TRUE(kernels.has_value()) << kernels.error();
  int judged = 0;
  for (int i = 0; i < kCases; ++i) {
    const fixtures::Case c = props::draw_case(20260101, i, {20000, 3, {}});
    for (const props::KernelUnderTest& kernel : *kernels) {
      if (kernel.kernel->op != fixtures::name(c.op)) continue;
      const props::Outcome outcome = runner.run(c, kernel, options);
      const bool fine = outcome.verdict == oracle::Verdict::kPassed ||
                        outcome.verdict == oracle::Verdict::kWeak ||
                        outcome.verdict == oracle::Verdict::kSkipped;
      ASSERT_TRUE(fine) << props::report_text(outcome);
      judged += outcome.verdict == oracle::Verdict::kPassed ? 1 : 0;
    }
  }
  EXPECT_GE(judged, 2 * kCases);
}

INSTANTIATE_TEST_SUITE_P(Wave, RandomCases, testing::Values(32, 64));

}  // namespace
}  // namespace exactk::tests
