// Every planted fault fails at the case that is recorded for it, and its shipped kernel passes
// there. A fault of one wave width fails at that one alone.
#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/registry.h"
#include "props/isolated_runner.h"
#include "props/kernel_under_test.h"

namespace exactk::tests {
namespace {

// In a child process: one of the faults never returns.
props::Outcome run(std::string_view line, std::string_view kernel, int wave) {
  constexpr double kTimeoutS = 10;
  auto by_name = [](std::string_view name) -> kernels::Result<props::KernelUnderTest> {
    return props::select_kernels("host", name)->front();
  };
  props::IsolatedRunner runner("host", kTimeoutS, by_name);
  auto c = fixtures::parse_case(line);
  EXPECT_TRUE(c.has_value()) << c.error();
  auto kernels = props::select_kernels("host", kernel);
  EXPECT_EQ(1u, kernels->size());
  props::Job job{*c, kernels->front(), {}};
  job.options.wave_width = wave;
  return runner.run(job);
}

TEST(Mutants, FailAtTheirRecordedCaseWhereTheShippedKernelPasses) {
  ASSERT_GE(kernels::target_kernels("host")->mutants.size(), 48u);
  for (const kernels::Mutant& mutant : kernels::target_kernels("host")->mutants) {
    for (const int wave : {32, 64}) {
      const bool reached = mutant.wave_width == 0 || mutant.wave_width == wave;
      const props::Outcome faulty = run(mutant.reaching_case, mutant.kernel->name, wave);
      EXPECT_EQ(reached ? oracle::Verdict::kFailed : oracle::Verdict::kPassed, faulty.verdict)
          << mutant.kernel->name << ": " << faulty.reason;
      const props::Outcome shipped = run(mutant.reaching_case, mutant.base, wave);
      EXPECT_EQ(oracle::Verdict::kPassed, shipped.verdict) << shipped.report;
    }
  }
}

TEST(Mutants, AreNotReachedByAGlobForShippedKernels) {
  for (const char* glob : {"*", "topk.*", "?utant.*"}) {
    const auto kernels = props::select_kernels("host", glob);
    if (!kernels) continue;
    for (const props::KernelUnderTest& kernel : *kernels) EXPECT_FALSE(kernel.mutant) << glob;
  }
}

TEST(Mutants, SelectionTakesSeveralGlobsAndEachKernelOnce) {
  const auto kernels = props::select_kernels("host", "topk.k512,topk.k*,swa.rows");
  ASSERT_TRUE(kernels.has_value()) << kernels.error();
  std::vector<std::string_view> names;
  for (const props::KernelUnderTest& kernel : *kernels) names.push_back(kernel.name());
  EXPECT_EQ((std::vector<std::string_view>{"topk.k512", "topk.k1024", "swa.rows"}), names);
}

TEST(Mutants, SelectionRefusesAnUnknownKernel) {
  EXPECT_FALSE(props::select_kernels("host", "topk.unknown").has_value());
  EXPECT_FALSE(props::select_kernels("host", "topk.auto,topk.unknown").has_value());
  EXPECT_FALSE(props::select_kernels("host", "topk.auto,").has_value());
}

TEST(Mutants, SelectionRefusesADeviceKindThatIsNotBuilt) {
  const auto kernels = props::select_kernels("warp9", "topk.*");
  ASSERT_FALSE(kernels.has_value());
  EXPECT_NE(std::string::npos, kernels.error().find("'warp9'")) << kernels.error();
}

}  // namespace
}  // namespace exactk::tests
