// Plugins as the judging process knows them, and what becomes of one that changes its mind.
#include "props/plugins.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "props/declared.h"
#include "props/internal_error.h"
#include "props/isolated_runner.h"
#include "tests/props/fake_kernel.h"

namespace exactk::tests {
namespace {

constexpr double kLongS = 60;

kernels::Plugin plugin_of(const exactk_kernel& kernel) {
  kernels::Plugin plugin{"./a b.so", "mine", "2", {}, {{"./a b.so", "x.later", "not known"}}};
  plugin.kernels.push_back(
      std::make_unique<const kernels::PluginKernel>(kernel, "x.topk", "topk.decode", "a \"b\"\n"));
  return plugin;
}

TEST(Plugins, ComeOverToAnotherProcessByNameOnly) {
  const FakeKernel fake(right_row, EXACTK_MODE_SET | EXACTK_MODE_STABLE);
  const std::string text = props::plugin_to_json(plugin_of(fake.kernel));
  props::Plugins there;
  there.loaded.push_back(props::plugin_from_json(text));
  EXPECT_EQ(text, props::plugin_to_json(there.loaded[0]));
  const std::vector<props::KernelUnderTest> kernels = there.kernels();
  ASSERT_EQ(1u, kernels.size());
  const exactk_kernel& kernel = *kernels[0].kernel;
  EXPECT_EQ("x.topk", kernels[0].name());
  EXPECT_EQ("./a b.so", kernels[0].plugin);
  EXPECT_EQ(fake.kernel.modes, kernel.modes);
  EXPECT_FALSE(kernels[0].method.has_value());
  EXPECT_FALSE(kernels[0].mutant);
  ASSERT_EQ(1u, there.loaded[0].refused.size());
  EXPECT_EQ("x.later", there.loaded[0].refused[0].kernel);
  EXPECT_THROW(kernel.supports(nullptr, nullptr, 0), props::InternalError);
  EXPECT_THROW(kernel.workspace_bytes(nullptr), props::InternalError);
  EXPECT_THROW(kernel.launch(nullptr, nullptr, 0), props::InternalError);
  EXPECT_THROW(props::plugin_from_json("{}"), props::InternalError);
}

TEST(Plugins, AreEachLoadedOnce) {
  EXPECT_EQ((std::vector<std::string>{"b", "a"}), props::each_once({"b", "a", "b", "a"}));
}

TEST(Limits, AreExceededByOneMoreThanTheyAllow) {
  const fixtures::Case c =
      *fixtures::parse_case("topk.decode rows=12 next_n=3 width=100 k=20 column_stride=2");
  const auto beyond = [&](const exactk_limits& limits) { return props::beyond_limits(limits, c); };
  EXPECT_EQ("", beyond({0, 0, 0, 0, 0}));
  EXPECT_EQ("", beyond({20, 100, 12, 3, 2}));
  EXPECT_EQ("takes k up to 19; got 20", beyond({19, 100, 12, 3, 2}));
  EXPECT_EQ("takes a width up to 99; got 100", beyond({20, 99, 12, 3, 2}));
  EXPECT_EQ("takes rows up to 11; got 12", beyond({20, 100, 11, 3, 2}));
  EXPECT_EQ("takes next_n up to 2; got 3", beyond({20, 100, 12, 2, 2}));
  EXPECT_EQ("takes a column stride up to 1; got 2", beyond({20, 100, 12, 3, 1}));
}

TEST(Limits, OfIndexOperationsAreOfKAlone) {
  const fixtures::Case c = *fixtures::parse_case("index.translate requests=2 k=20");
  EXPECT_EQ("takes k up to 19; got 20", props::beyond_limits({19, 1, 1, 1, 1}, c));
  EXPECT_EQ("", props::beyond_limits({20, 1, 1, 1, 1}, c));
  EXPECT_EQ("", props::beyond_limits({1, 1, 1, 1, 1}, *fixtures::parse_case("index.swa")));
}

TEST(Limits, OfAChainAreThoseOfItsTopk) {
  const fixtures::Case c =
      *fixtures::parse_case("chain.prefill requests=2 query_lens=const:3 context=64 ratio=4 k=8");
  EXPECT_EQ("takes rows up to 5; got 6", props::beyond_limits({0, 0, 5, 0, 0}, c));
}

class ReloadedPlugin : public testing::Test {
 protected:
  void SetUp() override { (void)unsetenv("EXACTK_TEST_FAULT"); }
  void TearDown() override { (void)unsetenv("EXACTK_TEST_FAULT"); }

  // The child is ended, and the plugin meets `fault` in the next one.
  props::Outcome after_a_crash(const char* fault) {
    const FakeKernel crash([](const auto&, int64_t, auto, auto) { (void)std::raise(SIGKILL); });
    const fixtures::Case c = *fixtures::parse_case("topk.decode rows=2 width=64 k=8");
    props::IsolatedRunner runner("host", kLongS,
                                 [&](std::string_view) { return crash.under_test(); },
                                 {EXACTK_TEST_BAD_LOAD});
    EXPECT_TRUE(runner.start().has_value());
    EXPECT_EQ(2u, runner.plugins().kernels().size());
    const props::Job job{c, runner.plugins().kernels().front(), {}};
    EXPECT_EQ(oracle::Verdict::kPassed, runner.run(job).verdict);
    EXPECT_EQ(oracle::Verdict::kFailed, runner.run({c, crash.under_test(), {}}).verdict);
    if (fault != nullptr) (void)setenv("EXACTK_TEST_FAULT", fault, 1);
    return runner.run(job);
  }
};

TEST_F(ReloadedPlugin, IsJudgedByTheNextChild) {
  EXPECT_EQ(oracle::Verdict::kPassed, after_a_crash(nullptr).verdict);
}

TEST_F(ReloadedPlugin, FailsItsKernelsWhenItCrashes) {
  const props::Outcome outcome = after_a_crash("entry_crashes");
  EXPECT_EQ(oracle::Verdict::kFailed, outcome.verdict);
  EXPECT_EQ(
      "its plugin could not be loaded again: its process ended by signal 11 (Segmentation fault) "
      "while it was loaded",
      outcome.reason);
  EXPECT_NE(std::string::npos, outcome.report.find("--plugin " EXACTK_TEST_BAD_LOAD));
}

TEST_F(ReloadedPlugin, FailsItsKernelsWhenItBringsOthers) {
  const props::Outcome outcome = after_a_crash("op_unknown");
  EXPECT_EQ(oracle::Verdict::kFailed, outcome.verdict);
  EXPECT_EQ(
      "its plugin could not be loaded again: it brought other kernels when it was loaded again",
      outcome.reason);
}

}  // namespace
}  // namespace exactk::tests
