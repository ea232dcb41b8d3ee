// The index combine, edge by edge. The expected rows are derived by hand from the contract.
#include <gtest/gtest.h>

#include <limits>

#include "oracle/combine_indices.h"
#include "tests/oracle/index_test_support.h"

namespace exactk::oracle {
namespace {

// One request of one token at position 9: with ratio 4 two compressed entries (of 3 asked for), and
// a window of 3 positions, 7 to 9. Of the request positions 4 to 9 are gathered.
CombineCase one_token() {
  CombineCase c;
  c.shape = {.variant = CombineVariant::kCommon,
             .tokens = 1,
             .requests = 1,
             .k = 3,
             .topk_width = 3,
             .topk_stride = 3,
             .window = 3,
             .ratio = 4,
             .workspace_rows = 100,
             .compressed_rows = 20,
             .columns = 8,
             .out_stride = 8};
  c.topk_indices = {5, 6, 7};
  c.query_start_loc = {0, 1};
  c.seq_lens = {10};
  c.gather_lens = {6};
  c.left_visible = {0};
  c.right_visible = {0};
  return c;
}

// The row that one token has, and its length.
std::string indices_of(const CombineCase& c) {
  return describe(c.expected()[0]);
}
std::string lens_of(const CombineCase& c) {
  return describe(c.expected()[1]);
}

constexpr CombineVariant kDense[] = {CombineVariant::kCommon, CombineVariant::kGathered,
                                     CombineVariant::kChecked, CombineVariant::kVision};

TEST(Combine, PutsTheCompressedPartBeforeTheWindowAndFillsTheRestWithSentinels) {
  for (const CombineVariant variant : kDense) {
    CombineCase c = one_token();
    c.shape.variant = variant;
    const std::vector<ExpectedTensor> got = c.expected();
    ASSERT_EQ(2u, got.size());
    EXPECT_EQ("indices", got[0].name);
    EXPECT_EQ("lens", got[1].name);
    EXPECT_EQ("5 6 23 24 25 -1 -1 -1", describe(got[0])) << name(variant);
    EXPECT_EQ("5", describe(got[1])) << name(variant);
  }
}

TEST(Combine, TakesNoMoreThanKCompressedEntries) {
  CombineCase c = one_token();
  c.shape.ratio = 1;
  EXPECT_EQ("5 6 7 23 24 25 -1 -1", indices_of(c));
  c.shape.k = 1;
  EXPECT_EQ("5 23 24 25 -1 -1 -1 -1", indices_of(c));
}

TEST(Combine, CountsACompressedEntryWhenItsLastTokenIsInView) {
  CombineCase c = one_token();
  c.seq_lens = {11};
  EXPECT_EQ("5", lens_of(c));  // position 10: 11 / 4 = 2
  c.seq_lens = {12};
  EXPECT_EQ("6", lens_of(c));  // position 11: 12 / 4 = 3
}

TEST(Combine, ARatioOfZeroHasNoCompressedPart) {
  CombineCase c = one_token();
  c.shape.ratio = 0;
  EXPECT_EQ("23 24 25 -1 -1 -1 -1 -1", indices_of(c));
  EXPECT_EQ("3", lens_of(c));
}

TEST(Combine, ALayerWithAWindowOnlyHasNoCompressedPart) {
  for (const int64_t ratio : {0, 1}) {
    CombineCase c = one_token();
    c.shape.k = c.shape.topk_width = c.shape.topk_stride = 0;
    c.shape.ratio = ratio;
    c.shape.compressed_rows = 0;
    c.topk_indices = {};
    EXPECT_EQ("3 4 5 -1 -1 -1 -1 -1", indices_of(c));
    EXPECT_EQ("3", lens_of(c));
  }
}

TEST(Combine, TakesWindowsThatAreNoPowersOfTwo) {
  for (const int64_t window : {96, 192}) {
    CombineCase c = one_token();
    c.shape.window = window;
    c.shape.columns = c.shape.out_stride = combine_columns(3, window, 0);
    c.seq_lens = {1000};
    c.gather_lens = {200};
    const std::vector<ExpectedTensor> got = c.expected();
    // 3 compressed entries; position 999 - window + 1 is place 200 - window of the 200 gathered.
    EXPECT_EQ(std::to_string(3 + window), describe(got[1]));
    EXPECT_EQ(20 + 200 - window, got[0].values[3]);
    EXPECT_EQ(20 + 199, got[0].values[static_cast<size_t>(3 + window - 1)]);
    EXPECT_EQ(-1, got[0].values[static_cast<size_t>(3 + window)]);
  }
}

TEST(Combine, CutsTheWindowAtTheFirstPosition) {
  CombineCase c = one_token();
  c.seq_lens = {2};
  c.gather_lens = {2};
  EXPECT_EQ("20 21 -1 -1 -1 -1 -1 -1", indices_of(c));
  EXPECT_EQ("2", lens_of(c));
}

// Profiling and warm-up batches claim more query tokens than their sequences have.
TEST(Combine, ASequenceShorterThanItsQueryHasEmptyRowsBeforeItsFirstPosition) {
  for (const CombineVariant variant : kDense) {
    CombineCase c = one_token();
    c.shape.variant = variant;
    c.shape.tokens = 4;
    c.shape.columns = c.shape.out_stride = 4;
    c.shape.ratio = 1;
    c.shape.k = c.shape.topk_width = c.shape.topk_stride = 1;
    c.topk_indices = {8, 8, 8, 8};
    c.query_start_loc = {0, 4};
    c.seq_lens = {2};
    c.gather_lens = {2};
    c.left_visible = c.right_visible = {0, 0, 0, 0};
    EXPECT_EQ(
        "-1 -1 -1 -1 "
        "-1 -1 -1 -1 "
        "8 20 -1 -1 "
        "8 20 21 -1",
        indices_of(c))
        << name(variant);
    EXPECT_EQ("0 0 2 3", lens_of(c)) << name(variant);
  }
}

TEST(Combine, ASequenceOfLengthZeroHasEmptyRows) {
  for (const CombineVariant variant : kDense) {
    CombineCase c = one_token();
    c.shape.variant = variant;
    c.shape.ratio = 1;
    c.seq_lens = {0};
    c.gather_lens = {0};
    c.right_visible = {5};
    EXPECT_EQ("-1 -1 -1 -1 -1 -1 -1 -1", indices_of(c)) << name(variant);
    EXPECT_EQ("0", lens_of(c)) << name(variant);
  }
}

// Three requests of 1, 0 and 1 tokens.
CombineCase around_an_empty_request() {
  CombineCase c = one_token();
  c.shape.tokens = 2;
  c.shape.requests = 3;
  c.topk_indices = {5, 6, 7, 5, 6, 7};
  c.query_start_loc = {0, 1, 1, 2};
  c.seq_lens = {10, 99, 10};
  c.gather_lens = {6, 99, 6};
  return c;
}

TEST(Combine, ARequestWithoutTokensHasNoRowsButItsPlaceInTheWorkspace) {
  EXPECT_EQ(
      "5 6 23 24 25 -1 -1 -1 "
      "205 206 223 224 225 -1 -1 -1",
      indices_of(around_an_empty_request()));
}

TEST(Combine, SubtractsWhereTheChunksQueriesStart) {
  CombineCase c = around_an_empty_request();
  const std::string want = indices_of(c);
  c.query_start_loc = {1000, 1001, 1001, 1002};
  EXPECT_EQ(want, indices_of(c));
  c.query_start_loc = {2147483645, 2147483646, 2147483646, 2147483647};
  EXPECT_EQ(want, indices_of(c));
}

TEST(Combine, LeavesRowsThatNoRequestCoversAndGapsUntouched) {
  CombineCase c = one_token();
  c.shape.tokens = 3;
  c.shape.columns = 5;
  c.shape.out_stride = 7;
  EXPECT_EQ(
      "5 6 23 24 25 . . "
      ". . . . . . . "
      ". . . . .",
      indices_of(c));
  EXPECT_EQ("5 . .", lens_of(c));
}

TEST(Combine, WritesNoRowsBeyondTheTensors) {
  CombineCase c = one_token();
  c.query_start_loc = {0, 4};
  c.seq_lens = {13};
  c.gather_lens = {9};
  EXPECT_EQ("5 6 23 24 25 -1 -1 -1", indices_of(c));
}

TEST(Combine, ReadsTopkRowsAtTheirStride) {
  CombineCase c = around_an_empty_request();
  c.shape.topk_width = 4;
  c.shape.topk_stride = 5;
  c.topk_indices = {5, 6, 7, 77, 88, 8, 9, 7, 77};
  EXPECT_EQ(
      "5 6 23 24 25 -1 -1 -1 "
      "208 209 223 224 225 -1 -1 -1",
      indices_of(c));
}

TEST(Combine, CommonAndGatheredTurnAnInteriorSentinelIntoTheLastRowOfTheRequestBefore) {
  for (const CombineVariant variant : {CombineVariant::kCommon, CombineVariant::kGathered}) {
    CombineCase c = around_an_empty_request();
    c.shape.variant = variant;
    c.topk_indices = {-1, 6, 7, -1, 6, 7};
    EXPECT_EQ(
        "-1 6 23 24 25 -1 -1 -1 "
        "199 206 223 224 225 -1 -1 -1",
        indices_of(c))
        << name(variant);
    EXPECT_EQ("5 5", lens_of(c));
  }
}

TEST(Combine, CheckedAndVisionKeepAnInteriorSentinelAndItsPlace) {
  for (const CombineVariant variant : {CombineVariant::kChecked, CombineVariant::kVision}) {
    CombineCase c = around_an_empty_request();
    c.shape.variant = variant;
    c.left_visible = c.right_visible = {0, 0};
    c.topk_indices = {-1, 6, 7, -1, 6, 7};
    EXPECT_EQ(
        "-1 6 23 24 25 -1 -1 -1 "
        "-1 206 223 224 225 -1 -1 -1",
        indices_of(c))
        << name(variant);
    EXPECT_EQ("5 5", lens_of(c));
  }
}

TEST(Combine, CheckedAndVisionRefuseIndicesOutsideTheCompressedRegion) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  for (const CombineVariant variant : {CombineVariant::kChecked, CombineVariant::kVision}) {
    CombineCase c = one_token();
    c.shape.variant = variant;
    c.shape.ratio = 1;
    c.topk_indices = {0, 19, 20};
    EXPECT_EQ("0 19 -1 23 24 25 -1 -1", indices_of(c)) << name(variant);
    c.topk_indices = {kMin, kMax, 21};
    EXPECT_EQ("-1 -1 -1 23 24 25 -1 -1", indices_of(c)) << name(variant);
  }
}

TEST(Combine, CommonAndCheckedLetAWindowStartBeforeTheGatheredRegion) {
  for (const CombineVariant variant : {CombineVariant::kCommon, CombineVariant::kChecked}) {
    CombineCase c = one_token();
    c.shape.variant = variant;
    c.gather_lens = {2};
    EXPECT_EQ("5 6 19 20 21 -1 -1 -1", indices_of(c)) << name(variant);
    EXPECT_EQ("5", lens_of(c));
  }
}

TEST(Combine, GatheredAndVisionCutTheWindowAtTheGatheredRegion) {
  for (const CombineVariant variant : {CombineVariant::kGathered, CombineVariant::kVision}) {
    CombineCase c = one_token();
    c.shape.variant = variant;
    c.gather_lens = {2};
    EXPECT_EQ("5 6 20 21 -1 -1 -1 -1", indices_of(c)) << name(variant);
    EXPECT_EQ("4", lens_of(c));
    c.gather_lens = {0};
    EXPECT_EQ("5 6 -1 -1 -1 -1 -1 -1", indices_of(c)) << name(variant);
    EXPECT_EQ("2", lens_of(c));
  }
}

CombineCase one_vision_token() {
  CombineCase c = one_token();
  c.shape.variant = CombineVariant::kVision;
  c.shape.max_image_tokens = 4;
  c.shape.columns = c.shape.out_stride = 10;
  c.query_start_loc = {0, 1};
  c.gather_lens = {10};
  return c;
}

TEST(CombineVision, TheLeftOfAnImageWidensTheWindowOnlyBeyondIt) {
  CombineCase c = one_vision_token();
  c.left_visible = {2};
  EXPECT_EQ("5 6 27 28 29 -1 -1 -1 -1 -1", indices_of(c));
  c.left_visible = {3};
  EXPECT_EQ("5 6 26 27 28 29 -1 -1 -1 -1", indices_of(c));
  EXPECT_EQ("6", lens_of(c));
}

TEST(CombineVision, TheRightOfAnImageEndsWithTheSequence) {
  CombineCase c = one_vision_token();
  c.shape.tokens = 4;
  c.query_start_loc = {0, 4};
  c.topk_indices.assign(12, 5);
  c.left_visible = {0, 0, 0, 0};
  c.right_visible = {2, 2, 2, 2};
  c.shape.k = 0;
  c.shape.columns = c.shape.out_stride = 6;
  EXPECT_EQ(
      "24 25 26 27 28 -1 "
      "25 26 27 28 29 -1 "
      "26 27 28 29 -1 -1 "
      "27 28 29 -1 -1 -1",
      indices_of(c));
  EXPECT_EQ("5 5 4 3", lens_of(c));
}

TEST(CombineVision, ReportsTheWholeLengthOfAWindowThatIsWiderThanItsSlots) {
  CombineCase c = one_vision_token();
  c.shape.max_image_tokens = 1;
  c.left_visible = {7};
  // Positions 2 to 9 are seen, 8 of them; 3 + 1 have slots.
  EXPECT_EQ("5 6 22 23 24 25 -1 -1 -1 -1", indices_of(c));
  EXPECT_EQ("10", lens_of(c));
}

TEST(CombineRagged, PacksTheRowsOfCommonOneAfterTheOther) {
  CombineCase c = around_an_empty_request();
  c.shape.variant = CombineVariant::kRagged;
  c.seq_lens = {10, 99, 2};
  c.gather_lens = {6, 99, 2};
  const std::vector<ExpectedTensor> got = c.expected();
  ASSERT_EQ(2u, got.size());
  EXPECT_EQ("indices", got[0].name);
  EXPECT_EQ("indptr", got[1].name);
  EXPECT_EQ("5 6 23 24 25 220 221 . . . . .", describe(got[0]));
  EXPECT_EQ("0 5 7", describe(got[1]));
}

TEST(CombineRagged, CountsRowsThatNoRequestCoversAsEmpty) {
  CombineCase c = one_token();
  c.shape.variant = CombineVariant::kRagged;
  c.shape.tokens = 3;
  const std::vector<ExpectedTensor> got = c.expected();
  EXPECT_EQ("0 5 5 5", describe(got[1]));
  EXPECT_EQ("5 6 23 24 25 . . . . . . . . . . . . .", describe(got[0]));
}

TEST(CombineRagged, DoesNotCheckItsIndices) {
  CombineCase c = around_an_empty_request();
  c.shape.variant = CombineVariant::kRagged;
  c.topk_indices = {-1, 6, 7, -1, 6, 7};
  EXPECT_EQ("-1 6 23 24 25 199 206 223 224 225 . .", describe(c.expected()[0]));
}

TEST(Combine, CountsWorkspaceRowsIn64Bits) {
  CombineCase c = around_an_empty_request();
  c.shape.workspace_rows = 1073741700;  // request 2 starts at 2147483400
  EXPECT_EQ(
      "5 6 23 24 25 -1 -1 -1 "
      "2147483405 2147483406 2147483423 2147483424 2147483425 -1 -1 -1",
      indices_of(c));
}

TEST(Combine, AnUncheckedIndexThatOverflowsCountsAsItsLow32Bits) {
  CombineCase c = around_an_empty_request();
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  c.topk_indices = {kMax, 6, 7, kMax, 6, 7};
  // 200 + 2^31 - 1 - 2^32
  EXPECT_EQ("-2147483449", describe(c.expected()[0], 8, 9));
  EXPECT_EQ("2147483647", describe(c.expected()[0], 0, 1));
}

TEST(CombineColumns, RoundUpToTheAlignment) {
  EXPECT_EQ(128, combine_columns(0, 1, 0));
  EXPECT_EQ(128, combine_columns(0, 128, 0));
  EXPECT_EQ(256, combine_columns(1, 128, 0));
  EXPECT_EQ(640, combine_columns(512, 128, 0));
  EXPECT_EQ(768, combine_columns(512, 128, 1));
}

TEST(CombineNames, AreTheWordsOfTheCaseText) {
  EXPECT_EQ("common", name(CombineVariant::kCommon));
  EXPECT_EQ("gathered", name(CombineVariant::kGathered));
  EXPECT_EQ("checked", name(CombineVariant::kChecked));
  EXPECT_EQ("vision", name(CombineVariant::kVision));
  EXPECT_EQ("ragged", name(CombineVariant::kRagged));
}

// The plan that a public unit test works out: 5 prefills of 4 query tokens, window 64, ratio 4.
TEST(PlanChunks, WorksOutThePublishedExample) {
  const std::vector<int64_t> seq_lens{80, 96, 112, 128, 144};
  const std::vector<int64_t> gather_lens(5, 4 + 63);
  const std::vector<ChunkPlan> chunks = plan_chunks(seq_lens, gather_lens, 4, 512, 8);
  ASSERT_EQ(1u, chunks.size());
  EXPECT_EQ(0, chunks[0].first);
  EXPECT_EQ(5, chunks[0].last);
  EXPECT_EQ(36, chunks[0].compressed_rows);
  EXPECT_EQ(103, chunks[0].workspace_rows);
}

TEST(PlanChunks, SizesEveryChunkForItsOwnRequests) {
  const std::vector<int64_t> seq_lens{80, 9, 7, 3, 0};
  const std::vector<int64_t> gather_lens{10, 20, 3, 3, 0};
  const std::vector<ChunkPlan> chunks = plan_chunks(seq_lens, gather_lens, 4, 512, 2);
  ASSERT_EQ(3u, chunks.size());
  const auto expect_chunk = [&](size_t i, int64_t first, int64_t last, int64_t n, int64_t m) {
    EXPECT_EQ(first, chunks[i].first);
    EXPECT_EQ(last, chunks[i].last);
    EXPECT_EQ(n, chunks[i].compressed_rows);
    EXPECT_EQ(m, chunks[i].workspace_rows);
  };
  expect_chunk(0, 0, 2, 20, 40);
  expect_chunk(1, 2, 4, 1, 4);
  expect_chunk(2, 4, 5, 0, 0);
}

TEST(PlanChunks, AFullChunkStartsNoOther) {
  const std::vector<int64_t> lens(4, 8);
  EXPECT_EQ(1u, plan_chunks(lens, lens, 4, 512, 4).size());
  EXPECT_EQ(2u, plan_chunks(lens, lens, 4, 512, 3).size());
  EXPECT_EQ(4u, plan_chunks(lens, lens, 4, 512, 1).size());
  EXPECT_TRUE(plan_chunks({}, {}, 4, 512, 1).empty());
}

TEST(PlanChunks, HaveNoCompressedRowsWithoutATopkPart) {
  const std::vector<int64_t> seq_lens{80};
  const std::vector<int64_t> gather_lens{67};
  for (const auto& [ratio, k] : {std::pair{0, 512}, std::pair{1, 0}, std::pair{0, 0}}) {
    const std::vector<ChunkPlan> chunks = plan_chunks(seq_lens, gather_lens, ratio, k, 8);
    EXPECT_EQ(0, chunks[0].compressed_rows);
    EXPECT_EQ(67, chunks[0].workspace_rows);
  }
  EXPECT_EQ(80, plan_chunks(seq_lens, gather_lens, 1, 512, 8)[0].compressed_rows);
}

}  // namespace
}  // namespace exactk::oracle
