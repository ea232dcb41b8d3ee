#include "oracle/topk.h"

#include <gtest/gtest.h>

#include "tests/oracle/topk_test_support.h"

namespace exactk::oracle {
namespace {

using Columns = std::vector<int32_t>;

TEST(TopkReference, ListsTheBestColumnsInAscendingOrder) {
  EXPECT_EQ((Columns{1, 3}), topk_reference(bits_of(std::vector<float>{1, 4, 2, 5, 3}), 2));
}

TEST(TopkReference, GivesTiesToTheSmallestColumn) {
  EXPECT_EQ((Columns{0, 1, 4}), topk_reference(bits_of(std::vector<float>{2, 2, 2, 2, 9}), 3));
}

TEST(TopkReference, SelectsEverythingAndThenTheSentinelForAShortRow) {
  const auto logits = bits_of(std::vector<float>{1, -2});
  EXPECT_EQ((Columns{0, 1}), topk_reference(logits, 2));
  EXPECT_EQ((Columns{0, 1, -1, -1}), topk_reference(logits, 4));
}

TEST(TopkReference, IsAllSentinelForAnEmptyRow) {
  EXPECT_EQ((Columns{-1, -1, -1}), topk_reference({}, 3));
}

TEST(TopkReference, IsEmptyForKOfZero) {
  EXPECT_EQ(Columns{}, topk_reference(bits_of(std::vector<float>{1, 2}), 0));
  EXPECT_EQ(Columns{}, topk_reference({}, 0));
}

TEST(TopkReference, PrefersPositiveZeroAndDenormalsByTheirBits) {
  EXPECT_EQ((Columns{1}), topk_reference(std::vector<uint32_t>{kNegZero, kPosZero}, 1));
  EXPECT_EQ((Columns{1}), topk_reference(std::vector<uint32_t>{0u, 1u}, 1));
  EXPECT_EQ((Columns{0}), topk_reference(std::vector<uint32_t>{kNegZero, 0x80000001u}, 1));
}

TEST(TopkReference, PutsNaNAtTheEndThatItsSignSays) {
  const std::vector<uint32_t> logits{kPosInf, kPosNaN, kNegNaN, kNegInf};
  EXPECT_EQ((Columns{1}), topk_reference(logits, 1));
  EXPECT_EQ((Columns{0, 1, 3}), topk_reference(logits, 3));
}

TEST(TopkCut, CountsAboveTiesAndOverhang) {
  const TopkCut cut = topk_cut(bits_of(std::vector<float>{7, 3, 3, 9, 3, 1}), 3);
  EXPECT_EQ(3, cut.selected);
  EXPECT_EQ(bits_of(3.0f), cut.kth_bits);
  EXPECT_EQ(2, cut.above);
  EXPECT_EQ(3, cut.ties);
  EXPECT_EQ(2, cut.overhang);
}

TEST(TopkCut, HasNoOverhangWhenEverythingIsSelected) {
  const TopkCut cut = topk_cut(bits_of(std::vector<float>{2, 1, 1}), 5);
  EXPECT_EQ(3, cut.selected);
  EXPECT_EQ(bits_of(1.0f), cut.kth_bits);
  EXPECT_EQ(1, cut.above);
  EXPECT_EQ(2, cut.ties);
  EXPECT_EQ(0, cut.overhang);
}

TEST(TopkCut, KeepsTheTwoZerosApart) {
  const TopkCut cut = topk_cut(std::vector<uint32_t>{kNegZero, kPosZero, kNegZero}, 1);
  EXPECT_EQ(kPosZero, cut.kth_bits);
  EXPECT_EQ(1, cut.ties);
  EXPECT_EQ(0, cut.overhang);
}

TEST(TopkCut, IsEmptyForAnEmptyRowAndForKOfZero) {
  EXPECT_EQ(0, topk_cut({}, 4).selected);
  const TopkCut none = topk_cut(bits_of(std::vector<float>{1, 2}), 0);
  EXPECT_EQ(0, none.selected);
  EXPECT_EQ(0, none.ties);
  EXPECT_EQ(0, none.overhang);
}

}  // namespace
}  // namespace exactk::oracle
