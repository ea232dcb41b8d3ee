#include <exactk/exactk_abi.h>
#include <gtest/gtest.h>

// Every installed header compiles in a project that has nothing but the package.
#include <exactk/oracle/block_table.h>
#include <exactk/oracle/combine_indices.h>
#include <exactk/oracle/expected.h>
#include <exactk/oracle/judge.h>
#include <exactk/oracle/logit_order.h>
#include <exactk/oracle/row_length.h>
#include <exactk/oracle/swa_window.h>
#include <exactk/oracle/topk.h>
#include <exactk/oracle/topk_contract.h>
#include <exactk/oracle/verdict.h>

#include <vector>

extern "C" const exactk_kernel outside_greedy;

namespace {

using exactk::oracle::Verdict;

constexpr int64_t kRows = 2;
constexpr int64_t kWidth = 6;
constexpr int64_t kSlots = 4;

class Greedy : public testing::Test {
 protected:
  void launch() {
    exactk_topk_decode d = {};
    d.struct_size = sizeof(d);
    d.seq_lens_dim = 2;
    d.logits = logits_.data();
    d.seq_lens = lengths_.data();
    d.indices = indices_.data();
    d.rows = kRows;
    d.width = kWidth;
    d.k = kSlots;
    d.row_stride_elems = kWidth;
    d.column_stride_elems = 1;
    d.out_stride_elems = kSlots;
    char message[200] = "";
    ASSERT_EQ(EXACTK_OK, outside_greedy.launch(&d, message, sizeof(message))) << message;
  }

  exactk::oracle::AnswerJudgement judge(const float* logits, const int32_t* indices) const {
    return exactk::oracle::judge_topk_decode({logits, kRows, kWidth, kWidth, 1}, {lengths_, 1, 2},
                                             {indices, kSlots, kSlots, nullptr},
                                             outside_greedy.modes);
  }

  std::vector<float> logits_ = {0, 5, 1, 4, 3, 2, 9, 0, 8, 100, 100, 100};
  std::vector<int32_t> lengths_ = {6, 3};
  std::vector<int32_t> indices_ = std::vector<int32_t>(kRows * kSlots, 7);
};

TEST_F(Greedy, IsRight) {
  launch();
  const auto judgement = judge(logits_.data(), indices_.data());
  EXPECT_TRUE(judgement.ok()) << judgement.text;
  EXPECT_EQ(kRows, judgement.rows);
}

TEST_F(Greedy, WouldBeCaughtIfItWereWrong) {
  launch();
  indices_[kSlots + 3] = 3;  // past the row's length
  const auto judgement = judge(logits_.data(), indices_.data());
  EXPECT_EQ(Verdict::kFailed, judgement.verdict);
  EXPECT_EQ(
      "1 of 2 rows break contract set, prefix, ordered: sentinel missing. Row 1 (length 3, k 4): "
      "slot 3 holds 3, sentinel missing.",
      judgement.text);
}

}  // namespace
