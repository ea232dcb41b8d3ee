// The sliding window of one position, and the slots of a decode step's windows.
#include <gtest/gtest.h>

#include <limits>

#include "oracle/swa_window.h"
#include "tests/oracle/index_test_support.h"

namespace exactk::oracle {
namespace {

constexpr int64_t kMax = std::numeric_limits<int32_t>::max();

std::string text(const Window& window) {
  return std::to_string(window.begin) + " to " + std::to_string(window.end);
}

TEST(SwaWindow, EndsWithThePositionItself) {
  EXPECT_EQ("7 to 10", text(swa_window(9, 3, 0, 0)));
  EXPECT_EQ("9 to 10", text(swa_window(9, 1, 0, 0)));
}

TEST(SwaWindow, StartsNoEarlierThanTheSequence) {
  EXPECT_EQ("0 to 1", text(swa_window(0, 3, 0, 0)));
  EXPECT_EQ("0 to 3", text(swa_window(2, 3, 0, 0)));
  EXPECT_EQ("1 to 4", text(swa_window(3, 3, 0, 0)));
  EXPECT_EQ("0 to 10", text(swa_window(9, 96, 20, 0)));
}

TEST(SwaWindow, TheLeftOfAnImageCountsOnlyBeyondTheWindow) {
  EXPECT_EQ("7 to 10", text(swa_window(9, 3, 1, 0)));
  EXPECT_EQ("7 to 10", text(swa_window(9, 3, 2, 0)));
  EXPECT_EQ("6 to 10", text(swa_window(9, 3, 3, 0)));
  EXPECT_EQ("0 to 10", text(swa_window(9, 3, 9, 0)));
}

TEST(SwaWindow, TheRightOfAnImageIsAdded) {
  EXPECT_EQ("7 to 14", text(swa_window(9, 3, 0, 4)));
}

TEST(SwaWindow, IsEmptyAtANegativePosition) {
  EXPECT_EQ("0 to 0", text(swa_window(-1, 3, 0, 5)));
  EXPECT_EQ("0 to 0", text(swa_window(-kMax - 1, 128, 5, 5)));
}

TEST(SwaWindow, DoesNotOverflowAtTheLastPosition) {
  EXPECT_EQ("2147483520 to 2147483653", text(swa_window(kMax, 128, 0, 5)));
}

// By definition: in the window, or of the image to either side; for every small number.
TEST(SwaWindow, HoldsThePositionsThatAreSeen) {
  for (int64_t position = 0; position <= 9; ++position)
    for (int64_t window = 1; window <= 6; ++window)
      for (int64_t left = 0; left <= 6; ++left)
        for (int64_t right = 0; right <= 3; ++right) {
          const Window got = swa_window(position, window, left, right);
          for (int64_t p = -2; p <= 14; ++p) {
            const bool seen =
                p >= 0 && p <= position + right && (p > position - window || p >= position - left);
            ASSERT_EQ(seen, got.begin <= p && p < got.end)
                << "position " << position << " window " << window << " left " << left << " right "
                << right << " sees " << p;
          }
        }
}

struct SwaCase {
  SwaShape shape;
  std::vector<int32_t> positions;
  std::vector<int32_t> token_to_req;
  std::vector<uint8_t> token_valid;
  std::vector<int32_t> left_visible;
  std::vector<int32_t> right_visible;
  std::vector<int32_t> blocks;
  BlockTable table;  // without its blocks

  std::vector<ExpectedTensor> expected() const {
    BlockTable with_blocks = table;
    with_blocks.blocks = blocks;
    return expected_swa(shape, {positions, token_to_req, token_valid, left_visible, right_visible},
                        with_blocks);
  }
};

// A token of request 1 at position 5, with a window of 3; blocks of 4 slots.
SwaCase one_token() {
  SwaCase c;
  c.shape = {.tokens = 1, .window = 3, .columns = 5, .out_stride = 5};
  c.positions = {5};
  c.token_to_req = {1};
  c.token_valid = {1};
  c.blocks = {7, 2, 99, 3, 9, 99};
  c.table = {.blocks = {}, .requests = 2, .columns = 2, .stride = 3, .block_size = 4};
  return c;
}

void expect_row(const SwaCase& c, const std::string& slots, const std::string& lens) {
  const std::vector<ExpectedTensor> got = c.expected();
  ASSERT_EQ(2u, got.size());
  EXPECT_EQ("slots", got[0].name);
  EXPECT_EQ("lens", got[1].name);
  EXPECT_EQ(slots, describe(got[0]));
  EXPECT_EQ(lens, describe(got[1]));
}

TEST(Swa, ListsTheSlotsOfTheWindowAndFillsTheRestWithSentinels) {
  expect_row(one_token(), "15 36 37 -1 -1", "3");
}

TEST(Swa, AnInvalidTokenHasARowOfSentinels) {
  SwaCase c = one_token();
  c.token_valid = {0};
  expect_row(c, "-1 -1 -1 -1 -1", "0");
}

TEST(Swa, ANegativePositionHasARowOfSentinels) {
  SwaCase c = one_token();
  c.positions = {-1};
  c.left_visible = {0};
  c.right_visible = {4};
  expect_row(c, "-1 -1 -1 -1 -1", "0");
}

TEST(Swa, AFirstPositionSeesItself) {
  SwaCase c = one_token();
  c.positions = {0};
  expect_row(c, "12 -1 -1 -1 -1", "1");
}

TEST(Swa, WidensTheWindowByTheImage) {
  SwaCase c = one_token();
  c.left_visible = {3};
  c.right_visible = {1};
  expect_row(c, "14 15 36 37 38", "5");
}

TEST(Swa, ReportsTheWholeLengthOfAWindowThatIsWiderThanTheRow) {
  SwaCase c = one_token();
  c.shape.columns = 2;
  c.shape.out_stride = 2;
  expect_row(c, "15 36", "3");
}

TEST(Swa, APositionOutsideTheTableGivesASentinelInItsPlaceAndCounts) {
  SwaCase c = one_token();
  c.positions = {8};
  expect_row(c, "38 39 -1 -1 -1", "3");
  c.positions = {6};
  c.right_visible = {2};
  expect_row(c, "36 37 38 39 -1", "5");
}

TEST(Swa, ATokenOfNoRequestKeepsItsLength) {
  for (const int32_t request : {-1, 2}) {
    SwaCase c = one_token();
    c.token_to_req = {request};
    expect_row(c, "-1 -1 -1 -1 -1", "3");
  }
}

TEST(Swa, LeavesGapsUntouched) {
  SwaCase c = one_token();
  c.shape = {.tokens = 2, .window = 2, .columns = 3, .out_stride = 5};
  c.positions = {5, 1};
  c.token_to_req = {1, 0};
  c.token_valid = {1, 1};
  expect_row(c, "36 37 -1 . . 28 29 -1", "2 2");
}

}  // namespace
}  // namespace exactk::oracle
