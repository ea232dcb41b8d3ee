// The policy on both sides of every gate. The expected numbers are written out by hand from the
// contract.
#include "oracle/dispatch_policy.h"

#include <gtest/gtest.h>

namespace exactk::oracle {
namespace {

constexpr int64_t kKi = 1024;
constexpr int64_t kMi = 1024 * 1024;

TopkShape shape_of(int64_t rows, int64_t width, int64_t k, std::string_view arch = "gfx950") {
  return {.rows = rows, .width = width, .k = k, .column_stride = 1, .arch = arch, .tuning = {}};
}

TopkPath auto_path(const TopkShape& shape) {
  return topk_dispatch(TopkMethod::kAuto, shape).path;
}

TEST(DispatchPolicy, GenericPathFollowsTheWidth) {
  struct Line {
    int64_t width;
    TopkPath path;
    int32_t blocks;
  };
  for (const Line& line :
       {Line{0, TopkPath::kBlockInsertion, 1}, Line{12287, TopkPath::kBlockInsertion, 1},
        Line{12288, TopkPath::kBlockRadix, 1}, Line{199999, TopkPath::kBlockRadix, 1},
        Line{200000, TopkPath::kSplit, 10}, Line{200001, TopkPath::kSplit, 10}}) {
    for (const TopkMethod method : {TopkMethod::kSplitMerge, TopkMethod::kAuto}) {
      const TopkDispatch got = topk_dispatch(method, shape_of(8, line.width, 2048));
      EXPECT_TRUE(got.accepted);
      EXPECT_EQ(line.path, got.path) << line.width;
      EXPECT_EQ(line.blocks, got.max_blocks) << line.width;
    }
  }
}

TEST(DispatchPolicy, OneBlockNeverSplits) {
  EXPECT_EQ(TopkPath::kBlockInsertion,
            topk_dispatch(TopkMethod::kBlock, shape_of(8, 12287, 512)).path);
  EXPECT_EQ(TopkPath::kBlockRadix, topk_dispatch(TopkMethod::kBlock, shape_of(8, 12288, 512)).path);
  const TopkDispatch wide = topk_dispatch(TopkMethod::kBlock, shape_of(8, 2 * kMi, 512));
  EXPECT_EQ(TopkPath::kBlockRadix, wide.path);
  EXPECT_EQ(1, wide.max_blocks);
}

TEST(DispatchPolicy, EveryGenericBlockWorksAtEveryLength) {
  const TopkShape shape = shape_of(8, 200000, 2048);
  const TopkDispatch split = topk_dispatch(TopkMethod::kSplitMerge, shape);
  for (const int64_t length : {0, 1, 9, 10, 2048, 200000}) {
    EXPECT_EQ(10, active_blocks(split, shape, length)) << length;
  }
  const TopkDispatch block = topk_dispatch(TopkMethod::kBlock, shape);
  EXPECT_EQ(1, active_blocks(block, shape, 200000));
}

TEST(DispatchPolicy, StridedColumnsStayOnOneBlock) {
  TopkShape shape = shape_of(8, 500000, 512);
  shape.column_stride = 2;
  for (const int64_t k : {512, 1024, 2048}) {
    shape.k = k;
    EXPECT_EQ(TopkPath::kBlockRadix, auto_path(shape)) << k;
    const TopkDispatch generic = topk_dispatch(TopkMethod::kSplitMerge, shape);
    EXPECT_EQ(TopkPath::kBlockRadix, generic.path);
    EXPECT_EQ(1, generic.max_blocks);
  }
  EXPECT_FALSE(topk_dispatch(TopkMethod::kK512, shape).accepted);
  EXPECT_FALSE(topk_dispatch(TopkMethod::kK1024, shape).accepted);
}

TEST(DispatchPolicy, K512TakesOnlyItsShapes) {
  const auto accepted = [](const TopkShape& shape) {
    return topk_dispatch(TopkMethod::kK512, shape).accepted;
  };
  EXPECT_TRUE(accepted(shape_of(1, 1, 512)));
  EXPECT_TRUE(accepted(shape_of(384, kMi, 512)));
  EXPECT_FALSE(accepted(shape_of(385, kMi, 512)));
  EXPECT_FALSE(accepted(shape_of(0, kMi, 512)));
  EXPECT_FALSE(accepted(shape_of(384, kMi + 1, 512)));
  EXPECT_FALSE(accepted(shape_of(8, kMi, 511)));
  EXPECT_FALSE(accepted(shape_of(8, kMi, 513)));
  EXPECT_FALSE(accepted(shape_of(8, kMi, 512, "gfx942")));
  EXPECT_FALSE(accepted(shape_of(8, kMi, 512, "gfx95")));
  EXPECT_FALSE(accepted(shape_of(8, kMi, 512, "")));
  EXPECT_TRUE(accepted(shape_of(8, kMi, 512, "gfx950:sramecc+:xnack-")));
}

TEST(DispatchPolicy, TheWholePolicyFallsBackToTheGenericPathOutsideK512) {
  EXPECT_EQ(TopkPath::kK512, auto_path(shape_of(384, 262145, 512)));
  EXPECT_EQ(TopkPath::kSplit, auto_path(shape_of(385, 262145, 512)));
  EXPECT_EQ(TopkPath::kK512, auto_path(shape_of(8, kMi, 512)));
  EXPECT_EQ(TopkPath::kSplit, auto_path(shape_of(8, kMi + 1, 512)));
  EXPECT_EQ(TopkPath::kBlockInsertion, auto_path(shape_of(385, 12287, 512)));
  EXPECT_EQ(TopkPath::kK512, auto_path(shape_of(8, 100, 512)));
  EXPECT_EQ(TopkPath::kBlockInsertion, auto_path(shape_of(8, 100, 512, "gfx942")));
}

struct RowsBlocks {
  int64_t rows;
  int32_t blocks;
};

void expect_k512_reserve(int64_t width, std::initializer_list<RowsBlocks> lines) {
  for (const RowsBlocks& line : lines) {
    EXPECT_EQ(line.blocks,
              topk_dispatch(TopkMethod::kK512, shape_of(line.rows, width, 512)).max_blocks)
        << "rows " << line.rows << " width " << width;
  }
}

TEST(DispatchPolicy, K512ReservesOneBlockUpTo16Ki) {
  expect_k512_reserve(16 * kKi - 1, {{1, 1}, {32, 1}, {33, 1}, {384, 1}});
  expect_k512_reserve(16 * kKi, {{1, 1}, {8, 1}, {24, 1}, {32, 1}, {33, 1}, {384, 1}});
}

TEST(DispatchPolicy, K512ReservesForFewRowsAbove16Ki) {
  expect_k512_reserve(16 * kKi + 1, {{1, 16}, {8, 16}, {24, 16}, {32, 16}, {33, 1}, {128, 1}});
  expect_k512_reserve(64 * kKi, {{32, 16}, {33, 1}, {64, 1}, {128, 1}, {129, 1}});
}

TEST(DispatchPolicy, K512ReservesForUpTo128RowsAbove64Ki) {
  for (const int64_t width : {64 * kKi + 1, 128 * kKi, 128 * kKi + 1, 256 * kKi}) {
    expect_k512_reserve(width, {{1, 16},
                                {32, 16},
                                {33, 10},
                                {64, 10},
                                {65, 10},
                                {128, 10},
                                {129, 1},
                                {160, 1},
                                {256, 1},
                                {384, 1}});
  }
}

TEST(DispatchPolicy, K512ReservesForMoreRowsAbove256Ki) {
  for (const int64_t width : {256 * kKi + 1, 512 * kKi, 512 * kKi + 1, kMi - 1, kMi}) {
    expect_k512_reserve(width, {{1, 16},
                                {8, 16},
                                {24, 16},
                                {32, 16},
                                {33, 10},
                                {64, 10},
                                {65, 10},
                                {128, 10},
                                {129, 3},
                                {160, 3},
                                {161, 2},
                                {256, 2},
                                {257, 1},
                                {384, 1}});
  }
}

struct LengthBlocks {
  int64_t length;
  int32_t blocks;
};

void expect_active(const TopkShape& shape, std::initializer_list<LengthBlocks> lines) {
  const TopkDispatch dispatch = topk_dispatch(TopkMethod::kAuto, shape);
  for (const LengthBlocks& line : lines) {
    EXPECT_EQ(line.blocks, active_blocks(dispatch, shape, line.length))
        << "rows " << shape.rows << " width " << shape.width << " length " << line.length;
  }
}

TEST(DispatchPolicy, K512WorksWith8Then10Then16BlocksForUpTo32Rows) {
  for (const int64_t rows : {1, 8, 24, 32}) {
    expect_active(shape_of(rows, kMi, 512), {{0, 1},
                                             {511, 1},
                                             {512, 1},
                                             {513, 1},
                                             {16383, 1},
                                             {16384, 1},
                                             {16385, 8},
                                             {65536, 8},
                                             {131071, 8},
                                             {131072, 8},
                                             {131073, 10},
                                             {262143, 10},
                                             {262144, 10},
                                             {262145, 16},
                                             {524288, 16},
                                             {1048576, 16}});
  }
}

TEST(DispatchPolicy, K512WorksWith4Then10BlocksFor33To128Rows) {
  for (const int64_t rows : {33, 64, 65, 128}) {
    expect_active(shape_of(rows, kMi, 512), {{16385, 1},
                                             {65535, 1},
                                             {65536, 1},
                                             {65537, 4},
                                             {131073, 4},
                                             {262145, 4},
                                             {524287, 4},
                                             {524288, 4},
                                             {524289, 10},
                                             {1048575, 10},
                                             {1048576, 10}});
  }
}

TEST(DispatchPolicy, K512WorksWith3Or2BlocksForMoreRows) {
  for (const int64_t rows : {129, 160}) {
    expect_active(shape_of(rows, kMi, 512),
                  {{65537, 1}, {262143, 1}, {262144, 1}, {262145, 3}, {524289, 3}, {1048576, 3}});
  }
  for (const int64_t rows : {161, 256}) {
    expect_active(shape_of(rows, kMi, 512),
                  {{65537, 1}, {262143, 1}, {262144, 1}, {262145, 2}, {524289, 2}, {1048576, 2}});
  }
  for (const int64_t rows : {257, 384}) {
    expect_active(shape_of(rows, kMi, 512), {{65537, 1}, {262145, 1}, {1048576, 1}});
  }
}

TEST(DispatchPolicy, K512NeverWorksWithMoreBlocksThanWereReserved) {
  expect_active(shape_of(8, 16384, 512), {{16384, 1}});
  // A length above the width is the caller's fault; the scratch that was reserved still bounds it.
  expect_active(shape_of(8, 16384, 512), {{300000, 1}});
  expect_active(shape_of(64, 65536, 512), {{65537, 1}});
}

TEST(DispatchPolicy, K512ShiftDividesEveryWidthAndLengthButNotTheRows) {
  TopkShape shape = shape_of(32, 1024, 512);
  shape.tuning.policy_shift = 10;
  shape.tuning.min_chunk = 1;
  const auto with = [&](int64_t rows, int64_t width) {
    shape.rows = rows;
    shape.width = width;
    return topk_dispatch(TopkMethod::kK512, shape);
  };
  EXPECT_TRUE(with(384, 1024).accepted);
  EXPECT_FALSE(with(384, 1025).accepted);
  EXPECT_FALSE(with(385, 1024).accepted);
  EXPECT_EQ(1, with(32, 16).max_blocks);
  EXPECT_EQ(16, with(32, 17).max_blocks);
  EXPECT_EQ(1, with(128, 64).max_blocks);
  EXPECT_EQ(10, with(128, 65).max_blocks);
  EXPECT_EQ(1, with(160, 256).max_blocks);
  EXPECT_EQ(3, with(160, 257).max_blocks);
  EXPECT_EQ(2, with(256, 257).max_blocks);
  shape.rows = 32;
  expect_active(shape, {{16, 1}, {17, 8}, {128, 8}, {129, 10}, {256, 10}, {257, 16}});
  shape.width = 1024;
  shape.rows = 128;
  expect_active(shape, {{64, 1}, {65, 4}, {512, 4}, {513, 10}});
}

TEST(DispatchPolicy, K512ChunksKeepTheirLeastLengthUnderAShift) {
  TopkShape shape = shape_of(32, 32768, 512);
  shape.tuning.policy_shift = 5;
  expect_active(shape, {{512, 1},
                        {513, 1},
                        {1023, 1},
                        {1024, 2},
                        {4095, 7},
                        {4096, 8},
                        {4097, 8},
                        {5119, 9},
                        {5120, 10},
                        {8192, 10},
                        {8193, 16}});
}

TEST(DispatchPolicy, K1024TakesOnlyItsShapes) {
  const auto accepted = [](const TopkShape& shape) {
    return topk_dispatch(TopkMethod::kK1024, shape).accepted;
  };
  EXPECT_TRUE(accepted(shape_of(256, 200000, 1024)));
  EXPECT_FALSE(accepted(shape_of(257, 200000, 1024)));
  EXPECT_FALSE(accepted(shape_of(256, 199999, 1024)));
  EXPECT_TRUE(accepted(shape_of(8, 2 * kMi, 1024)));
  EXPECT_FALSE(accepted(shape_of(8, 200000, 1023)));
  EXPECT_FALSE(accepted(shape_of(8, 200000, 1025)));
  EXPECT_FALSE(accepted(shape_of(8, 200000, 512)));
  EXPECT_FALSE(accepted(shape_of(8, 200000, 1024, "gfx942")));
}

TEST(DispatchPolicy, TheWholePolicyFallsBackToTheGenericPathOutsideK1024) {
  EXPECT_EQ(TopkPath::kK1024, auto_path(shape_of(256, 200000, 1024)));
  EXPECT_EQ(TopkPath::kSplit, auto_path(shape_of(257, 200000, 1024)));
  EXPECT_EQ(TopkPath::kBlockRadix, auto_path(shape_of(256, 199999, 1024)));
  EXPECT_EQ(TopkPath::kSplit, auto_path(shape_of(256, 200000, 1024, "gfx90a")));
}

TEST(DispatchPolicy, K1024ReservesByRowsAndShrinksLongRowsOfManyRows) {
  struct Line {
    int64_t rows;
    int32_t reserved;
    int32_t at_65535;
    int32_t at_65536;
  };
  for (const Line& line :
       {Line{1, 8, 8, 8}, Line{32, 8, 8, 8}, Line{33, 4, 4, 4}, Line{64, 4, 4, 4},
        Line{65, 3, 3, 2}, Line{128, 3, 3, 2}, Line{256, 3, 3, 2}}) {
    const TopkShape shape = shape_of(line.rows, 262144, 1024);
    const TopkDispatch got = topk_dispatch(TopkMethod::kK1024, shape);
    EXPECT_EQ(line.reserved, got.max_blocks) << line.rows;
    EXPECT_EQ(line.reserved, active_blocks(got, shape, 0)) << line.rows;
    EXPECT_EQ(line.at_65535, active_blocks(got, shape, 65535)) << line.rows;
    EXPECT_EQ(line.at_65536, active_blocks(got, shape, 65536)) << line.rows;
    EXPECT_EQ(line.at_65536, active_blocks(got, shape, 65537)) << line.rows;
    EXPECT_EQ(line.at_65536, active_blocks(got, shape, 262144)) << line.rows;
  }
}

TEST(DispatchPolicy, K1024ShiftDividesTheLengthAndLeavesTheSplitWidth) {
  TopkShape shape = shape_of(65, 3000, 1024);
  shape.tuning = {.radix_width = 1000, .split_width = 3000, .policy_shift = 6};
  const TopkDispatch got = topk_dispatch(TopkMethod::kAuto, shape);
  EXPECT_EQ(TopkPath::kK1024, got.path);
  EXPECT_EQ(3, active_blocks(got, shape, 1023));
  EXPECT_EQ(2, active_blocks(got, shape, 1024));
  shape.width = 2999;
  EXPECT_EQ(TopkPath::kBlockRadix, auto_path(shape));
}

TEST(DispatchPolicy, TuningMovesTheGenericGates) {
  TopkShape shape = shape_of(4, 99, 16, "gfx942");
  shape.tuning = {.radix_width = 100, .split_width = 200, .split_blocks = 3};
  EXPECT_EQ(TopkPath::kBlockInsertion, auto_path(shape));
  shape.width = 100;
  EXPECT_EQ(TopkPath::kBlockRadix, auto_path(shape));
  shape.width = 200;
  EXPECT_EQ(TopkPath::kSplit, auto_path(shape));
  EXPECT_EQ(3, topk_dispatch(TopkMethod::kAuto, shape).max_blocks);
  shape.tuning.radix_width = 201;
  EXPECT_EQ(TopkPath::kBlockInsertion, auto_path(shape));
}

TEST(DispatchPolicy, FullRadixTakesEveryShapeWithOneBlock) {
  TopkShape strided = shape_of(8, 100, 512);
  strided.column_stride = 8;
  for (const TopkShape& shape : {shape_of(1, 1, 1), shape_of(385, 2 * kMi, 512, "gfx942"),
                                 shape_of(256, 200000, 1024), strided}) {
    const TopkDispatch got = topk_dispatch(TopkMethod::kFullRadix, shape);
    EXPECT_TRUE(got.accepted);
    EXPECT_EQ(TopkPath::kFullRadix, got.path);
    EXPECT_EQ(1, got.max_blocks);
    EXPECT_EQ(1, got.launches);
    EXPECT_EQ(1, active_blocks(got, shape, shape.width));
  }
}

TEST(DispatchPolicy, PrefillIsOneBlockPerRowAtEveryWidth) {
  for (const int64_t width : {1, 12288, 200000, 2097152}) {
    const TopkShape shape = shape_of(8, width, 512);
    const TopkDispatch got = topk_dispatch(TopkMethod::kPrefill, shape);
    EXPECT_TRUE(got.accepted);
    EXPECT_EQ(TopkPath::kPrefill, got.path);
    EXPECT_EQ(1, got.max_blocks);
    EXPECT_EQ(1, active_blocks(got, shape, width));
  }
}

TEST(DispatchPolicy, PrefillTakesASecondLaunchForTheRowsFrom12288On) {
  const auto launches = [](const TopkShape& shape) {
    return topk_dispatch(TopkMethod::kPrefill, shape).launches;
  };
  EXPECT_EQ(1, launches(shape_of(1, 4096, 512)));
  EXPECT_EQ(1, launches(shape_of(12287, 4096, 512)));
  EXPECT_EQ(1, launches(shape_of(12288, 4096, 512)));
  EXPECT_EQ(2, launches(shape_of(12289, 4096, 512)));
  TopkShape tuned = shape_of(16, 4096, 512);
  tuned.tuning.radix_rows = 16;
  EXPECT_EQ(1, launches(tuned));
  tuned.tuning.radix_rows = 15;
  EXPECT_EQ(2, launches(tuned));
}

TEST(DispatchPolicy, RowsThatAreSplitTakeASecondLaunchThatMerges) {
  const auto launches = [](TopkMethod method, const TopkShape& shape) {
    return topk_dispatch(method, shape).launches;
  };
  EXPECT_EQ(1, launches(TopkMethod::kBlock, shape_of(8, 200000, 512)));
  EXPECT_EQ(1, launches(TopkMethod::kSplitMerge, shape_of(8, 199999, 2048)));
  EXPECT_EQ(2, launches(TopkMethod::kSplitMerge, shape_of(8, 200000, 2048)));
  EXPECT_EQ(1, launches(TopkMethod::kK512, shape_of(32, 16384, 512)));
  EXPECT_EQ(2, launches(TopkMethod::kK512, shape_of(32, 16385, 512)));
  EXPECT_EQ(1, launches(TopkMethod::kK512, shape_of(257, kMi, 512)));
  EXPECT_EQ(2, launches(TopkMethod::kK1024, shape_of(256, 200000, 1024)));
  EXPECT_EQ(2, launches(TopkMethod::kAuto, shape_of(32, 16385, 512)));
  TopkShape one_chunk = shape_of(8, 200000, 2048);
  one_chunk.tuning.split_blocks = 1;
  EXPECT_EQ(1, launches(TopkMethod::kSplitMerge, one_chunk));
}

}  // namespace
}  // namespace exactk::oracle
