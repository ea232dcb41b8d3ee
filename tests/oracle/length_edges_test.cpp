#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oracle/dispatch_policy.h"

namespace exactk::oracle {
namespace {

using Edges = std::vector<int64_t>;

TopkShape shape_of(int64_t rows, int64_t width, int64_t k) {
  return {.rows = rows, .width = width, .k = k, .column_stride = 1, .arch = "gfx950", .tuning = {}};
}

// The edges by their definition: look at every length.
Edges scan(const TopkShape& shape) {
  const TopkDispatch dispatch = topk_dispatch(TopkMethod::kAuto, shape);
  std::set<int64_t> edges{std::min(shape.k, shape.width)};
  for (int64_t length = 0; length < shape.width; ++length) {
    if (active_blocks(dispatch, shape, length) != active_blocks(dispatch, shape, length + 1)) {
      edges.insert(length);
    }
  }
  return {edges.begin(), edges.end()};
}

TEST(LengthEdges, ListsThePublishedLengthsOfK512) {
  EXPECT_EQ((Edges{512, 16384, 131072, 262144}), length_edges(shape_of(24, 1048576, 512)));
  EXPECT_EQ((Edges{512, 65536, 524288}), length_edges(shape_of(128, 1048576, 512)));
  EXPECT_EQ((Edges{512, 262144}), length_edges(shape_of(160, 1048576, 512)));
  EXPECT_EQ((Edges{512, 262144}), length_edges(shape_of(256, 1048576, 512)));
  EXPECT_EQ((Edges{512}), length_edges(shape_of(257, 1048576, 512)));
}

TEST(LengthEdges, ListsTheLengthBeforeThePublishedOneOfK1024) {
  EXPECT_EQ((Edges{1024}), length_edges(shape_of(64, 262144, 1024)));
  EXPECT_EQ((Edges{1024, 65535}), length_edges(shape_of(65, 262144, 1024)));
}

TEST(LengthEdges, StopsBelowTheWidth) {
  EXPECT_EQ((Edges{512, 16384, 131072}), length_edges(shape_of(24, 262144, 512)));
  EXPECT_EQ((Edges{512, 16384, 131072, 262144}), length_edges(shape_of(24, 262145, 512)));
}

TEST(LengthEdges, ClipsKToTheWidth) {
  EXPECT_EQ((Edges{100}), length_edges(shape_of(24, 100, 512)));
  EXPECT_EQ((Edges{2048}), length_edges(shape_of(24, 250000, 2048)));
}

TEST(LengthEdges, FindWhatAScanOfEveryLengthFinds) {
  for (const int64_t rows : {1, 32, 33, 64, 65, 128, 129, 160, 161, 256, 257, 384, 385}) {
    for (const int64_t k : {16, 512, 1024}) {
      for (const int32_t shift : {4, 8, 11}) {
        for (const int64_t min_chunk : {1, 7, 512}) {
          for (const int64_t width : {1, 511, 3000, 40000}) {
            TopkShape shape = shape_of(rows, width, k);
            shape.tuning = {.radix_width = 1000,
                            .split_width = 3000,
                            .split_blocks = 10,
                            .policy_shift = shift,
                            .min_chunk = min_chunk};
            ASSERT_EQ(scan(shape), length_edges(shape))
                << rows << " " << k << " " << shift << " " << min_chunk << " " << width;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace exactk::oracle
