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

// The last values up to `most` after which the dispatch is another, by looking at each.
template <class Vary>
Edges scan_dispatch(TopkMethod method, const TopkShape& shape, int64_t most, Vary vary) {
  Edges edges;
  for (int64_t value = 1; value <= most; ++value) {
    if (topk_dispatch(method, vary(shape, value)) != topk_dispatch(method, vary(shape, value + 1)))
      edges.push_back(value);
  }
  return edges;
}

TEST(RowEdges, AreThePublishedOnes) {
  EXPECT_EQ((Edges{32, 128, 160, 256, 384}),
            row_edges(TopkMethod::kAuto, shape_of(1, 262145, 512)));
  EXPECT_EQ((Edges{384}), row_edges(TopkMethod::kAuto, shape_of(1, 4096, 512)));
  EXPECT_EQ((Edges{32, 64, 256}), row_edges(TopkMethod::kAuto, shape_of(1, 200000, 1024)));
  EXPECT_EQ((Edges{12288}), row_edges(TopkMethod::kPrefill, shape_of(1, 4096, 512)));
}

TEST(RowEdges, AndWidthEdgesAreWhatAScanFinds) {
  const auto with_rows = [](TopkShape s, int64_t rows) {
    s.rows = rows;
    return s;
  };
  const auto with_width = [](TopkShape s, int64_t width) {
    s.width = width;
    return s;
  };
  for (const TopkMethod method : {TopkMethod::kAuto, TopkMethod::kGated, TopkMethod::kPrefill}) {
    for (const int64_t k : {16, 512, 1024}) {
      for (const int64_t ratio : {1, 4}) {
        for (const int64_t size : {100, 300, 1100, 5000}) {
          TopkShape shape = shape_of(size, size, k);
          shape.compress_ratio = ratio;
          shape.full_graph = true;
          shape.tuning = {.radix_width = 1000,
                          .split_width = 3000,
                          .split_blocks = 10,
                          .policy_shift = 8,
                          .min_chunk = 512,
                          .radix_rows = 50};
          ASSERT_EQ(scan_dispatch(method, shape, 1000, with_rows), row_edges(method, shape))
              << k << " " << ratio << " " << size;
          for (const int64_t rows : {1, 33, 129, 257, 385}) {
            shape.rows = rows;
            ASSERT_EQ(scan_dispatch(method, shape, 6000, with_width), width_edges(method, shape))
                << rows << " " << k << " " << ratio;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace exactk::oracle
