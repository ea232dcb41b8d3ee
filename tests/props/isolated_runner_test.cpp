// A kernel that crashes, exits or hangs decides its own run and no other.
#include "props/isolated_runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "fixtures/case.h"
#include "tests/props/fake_kernel.h"

namespace exactk::tests {
namespace {

constexpr double kLongS = 60;

props::Job job(const FakeKernel& fake) {
  const auto c = fixtures::parse_case("topk.decode rows=4 width=64 k=8 lens=const:64");
  return {*c, fake.under_test(), {}};
}

TEST(IsolatedRunner, GivesTheSameOutcomeAsARunInTheProcess) {
  const FakeKernel fake(right_row);
  props::IsolatedRunner isolated("host", kLongS,
                                 [&](std::string_view) { return fake.under_test(); });
  const props::Outcome there = isolated.run(job(fake));
  auto device = kernels::open_device("host");
  props::Runner runner(**device);
  const props::Outcome here = runner.run(job(fake).value, fake.under_test(), {});
  EXPECT_EQ(oracle::Verdict::kPassed, there.verdict);
  EXPECT_EQ(here.launches, there.launches);
  EXPECT_EQ(here.rows_judged, there.rows_judged);
  EXPECT_EQ(here.value, there.value);
  EXPECT_EQ(here.device.wave_width, there.device.wave_width);
}

TEST(IsolatedRunner, CarriesTheAnatomyOfAFailure) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    slots[1] = slots[0];
  });
  props::IsolatedRunner isolated("host", kLongS,
                                 [&](std::string_view) { return fake.under_test(); });
  const props::Outcome outcome = isolated.run(job(fake));
  EXPECT_EQ(oracle::Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.report.find("(duplicate)")) << outcome.report;
}

// The kernel ends in the way of `end` at one case, and is right at every other.
void expect_failure_then_pass(const std::function<void()>& end, double timeout_s,
                              const char* reason) {
  const FakeKernel fake([&end](const auto& d, int64_t row, auto logits, auto slots) {
    if (logits[0] == 0x3fc00000u) end();
    right_row(d, row, logits, slots);
  });
  props::IsolatedRunner isolated("host", timeout_s,
                                 [&](std::string_view) { return fake.under_test(); });
  EXPECT_EQ(oracle::Verdict::kPassed, isolated.run(job(fake)).verdict);
  props::Job bad = job(fake);
  bad.value.override_count = 1;
  bad.value.overrides[0] = {0, 0, 0x3fc00000u};
  const props::Outcome outcome = isolated.run(bad);
  EXPECT_EQ(oracle::Verdict::kFailed, outcome.verdict);
  EXPECT_NE(std::string::npos, outcome.reason.find(reason)) << outcome.reason;
  EXPECT_NE(std::string::npos, outcome.report.find("replay  exactk replay")) << outcome.report;
  EXPECT_EQ(oracle::Verdict::kPassed, isolated.run(job(fake)).verdict);
}

TEST(IsolatedRunner, FailsTheCaseOfAKernelThatEndsBySignalAndGoesOn) {
  expect_failure_then_pass([] { std::raise(SIGKILL); }, kLongS, "signal 9");
}

TEST(IsolatedRunner, FailsTheCaseOfAKernelThatExitsWithSuccessAndGoesOn) {
  expect_failure_then_pass([] { _exit(0); }, kLongS, "exit code 0");
}

TEST(IsolatedRunner, FailsTheCaseOfAKernelThatNeverReturnsAndGoesOn) {
  expect_failure_then_pass(
      [] {
        for (;;) pause();
      },
      1.5, "no answer for 1.5 seconds");
}

TEST(IsolatedRunner, SaysWhyADeviceCannotBeOpened) {
  const FakeKernel fake(right_row);
  props::IsolatedRunner isolated("warp9", kLongS,
                                 [&](std::string_view) { return fake.under_test(); });
  const auto started = isolated.start();
  ASSERT_FALSE(started.has_value());
  EXPECT_NE(std::string::npos, started.error().find("warp9")) << started.error();
}

}  // namespace
}  // namespace exactk::tests
