// The path and the active blocks that a launch reports, against the oracle's prediction, on both
// sides of every gate.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "oracle/dispatch_policy.h"
#include "tests/kernels/topk/harness.h"
#include "tests/kernels/topk/patterns.h"

namespace exactk::kernels::test {
namespace {

const std::map<std::string, oracle::TopkMethod> kNativeMethods = {
    {"topk.block", oracle::TopkMethod::kBlock},
    {"topk.split_merge", oracle::TopkMethod::kSplitMerge},
    {"topk.k512", oracle::TopkMethod::kK512},
    {"topk.k1024", oracle::TopkMethod::kK1024},
    {"topk.auto", oracle::TopkMethod::kAuto},
};

oracle::TopkMethod method_of(const std::string& name) {
  return name == "topk.gated"    ? oracle::TopkMethod::kGated
         : name == "topk.stable" ? oracle::TopkMethod::kFullRadix
                                 : kNativeMethods.at(name);
}

oracle::TopkShape shape_of(const Problem& p) {
  oracle::TopkShape shape{p.rows, p.width, p.k, p.column_stride, p.arch, {}};
  const auto put = [](auto& to, int64_t from) {
    if (from > 0) {
      to = static_cast<std::decay_t<decltype(to)>>(from);
    }
  };
  put(shape.tuning.radix_width, p.tune.radix_width);
  put(shape.tuning.split_width, p.tune.split_width);
  put(shape.tuning.split_blocks, p.tune.split_blocks);
  put(shape.tuning.policy_shift, p.tune.policy_shift);
  put(shape.tuning.min_chunk, p.tune.min_chunk);
  shape.compress_ratio = p.compress_ratio;
  shape.full_graph = p.full_graph;
  shape.max_seq_len_hint = p.max_seq_len_hint;
  return shape;
}

exactk_topk_path abi_path(oracle::TopkPath path) {
  switch (path) {
    case oracle::TopkPath::kBlockInsertion:
      return EXACTK_PATH_BLOCK_INSERTION;
    case oracle::TopkPath::kBlockRadix:
      return EXACTK_PATH_BLOCK_RADIX;
    case oracle::TopkPath::kSplit:
      return EXACTK_PATH_SPLIT;
    case oracle::TopkPath::kK512:
      return EXACTK_PATH_K512;
    case oracle::TopkPath::kK1024:
      return EXACTK_PATH_K1024;
    case oracle::TopkPath::kFullRadix:
      return EXACTK_PATH_FULL_RADIX;
    case oracle::TopkPath::kPrefill:
      return EXACTK_PATH_PREFILL;
  }
  return EXACTK_PATH_UNKNOWN;
}

std::string title(const std::string& name, const Problem& p) {
  return fmt::format("{} rows {} width {} k {}", name, p.rows, p.width, p.k);
}

// Launches if the oracle says that the kernel takes the shape, and compares what was taken with the
// prediction.
void expect_predicted(const std::string& name, const Problem& p) {
  const oracle::TopkShape shape = shape_of(p);
  const oracle::TopkDispatch want = oracle::topk_dispatch(method_of(name), shape);
  Bench bench(kernel(name), p, {});
  ASSERT_EQ("", bench.prepare()) << title(name, p);
  ASSERT_EQ(want.accepted, bench.launch().empty()) << title(name, p);
  if (!want.accepted) {
    return;
  }
  EXPECT_EQ("", bench.judge()) << title(name, p);
  EXPECT_EQ(abi_path(want.path), bench.report.path) << title(name, p);
  EXPECT_EQ(want.max_blocks, bench.report.max_blocks) << title(name, p);
  EXPECT_EQ(want.launches, bench.report.launches) << title(name, p);
  for (int64_t row = 0; row < p.rows; ++row) {
    ASSERT_EQ(oracle::active_blocks(want, shape, bench.length(row)),
              bench.active_blocks()[static_cast<size_t>(row)])
        << title(name, p) << " length " << bench.length(row);
  }
}

// Row 0 .. n-1 have the given lengths, the others none.
Problem shared_row(int64_t rows, int64_t width, int64_t k, std::vector<int32_t> lengths) {
  Problem p;
  p.rows = rows;
  p.width = width;
  p.k = k;
  p.row_stride = 0;
  p.bits = [](int64_t, int64_t column) { return any_bits(1)(0, column); };
  p.seq_lens = std::move(lengths);
  p.seq_lens.resize(static_cast<size_t>(rows), 0);
  return p;
}

TEST(TopkDispatch, PathAgreesOnBothSidesOfEveryWidthGate) {
  for (const int64_t width : {12287, 12288, 16384, 16385, 65536, 65537, 199999, 200000, 262144,
                              262145, 1048576, 1048577}) {
    for (const int64_t k : {511, 512, 1024}) {
      for (const auto& [name, method] : kNativeMethods) {
        expect_predicted(name, shared_row(2, width, k, {600}));
      }
    }
  }
}

TEST(TopkDispatch, PathAgreesOnBothSidesOfEveryRowGate) {
  for (const int64_t rows : {1, 32, 33, 64, 65, 128, 129, 160, 161, 256, 257, 384, 385}) {
    for (const int64_t k : {512, 1024}) {
      Problem p = shared_row(rows, 262145 / 64, k, {1030, 2000, 4096});
      p.tune.policy_shift = 6;
      p.tune.split_width = 3000;
      p.tune.min_chunk = 16;
      p.tune.block_threads = 64;
      for (const char* name : {"topk.k512", "topk.k1024", "topk.auto"}) {
        expect_predicted(name, p);
      }
    }
  }
}

TEST(TopkDispatch, ActiveBlocksAgreeOnBothSidesOfEveryLengthGate) {
  for (const int64_t rows : {24, 100, 130, 200, 300}) {
    for (const int64_t k : {512, 1024}) {
      Problem p = shared_row(rows, 8192, k, {});
      p.tune.policy_shift = 7;
      p.tune.split_width = 3000;
      p.tune.min_chunk = 16;
      p.tune.block_threads = 64;
      int32_t row = 0;
      for (const int32_t gate : {16384, 65536, 131072, 262144, 524288}) {
        for (const int32_t offset : {-1, 0, 1}) {
          p.seq_lens[static_cast<size_t>(row++)] = gate / 128 + offset;
        }
      }
      expect_predicted("topk.auto", p);
    }
  }
}

TEST(TopkDispatch, ActiveBlocksAgreeAtThePublishedLengths) {
  expect_predicted("topk.k512", shared_row(24, 262145, 512,
                                           {511, 512, 1023, 1024, 16384, 16385, 131072, 131073,
                                            262144, 262145}));
  expect_predicted("topk.k512", shared_row(100, 65537, 512, {65536, 65537}));
  expect_predicted("topk.k1024", shared_row(65, 200000, 1024, {65535, 65536, 200000}));
}

TEST(TopkDispatch, ChunksAreNeverShorterThanTheMinimum) {
  Problem p = shared_row(8, 8192, 512, {1023, 1024, 1535, 1536, 4096, 8191, 8192});
  p.tune.policy_shift = 8;
  p.width = 4096;
  p.seq_lens = {1023, 1024, 1535, 1536, 4095, 4096, 0, 100};
  expect_predicted("topk.k512", p);
}

TEST(TopkDispatch, OtherArchitecturesTakeTheGenericPath) {
  Problem p = shared_row(2, 16385, 512, {600});
  p.arch = "gfx942";
  expect_predicted("topk.auto", p);
  p.arch = "gfx950:sramecc+";
  expect_predicted("topk.auto", p);
}

TEST(TopkDispatch, StridedColumnsTakeOneBlock) {
  Problem p = shared_row(2, 4096, 512, {600});
  p.column_stride = 2;
  p.tune.radix_width = 64;
  p.tune.split_width = 128;
  expect_predicted("topk.auto", p);
  expect_predicted("topk.split_merge", p);
}

// The path gate with its width at 1024 columns and its length at 64, which a policy shift of 10
// makes of 1 Mi and 65,536. Small enough for many.
Problem gated(int64_t rows, int64_t width, int64_t k, int64_t longest) {
  Problem p = shared_row(rows, width, k, {20});
  p.compress_ratio = 4;
  p.max_seq_len_hint = longest;
  p.tune.policy_shift = 10;
  p.tune.block_threads = 64;
  return p;
}

exactk_topk_path path_taken(const Problem& p, const char* name = "topk.gated") {
  Bench bench(kernel(name), p, {});
  EXPECT_EQ("", bench.run()) << title(name, p);
  return static_cast<exactk_topk_path>(bench.report.path);
}

TEST(TopkGate, PathAgreesOnBothSidesOfEveryClause) {
  for (const int64_t rows : {1, 256, 257, 384, 385}) {
    for (const int64_t width : {1024, 1025}) {
      for (const int64_t k : {511, 512, 513}) {
        for (const int64_t longest : {0, 64, 65}) {
          expect_predicted("topk.gated", gated(rows, width, k, longest));
        }
      }
    }
  }
}

TEST(TopkGate, K512StaysNativeUpTo384Rows) {
  EXPECT_EQ(EXACTK_PATH_K512, path_taken(gated(384, 1024, 512, 64)));
  EXPECT_EQ(EXACTK_PATH_FULL_RADIX, path_taken(gated(385, 1024, 512, 64)));
}

TEST(TopkGate, FewRowsStayNativeAboveTheLengthOf65536) {
  EXPECT_EQ(EXACTK_PATH_FULL_RADIX, path_taken(gated(256, 1024, 511, 64)));
  EXPECT_EQ(EXACTK_PATH_BLOCK_INSERTION, path_taken(gated(256, 1024, 511, 65)));
  EXPECT_EQ(EXACTK_PATH_FULL_RADIX, path_taken(gated(257, 1024, 511, 65)));
}

TEST(TopkGate, UncompressedLayersAndOtherArchitecturesStayNative) {
  Problem p = gated(8, 1024, 511, 64);
  EXPECT_EQ(EXACTK_PATH_FULL_RADIX, path_taken(p));
  p.compress_ratio = 2;
  EXPECT_EQ(EXACTK_PATH_FULL_RADIX, path_taken(p));
  p.compress_ratio = 1;
  EXPECT_EQ(EXACTK_PATH_BLOCK_INSERTION, path_taken(p));
  p.compress_ratio = 4;
  p.arch = "gfx942";
  EXPECT_EQ(EXACTK_PATH_BLOCK_INSERTION, path_taken(p));
}

TEST(TopkGate, AFullGraphCountsTheLongestSequenceOfTheModel) {
  Problem p = gated(8, 16, 511, 20);
  p.full_graph = true;  // 16 * 4 = 64
  EXPECT_EQ(EXACTK_PATH_FULL_RADIX, path_taken(p));
  expect_predicted("topk.gated", p);
  p.width = 17;
  EXPECT_EQ(EXACTK_PATH_BLOCK_INSERTION, path_taken(p));
  expect_predicted("topk.gated", p);
}

TEST(TopkGate, AgreesAtThePublishedNumbers) {
  Problem p = shared_row(1, 1048576, 512, {2000});
  p.compress_ratio = 4;
  for (const int64_t width : {1048576, 1048577}) {
    for (const int64_t longest : {65536, 65537}) {
      p.width = width;
      p.max_seq_len_hint = longest;
      expect_predicted("topk.gated", p);
    }
  }
}

TEST(TopkDispatch, TheFullRadixPathTakesOneBlockWhateverTheShape) {
  for (const int64_t width : {100, 12288, 200000}) {
    for (const int64_t k : {511, 512, 1024}) {
      expect_predicted("topk.stable", shared_row(2, width, k, {600}));
    }
  }
}

}  // namespace
}  // namespace exactk::kernels::test
