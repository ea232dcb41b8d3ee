// What the index kernels decline, in one sentence that names the value.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/refusal.h"

namespace exactk::kernels::test {
namespace {

exactk_combine plain_combine() {
  exactk_combine d{};
  d.struct_size = sizeof(d);
  d.tokens = 8;
  d.requests = 2;
  d.k = 512;
  d.topk_width = 512;
  d.topk_stride_elems = 512;
  d.window = 128;
  d.ratio = 4;
  d.workspace_rows = 1000;
  d.compressed_rows = 100;
  d.columns = 640;
  d.out_stride_elems = 640;
  return d;
}

exactk_translate plain_translate() {
  exactk_translate d{};
  d.struct_size = sizeof(d);
  d.slot_bytes = 4;
  d.tokens = 8;
  d.k = 512;
  d.requests = 2;
  d.table_blocks = 10;
  d.table_stride_elems = 10;
  d.index_stride_elems = 512;
  d.out_stride_elems = 512;
  d.block_size = 64;
  d.ratio = 4;
  d.slots_bound = -1;
  return d;
}

exactk_swa plain_swa() {
  exactk_swa d{};
  d.struct_size = sizeof(d);
  d.slot_bytes = 8;
  d.tokens = 8;
  d.requests = 2;
  d.window = 128;
  d.columns = 128;
  d.out_stride_elems = 128;
  d.block_size = 64;
  d.table_blocks = 10;
  d.table_stride_elems = 10;
  return d;
}

const Refused<exactk_combine> kCombineRefusals[] = {
    {[](auto& d) { d.variant = 5; }, EXACTK_ERROR, "needs a combine variant from 0 to 4; got 5"},
    {[](auto& d) { d.variant = -1; }, EXACTK_ERROR, "needs a combine variant from 0 to 4; got -1"},
    {[](auto& d) { d.tokens = 0; }, EXACTK_ERROR, "needs a token count of at least 1; got 0"},
    {[](auto& d) { d.tokens = int64_t{1} << 31; }, EXACTK_DECLINED,
     "takes a token count of at most 16777215; got 2147483648"},
    {[](auto& d) { d.requests = 0; }, EXACTK_ERROR, "needs a request count of at least 1; got 0"},
    {[](auto& d) { d.k = -1; }, EXACTK_ERROR, "needs a k of at least 0; got -1"},
    {[](auto& d) { d.topk_width = 511; }, EXACTK_ERROR,
     "needs a top-k width of at least 512; got 511"},
    {[](auto& d) { d.topk_stride_elems = 511; }, EXACTK_ERROR,
     "needs a top-k stride of at least 512; got 511"},
    {[](auto& d) { d.window = 0; }, EXACTK_ERROR, "needs a window of at least 1; got 0"},
    {[](auto& d) { d.ratio = -4; }, EXACTK_ERROR, "needs a ratio of at least 0; got -4"},
    {[](auto& d) { d.columns = 639; }, EXACTK_ERROR, "needs columns of at least 640; got 639"},
    {[](auto& d) { d.out_stride_elems = 639; }, EXACTK_ERROR,
     "needs an output stride of at least 640; got 639"},
    {[](auto& d) { d.max_image_tokens = 1; }, EXACTK_ERROR,
     "needs columns of at least 641; got 640"},
};

TEST(IndexRefusal, CombineNamesTheValue) {
  expect_refused("combine.fused", plain_combine(), kCombineRefusals);
  expect_refused("combine.fill_first", plain_combine(), kCombineRefusals);
}

TEST(IndexRefusal, OneRowNeedsNoStride) {
  exactk_combine d = plain_combine();
  d.tokens = 1;
  d.topk_stride_elems = d.out_stride_elems = 0;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("combine.fused", d));
}

TEST(IndexRefusal, FillFirstDeclinesRaggedRows) {
  exactk_combine d = plain_combine();
  d.variant = EXACTK_COMBINE_RAGGED;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("combine.fused", d));
  EXPECT_EQ(Answer(EXACTK_DECLINED,
                   "combine.fill_first takes matrices only; got the ragged variant, whose rows "
                   "have no tail to fill"),
            ask("combine.fill_first", d));
}

TEST(IndexRefusal, FlatListsAreCountedIn31Bits) {
  exactk_combine d = plain_combine();
  d.variant = EXACTK_COMBINE_RAGGED;
  d.tokens = 3355443;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("combine.fused", d));
  d.tokens = 3355444;
  EXPECT_EQ(Answer(EXACTK_DECLINED,
                   "combine.fused takes flat lists of at most 2147483647 entries; got 3355444 "
                   "tokens of 640 slots"),
            ask("combine.fused", d));
}

const Refused<exactk_translate> kTranslateRefusals[] = {
    {[](auto& d) { d.variant = 6; }, EXACTK_ERROR, "needs a translate variant from 0 to 5; got 6"},
    {[](auto& d) { d.slot_bytes = 2; }, EXACTK_ERROR, "needs slots of 4 or 8 bytes; got 2"},
    {[](auto& d) { d.tokens = 0; }, EXACTK_ERROR, "needs a token count of at least 1; got 0"},
    {[](auto& d) { d.tokens = 16777216; }, EXACTK_DECLINED,
     "takes a token count of at most 16777215; got 16777216"},
    {[](auto& d) { d.k = 0; }, EXACTK_ERROR, "needs a k of at least 1; got 0"},
    {[](auto& d) { d.index_stride_elems = 511; }, EXACTK_ERROR,
     "needs an index stride of at least 512; got 511"},
    {[](auto& d) { d.out_stride_elems = 511; }, EXACTK_ERROR,
     "needs an output stride of at least 512; got 511"},
    {[](auto& d) { d.requests = 0; }, EXACTK_ERROR, "needs a request count of at least 1; got 0"},
    {[](auto& d) { d.table_stride_elems = 9; }, EXACTK_ERROR,
     "needs a table stride of at least 10; got 9"},
    {[](auto& d) { d.block_size = 0; }, EXACTK_ERROR, "needs a block size of at least 1; got 0"},
    {[](auto& d) { d.block_size = int64_t{1} << 31; }, EXACTK_DECLINED,
     "takes a block size of at most 2147483647; got 2147483648"},
    {[](auto& d) {
       d.variant = EXACTK_TRANSLATE_CAPPED;
       d.ratio = 0;
     },
     EXACTK_ERROR, "needs a ratio of at least 1; got 0"},
    {[](auto& d) {
       d.variant = EXACTK_TRANSLATE_PACK;
       d.slots_bound = -2;
     },
     EXACTK_ERROR, "needs a slot bound of at least -1; got -2"},
    {[](auto& d) {
       d.variant = EXACTK_TRANSLATE_RAGGED;
       d.tokens = 4194304;
     },
     EXACTK_DECLINED,
     "takes flat lists of at most 2147483647 entries; got 4194304 tokens of 512 slots"},
};

TEST(IndexRefusal, TranslateNamesTheValue) {
  expect_refused("translate.rows", plain_translate(), kTranslateRefusals);
}

TEST(IndexRefusal, PackNeedsNoTable) {
  exactk_translate d = plain_translate();
  d.variant = EXACTK_TRANSLATE_PACK;
  d.requests = d.table_blocks = d.table_stride_elems = d.block_size = 0;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("translate.rows", d));
}

const Refused<exactk_swa> kSwaRefusals[] = {
    {[](auto& d) { d.slot_bytes = 0; }, EXACTK_ERROR, "needs slots of 4 or 8 bytes; got 0"},
    {[](auto& d) { d.tokens = -1; }, EXACTK_ERROR, "needs a token count of at least 1; got -1"},
    {[](auto& d) { d.window = 0; }, EXACTK_ERROR, "needs a window of at least 1; got 0"},
    {[](auto& d) { d.columns = 0; }, EXACTK_ERROR, "needs columns of at least 1; got 0"},
    {[](auto& d) { d.out_stride_elems = 127; }, EXACTK_ERROR,
     "needs an output stride of at least 128; got 127"},
    {[](auto& d) { d.table_blocks = 0; }, EXACTK_ERROR, "needs a table width of at least 1; got 0"},
};

TEST(IndexRefusal, SwaNamesTheValue) {
  expect_refused("swa.rows", plain_swa(), kSwaRefusals);
}

TEST(IndexRefusal, ATooSmallWorkspaceIsAnErrorOfTheLaunch) {
  exactk_translate d = plain_translate();
  d.variant = EXACTK_TRANSLATE_RAGGED;
  ASSERT_EQ(256, kernel("translate.rows").workspace_bytes(&d));
  alignas(256) static char workspace[256];
  d.workspace = workspace;
  d.workspace_bytes = 255;
  char message[256] = "";
  EXPECT_EQ(EXACTK_ERROR, kernel("translate.rows").launch(&d, message, sizeof(message)));
  EXPECT_STREQ("translate.rows needs a workspace of 256 bytes; got 255", message);
}

TEST(IndexRefusal, AShortMessageBufferIsNotOverrun) {
  exactk_swa d = plain_swa();
  d.window = 0;
  char message[8] = "xxxxxxx";
  EXPECT_EQ(EXACTK_ERROR, kernel("swa.rows").supports(&d, message, 4));
  EXPECT_STREQ("swa", message);
  EXPECT_EQ('x', message[4]);
}

}  // namespace
}  // namespace exactk::kernels::test
