#include "oracle/row_length.h"

#include <gtest/gtest.h>

#include <limits>

namespace exactk::oracle {
namespace {

using Lengths = std::vector<int64_t>;

TEST(RowLength, OneDimensionCountsDownFromTheLastDraft) {
  const std::vector<int32_t> seq_lens{10, 7};
  EXPECT_EQ((Lengths{8, 9, 10, 5, 6, 7}),
            row_lengths({.rows = 6, .next_n = 3, .seq_lens_dim = 1}, seq_lens));
}

TEST(RowLength, OneDimensionIsClampedAtZero) {
  const std::vector<int32_t> seq_lens{0, 1, 2, -5};
  EXPECT_EQ((Lengths{0, 0, 0, 0, 0, 1, 0, 1, 2, 0, 0, 0}),
            row_lengths({.rows = 12, .next_n = 3, .seq_lens_dim = 1}, seq_lens));
}

TEST(RowLength, OneRowPerRequestIsTheSequenceLength) {
  const std::vector<int32_t> seq_lens{0, 1, 512};
  EXPECT_EQ((Lengths{0, 1, 512}),
            row_lengths({.rows = 3, .next_n = 1, .seq_lens_dim = 1}, seq_lens));
}

TEST(RowLength, TwoDimensionsAreReadFlatWhateverNextN) {
  const std::vector<int32_t> seq_lens{5, -3, 0, 9};
  EXPECT_EQ((Lengths{5, 0, 0, 9}),
            row_lengths({.rows = 4, .next_n = 2, .seq_lens_dim = 2}, seq_lens));
}

TEST(RowLength, TheLastRequestMayHaveFewerRows) {
  const std::vector<int32_t> seq_lens{4, 8};
  EXPECT_EQ((Lengths{2, 3, 4, 6}),
            row_lengths({.rows = 4, .next_n = 3, .seq_lens_dim = 1}, seq_lens));
}

TEST(RowLength, TheSmallestIntegerDoesNotOverflow) {
  const std::vector<int32_t> seq_lens{std::numeric_limits<int32_t>::min()};
  EXPECT_EQ((Lengths{0, 0}), row_lengths({.rows = 2, .next_n = 2, .seq_lens_dim = 1}, seq_lens));
  EXPECT_EQ((Lengths{0}), row_lengths({.rows = 1, .next_n = 1, .seq_lens_dim = 2}, seq_lens));
}

TEST(RowLength, NoRowsHaveNoLengths) {
  EXPECT_EQ(Lengths{}, row_lengths({.rows = 0, .next_n = 4, .seq_lens_dim = 1}, {}));
}

TEST(RowLength, SingleRowsAgreeWithAllRows) {
  const std::vector<int32_t> seq_lens{3, 0, 11};
  const RowLengthSpec spec{.rows = 12, .next_n = 4, .seq_lens_dim = 1};
  const Lengths all = row_lengths(spec, seq_lens);
  for (int64_t row = 0; row < spec.rows; ++row) {
    EXPECT_EQ(all[static_cast<size_t>(row)], row_length(spec, seq_lens, row)) << row;
  }
}

TEST(BoundedLength, CountsTheColumnsFromTheStartToTheEnd) {
  EXPECT_EQ(0, bounded_length(5, 5));
  EXPECT_EQ(1, bounded_length(5, 6));
  EXPECT_EQ(7, bounded_length(0, 7));
}

TEST(BoundedLength, IsZeroWhereTheEndIsBelowTheStart) {
  EXPECT_EQ(0, bounded_length(5, 4));
  EXPECT_EQ(0, bounded_length(2147483647, -2147483647 - 1));
}

}  // namespace
}  // namespace exactk::oracle
