#include "props/report.h"

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "props/runner.h"
#include "props/topk_report.h"
#include "tests/props/fake_kernel.h"

namespace exactk::tests {
namespace {

TEST(Report, ShowsValueAndBitsOfALogit) {
  EXPECT_EQ("1.5 (0x3fc00000)", props::logit_text(0x3fc00000u));
  EXPECT_EQ("-inf (0xff800000)", props::logit_text(0xff800000u));
  EXPECT_EQ("-0 (0x80000000)", props::logit_text(0x80000000u));
}

TEST(Report, NamesOnlyTheStrongestContractModes) {
  EXPECT_EQ("set", props::modes_text(oracle::kSet));
  EXPECT_EQ("prefix", props::modes_text(oracle::kSet | oracle::kPrefix));
  EXPECT_EQ("stable, repeatable", props::modes_text(oracle::kSet | oracle::kPrefix |
                                                    oracle::kStable | oracle::kRepeatable));
}

TEST(Report, ReplaysOnTheSameDeviceOfSeveral) {
  props::Outcome outcome;
  outcome.kernel = "topk.fake";
  outcome.device.kind = "cuda";
  outcome.device.index = 1;
  EXPECT_EQ("exactk replay 'topk.decode' --kernel topk.fake --device cuda:1",
            props::replay_line(outcome));
}

TEST(Report, ReplaysAKernelOfAPluginWithThePluginAsAShellTakesIt) {
  props::Outcome outcome;
  outcome.kernel = "topk.mine";
  outcome.plugin = "./mine.so";
  outcome.device.kind = "hip";
  EXPECT_EQ("exactk replay 'topk.decode' --kernel topk.mine --plugin ./mine.so --device hip",
            props::replay_line(outcome));
  outcome.plugin = "it's mine.so";
  EXPECT_EQ(
      "exactk replay 'topk.decode' --kernel topk.mine --plugin 'it'\\''s mine.so' --device hip",
      props::replay_line(outcome));
}

TEST(Report, HasEveryPartOfAFailure) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (row == 3) slots[11] = 12;
  });
  auto device = kernels::open_device("host");
  ASSERT_TRUE(device.has_value());
  props::Runner runner(**device);
  // Row 3 is of request 0 and has 13 - 6 + 3 + 1 = 11 columns: slots 0 .. 10 are 0 .. 10, slot 11
  // must be -1.
  const auto c =
      fixtures::parse_case("topk.decode rows=12 next_n=6 width=64 k=12 lens=const:13 seed=81");
  const std::string text =
      props::report_text(runner.run(*c, fake.under_test(), props::RunnerOptions{}));
  for (const char* part :
       {"FAILED  topk.fake  host wave=64  contract prefix\n",
        "case    topk.decode rows=12 next_n=6 width=64 k=12 lens=const:13 seed=81\n",
        "row 3   request 0, draft 3: length 11, k 12 -> 11 selected, 1 sentinel expected\n",
        "  pos 10     ok   index 10", "  pos 11     BAD  index 12",
        "want sentinel -1 (sentinel missing)\n", "broke   contract set\n", "why     1 of 12 rows",
        "replay  exactk replay 'topk.decode rows=12 next_n=6 width=64 k=12 lens=const:13 seed=81' "
        "--kernel topk.fake "
        "--device host --wave 64\n",
        "built   commit "}) {
    EXPECT_NE(std::string::npos, text.find(part)) << "missing: " << part << "\nin:\n" << text;
  }
}

}  // namespace
}  // namespace exactk::tests
