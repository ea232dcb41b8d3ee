// The path gate on both sides of every clause, what its versions said, and the methods that follow
// it. The expected sides are written out by hand from the contract.
#include <gtest/gtest.h>

#include "oracle/dispatch_policy.h"

namespace exactk::oracle {
namespace {

constexpr int64_t kMi = 1024 * 1024;

// A decode call that goes to AITER, a little off every clause: each test moves one member.
GateShape aiter_decode() {
  return {.compress_ratio = 4,
          .rows = 385,
          .max_valid_seq_len = 65536,
          .columns = 65536,
          .k = 2048,
          .arch = "gfx950"};
}

// A decode call that the clause of k = 512 keeps native, and no other clause does.
GateShape native_k512() {
  GateShape shape = aiter_decode();
  shape.k = 512;
  shape.rows = 384;
  shape.columns = kMi;
  return shape;
}

bool goes_to_aiter(const GateShape& shape, GateVersion version = GateVersion::kK512) {
  return path_gate(shape, version) == GateSide::kAiter;
}

TEST(PathGate, TakesCompressedLayersOnly) {
  GateShape shape = aiter_decode();
  for (const bool prefill : {false, true}) {
    shape.prefill = prefill;
    shape.compress_ratio = 0;
    EXPECT_FALSE(goes_to_aiter(shape));
    shape.compress_ratio = 1;
    EXPECT_FALSE(goes_to_aiter(shape));
    shape.compress_ratio = 2;
    EXPECT_TRUE(goes_to_aiter(shape));
  }
}

TEST(PathGate, TakesGfx950Only) {
  GateShape shape = aiter_decode();
  for (const std::string_view arch : {"gfx942", "gfx90a", "generic", "gfx95", ""}) {
    shape.arch = arch;
    EXPECT_FALSE(goes_to_aiter(shape)) << arch;
  }
  shape.arch = "gfx950:sramecc+:xnack-";
  EXPECT_TRUE(goes_to_aiter(shape));
}

TEST(PathGate, LeavesK512OfUpTo384RowsAndOneMiColumnsToTheNativeKernels) {
  EXPECT_FALSE(goes_to_aiter(native_k512()));
  struct Line {
    int64_t rows;
    int64_t columns;
    int64_t k;
    bool aiter;
  };
  for (const Line& line :
       {Line{384, kMi, 511, true}, Line{384, kMi, 513, true}, Line{384, kMi + 1, 512, true},
        Line{385, kMi, 512, true}, Line{0, kMi, 512, true}, Line{1, kMi, 512, false},
        Line{256, 1, 512, false}, Line{257, kMi, 512, false}}) {
    GateShape shape = native_k512();
    shape.rows = line.rows;
    shape.columns = line.columns;
    shape.k = line.k;
    EXPECT_EQ(line.aiter, goes_to_aiter(shape))
        << "rows " << line.rows << " columns " << line.columns << " k " << line.k;
  }
}

TEST(PathGate, LeavesUpTo256RowsOfAnyKWithLongRowsToTheNativeKernels) {
  struct Line {
    int64_t rows;
    int64_t longest;
    bool aiter;
  };
  for (const Line& line : {Line{256, 65536, true}, Line{256, 65537, false}, Line{257, 65537, true},
                           Line{257, 65536, true}, Line{1, 65537, false}, Line{0, 65537, false},
                           Line{0, 65536, true}, Line{384, 4 * kMi, true}}) {
    GateShape shape = aiter_decode();
    shape.rows = line.rows;
    shape.max_valid_seq_len = line.longest;
    EXPECT_EQ(line.aiter, goes_to_aiter(shape))
        << "rows " << line.rows << " longest " << line.longest;
  }
}

TEST(PathGate, SendsEveryCompressedPrefillToAiter) {
  GateShape shape = native_k512();
  shape.rows = 8;
  shape.max_valid_seq_len = 4 * kMi;
  EXPECT_FALSE(goes_to_aiter(shape));
  shape.prefill = true;
  EXPECT_TRUE(goes_to_aiter(shape));
}

TEST(PathGate, DividesBothColumnThresholdsButNotTheRowsByTheShift) {
  GateShape shape = native_k512();
  shape.policy_shift = 6;
  shape.columns = kMi / 64;
  EXPECT_FALSE(goes_to_aiter(shape));
  shape.columns = kMi / 64 + 1;
  EXPECT_TRUE(goes_to_aiter(shape));

  shape = aiter_decode();
  shape.policy_shift = 6;
  shape.rows = 256;
  shape.max_valid_seq_len = 1024;
  EXPECT_TRUE(goes_to_aiter(shape));
  shape.max_valid_seq_len = 1025;
  EXPECT_FALSE(goes_to_aiter(shape));
  shape.rows = 257;
  EXPECT_TRUE(goes_to_aiter(shape));
}

// History: the gate came with the clause of long rows, and k = 512 went to AITER like any other k.
TEST(PathGate, TheFirstVersionSentK512ToAiter) {
  EXPECT_TRUE(goes_to_aiter(native_k512(), GateVersion::kCompressed));
  EXPECT_FALSE(goes_to_aiter(native_k512(), GateVersion::kK512));
}

TEST(PathGate, TheFirstVersionKeptLongRowsNative) {
  GateShape shape = aiter_decode();
  shape.rows = 256;
  shape.max_valid_seq_len = 65537;
  EXPECT_FALSE(goes_to_aiter(shape, GateVersion::kCompressed));
  shape.max_valid_seq_len = 65536;
  EXPECT_TRUE(goes_to_aiter(shape, GateVersion::kCompressed));
  shape.compress_ratio = 1;
  EXPECT_FALSE(goes_to_aiter(shape, GateVersion::kCompressed));
}

TEST(PathGate, TheVersionsDifferInDecodeOfK512Only) {
  for (const int64_t k : {511, 512, 513, 1024, 2048}) {
    for (const int64_t rows : {0, 1, 256, 257, 384, 385}) {
      for (const int64_t longest : {65536, 65537}) {
        for (const bool prefill : {false, true}) {
          GateShape shape = native_k512();
          shape.k = k;
          shape.rows = rows;
          shape.max_valid_seq_len = longest;
          shape.prefill = prefill;
          const bool differ = goes_to_aiter(shape, GateVersion::kCompressed) !=
                              goes_to_aiter(shape, GateVersion::kK512);
          // Up to 256 long rows, the older clause had kept them native already.
          const bool kept_before = rows <= 256 && longest == 65537;
          EXPECT_EQ(!prefill && k == 512 && rows >= 1 && rows <= 384 && !kept_before, differ)
              << "k " << k << " rows " << rows << " longest " << longest;
        }
      }
    }
  }
}

TopkShape compressed_shape() {
  return {.rows = 8,
          .width = 30000,
          .k = 2048,
          .arch = "gfx950",
          .tuning = {},
          .compress_ratio = 4,
          .max_seq_len_hint = 30000};
}

TEST(GateShapeOfDecode, TakesTheHintForTheLongestRow) {
  const GateShape gate = gate_shape(compressed_shape());
  EXPECT_FALSE(gate.prefill);
  EXPECT_EQ(30000, gate.max_valid_seq_len);
  EXPECT_EQ(30000, gate.columns);
  EXPECT_EQ(8, gate.rows);
  EXPECT_EQ(2048, gate.k);
  EXPECT_EQ(4, gate.compress_ratio);
  EXPECT_EQ("gfx950", gate.arch);
}

TEST(GateShapeOfDecode, TakesEveryRawTokenForTheLongestRowInAFullGraph) {
  TopkShape shape = compressed_shape();
  shape.full_graph = true;
  EXPECT_EQ(120000, gate_shape(shape).max_valid_seq_len);
  shape.width = 16384;
  EXPECT_EQ(65536, gate_shape(shape).max_valid_seq_len);
}

TEST(GatedDispatch, ACapturedFullGraphIsNativeWhereAnEagerCallOfTheSameShapeGoesToAiter) {
  TopkShape shape = compressed_shape();
  EXPECT_EQ(TopkPath::kFullRadix, topk_dispatch(TopkMethod::kGated, shape).path);
  shape.full_graph = true;
  EXPECT_EQ(TopkPath::kBlockRadix, topk_dispatch(TopkMethod::kGated, shape).path);
}

TEST(GatedDispatch, TheNativeSideTakesWhatTheWholePolicyTakes) {
  TopkShape shape = compressed_shape();
  shape.compress_ratio = 1;
  for (const int64_t k : {512, 1024, 2048}) {
    for (const int64_t width : {100, 12288, 199999, 200000, 262145}) {
      shape.k = k;
      shape.width = width;
      const TopkDispatch want = topk_dispatch(TopkMethod::kAuto, shape);
      const TopkDispatch got = topk_dispatch(TopkMethod::kGated, shape);
      EXPECT_EQ(want.path, got.path);
      EXPECT_EQ(want.max_blocks, got.max_blocks);
      EXPECT_EQ(want.launches, got.launches);
    }
  }
}

TEST(GatedDispatch, TheAiterSideIsOneLaunchOfOneBlockPerRow) {
  const TopkShape shape = compressed_shape();
  const TopkDispatch got = topk_dispatch(TopkMethod::kGated, shape);
  EXPECT_TRUE(got.accepted);
  EXPECT_EQ(TopkPath::kFullRadix, got.path);
  EXPECT_EQ(1, got.max_blocks);
  EXPECT_EQ(1, got.launches);
  EXPECT_EQ(1, active_blocks(got, shape, 30000));
}

TEST(GatedDispatch, FollowsTheShift) {
  TopkShape shape = compressed_shape();
  shape.tuning.policy_shift = 6;
  shape.max_seq_len_hint = 1024;
  EXPECT_EQ(TopkPath::kFullRadix, topk_dispatch(TopkMethod::kGated, shape).path);
  shape.max_seq_len_hint = 1025;
  EXPECT_EQ(TopkPath::kBlockRadix, topk_dispatch(TopkMethod::kGated, shape).path);
}

}  // namespace
}  // namespace exactk::oracle
