// One sentence per kind of fault, from the evidence alone.
#include <gtest/gtest.h>

#include <numeric>

#include "kernels/device/device.h"
#include "props/runner.h"
#include "tests/props/fake_kernel.h"

namespace exactk::tests {
namespace {

std::string diagnosis(const std::string& line, const RowBody& body) {
  const FakeKernel fake(body);
  auto device = kernels::open_device("host");
  EXPECT_TRUE(device.has_value());
  props::Runner runner(**device);
  auto c = fixtures::parse_case(line);
  EXPECT_TRUE(c.has_value()) << c.error();
  const props::Outcome outcome = runner.run(*c, fake.under_test(), props::RunnerOptions{});
  EXPECT_EQ(oracle::Verdict::kFailed, outcome.verdict);
  return outcome.diagnosis;
}

TEST(Diagnosis, NamesAFrozenHostDecision) {
  // Sees only as many columns as the longest row of the first launch had.
  int64_t known = 0;
  const std::string text = diagnosis(
      "topk.decode rows=2 width=300 k=8 lens=const:40 replays=1 replay_lens=list:300 "
      "pattern=ascending",
      [&known](const auto& d, int64_t row, auto logits, auto slots) {
        if (known == 0) known = d.max_seq_len_hint;
        right_row(d, row, logits.first(std::min<size_t>(logits.size(), static_cast<size_t>(known))),
                  slots);
      });
  EXPECT_NE(std::string::npos,
            text.find("all of them longer than the longest row in the first launch (40)"))
      << text;
  EXPECT_NE(std::string::npos, text.find("a host decision is frozen")) << text;
}

TEST(Diagnosis, NamesLostMaskedColumns) {
  // Only finite logits are selected; the slots that masked columns should fill hold -1.
  const std::string text =
      diagnosis("topk.decode rows=3 width=100 k=16 lens=const:100 pattern=few_finite:5",
                [](const auto& d, int64_t row, auto logits, auto slots) {
                  right_row(d, row, logits, slots);
                  std::vector<int32_t> kept;
                  for (const int32_t index : slots) {
                    if (index >= 0 && logits[static_cast<size_t>(index)] != 0xff800000u)
                      kept.push_back(index);
                  }
                  std::fill(slots.begin(), slots.end(), -1);
                  std::copy(kept.begin(), kept.end(), slots.begin());
                });
  EXPECT_EQ(
      "3 of 3 rows, all of them with fewer than k logits above -inf (the cut falls among the "
      "-inf); "
      "-1 stands in 33 slots that must hold a column, and only masked (-inf) columns are lost: "
      "padding beats -inf",
      text);
}

TEST(Diagnosis, NamesTheFirstRowWhenOnlyLaterRowsFail) {
  const std::string text = diagnosis("topk.decode rows=8 width=100 k=4 lens=const:100",
                                     [](const auto& d, int64_t row, auto logits, auto slots) {
                                       right_row(d, row, logits, slots);
                                       if (row >= 5) slots[1] = slots[0];
                                     });
  EXPECT_EQ("3 of 8 rows; only rows with number >= 5; columns are selected twice", text);
}

}  // namespace
}  // namespace exactk::tests
