// What a kernel declines, in one sentence that names the value.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/kernels/topk/harness.h"

namespace exactk::kernels::test {
namespace {

exactk_topk_decode plain() {
  exactk_topk_decode d{};
  d.struct_size = sizeof(d);
  d.seq_lens_dim = 1;
  d.rows = 8;
  d.next_n = 1;
  d.width = 300000;
  d.k = 512;
  d.row_stride_elems = d.width;
  d.column_stride_elems = 1;
  d.out_stride_elems = d.k;
  d.arch = "gfx950";
  return d;
}

using Answer = std::pair<exactk_status, std::string>;

Answer ask(const char* name, const exactk_topk_decode& d) {
  char message[256] = "";
  const exactk_status status = kernel(name).supports(&d, message, sizeof(message));
  return {status, message};
}

TEST(TopkRefusal, TakesThePlainShape) {
  for (const char* name : {"topk.block", "topk.split_merge", "topk.k512", "topk.auto"}) {
    EXPECT_EQ(Answer(EXACTK_OK, ""), ask(name, plain()));
  }
}

TEST(TopkRefusal, K512NamesWhatItDoesNotTake) {
  exactk_topk_decode d = plain();
  d.k = 511;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "topk.k512 takes k = 512 only; got 511"), ask("topk.k512", d));
  d = plain();
  d.rows = 385;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "topk.k512 takes at most 384 rows; got 385"),
            ask("topk.k512", d));
  d = plain();
  d.width = 1048577;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "topk.k512 takes at most 1048576 columns; got 1048577"),
            ask("topk.k512", d));
  d = plain();
  d.arch = "gfx942";
  EXPECT_EQ(Answer(EXACTK_DECLINED, "topk.k512 takes architecture gfx950 only; got gfx942"),
            ask("topk.k512", d));
  d = plain();
  d.column_stride_elems = 2;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "topk.k512 takes a column stride of 1 only; got 2"),
            ask("topk.k512", d));
}

TEST(TopkRefusal, K1024NamesWhatItDoesNotTake) {
  exactk_topk_decode d = plain();
  EXPECT_EQ(Answer(EXACTK_DECLINED, "topk.k1024 takes k = 1024 only; got 512"),
            ask("topk.k1024", d));
  d.k = d.out_stride_elems = 1024;
  d.rows = 257;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "topk.k1024 takes at most 256 rows; got 257"),
            ask("topk.k1024", d));
  d.rows = 256;
  d.width = 199999;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "topk.k1024 takes at least 200000 columns; got 199999"),
            ask("topk.k1024", d));
  d.width = 200000;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("topk.k1024", d));
}

TEST(TopkRefusal, MalformedDescriptorsAreErrors) {
  exactk_topk_decode d = plain();
  d.k = 0;
  EXPECT_EQ(Answer(EXACTK_ERROR, "topk.block needs a k of at least 1; got 0"),
            ask("topk.block", d));
  d = plain();
  d.rows = 0;
  EXPECT_EQ(Answer(EXACTK_ERROR, "topk.auto needs a row count of at least 1; got 0"),
            ask("topk.auto", d));
  d = plain();
  d.out_stride_elems = 511;
  EXPECT_EQ(Answer(EXACTK_ERROR, "topk.auto needs an output stride of at least 512; got 511"),
            ask("topk.auto", d));
  d = plain();
  d.seq_lens_dim = 3;
  EXPECT_EQ(Answer(EXACTK_ERROR, "topk.auto needs seq_lens of 1 or 2 dimensions; got 3"),
            ask("topk.auto", d));
}

exactk_topk_prefill plain_prefill() {
  exactk_topk_prefill d{};
  d.struct_size = sizeof(d);
  d.rows = 8;
  d.width = 300000;
  d.k = 512;
  d.row_stride_elems = d.width;
  d.column_stride_elems = 1;
  d.out_stride_elems = d.k;
  d.arch = "gfx950";
  return d;
}

Answer ask_prefill(const char* name, const exactk_topk_prefill& d) {
  char message[256] = "";
  const exactk_status status = kernel(name).supports(&d, message, sizeof(message));
  return {status, message};
}

TEST(TopkRefusal, PrefillTakesThePlainShapeWithoutAWorkspace) {
  const exactk_topk_prefill d = plain_prefill();
  for (const char* name : {"topk.prefill_block", "topk.prefill_stable"}) {
    EXPECT_EQ(Answer(EXACTK_OK, ""), ask_prefill(name, d));
    EXPECT_EQ(0, kernel(name).workspace_bytes(&d));
    EXPECT_STREQ("topk.prefill", kernel(name).op);
  }
}

TEST(TopkRefusal, MalformedPrefillDescriptorsAreErrors) {
  exactk_topk_prefill d = plain_prefill();
  d.k = 0;
  EXPECT_EQ(Answer(EXACTK_ERROR, "topk.prefill_block needs a k of at least 1; got 0"),
            ask_prefill("topk.prefill_block", d));
  d = plain_prefill();
  d.out_stride_elems = 511;
  EXPECT_EQ(
      Answer(EXACTK_ERROR, "topk.prefill_stable needs an output stride of at least 512; got 511"),
      ask_prefill("topk.prefill_stable", d));
  d = plain_prefill();
  exactk_topk_tuning tune = tuning();
  tune.radix_rows = -1;
  d.tuning = &tune;
  EXPECT_EQ(Answer(EXACTK_ERROR, "topk.prefill_block needs tuning values of at least 0; got -1"),
            ask_prefill("topk.prefill_block", d));
}

TEST(TopkRefusal, TheGateNeedsACompressRatio) {
  exactk_topk_decode d = plain();
  EXPECT_EQ(Answer(EXACTK_ERROR, "topk.gated needs a compress ratio of at least 1; got 0"),
            ask("topk.gated", d));
  d.compress_ratio = int64_t{1} << 31;
  EXPECT_EQ(Answer(EXACTK_DECLINED,
                   "topk.gated takes a compress ratio of at most 2147483647; got 2147483648"),
            ask("topk.gated", d));
  d.compress_ratio = 1;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("topk.gated", d));
}

TEST(TopkRefusal, TheFullRadixSideOfTheGateNeedsNoWorkspace) {
  exactk_topk_decode d = plain();
  d.compress_ratio = 1;
  EXPECT_EQ(kernel("topk.auto").workspace_bytes(&d), kernel("topk.gated").workspace_bytes(&d));
  EXPECT_LT(0, kernel("topk.gated").workspace_bytes(&d));
  d.compress_ratio = 4;
  d.k = d.out_stride_elems = 511;
  EXPECT_LT(0, kernel("topk.auto").workspace_bytes(&d));
  EXPECT_EQ(0, kernel("topk.gated").workspace_bytes(&d));
}

TEST(TopkRefusal, ThreadCountsMustFillWholeWaves) {
  exactk_topk_decode d = plain();
  exactk_topk_tuning tune = tuning();
  tune.block_threads = 96;
  d.tuning = &tune;
  EXPECT_EQ(Answer(EXACTK_DECLINED,
                   "topk.block takes blocks of a multiple of 64 threads, up to 1024; got 96"),
            ask("topk.block", d));
}

TEST(TopkRefusal, WidthsBeyondTheIndexAreDeclined) {
  exactk_topk_decode d = plain();
  d.width = int64_t{1} << 31;
  EXPECT_EQ(
      Answer(EXACTK_DECLINED, "topk.block takes a width of at most 2147483647; got 2147483648"),
      ask("topk.block", d));
}

TEST(TopkRefusal, ATooSmallWorkspaceIsAnErrorOfTheLaunch) {
  exactk_topk_decode d = plain();
  const int64_t needed = kernel("topk.k512").workspace_bytes(&d);
  EXPECT_EQ(8 * 16 * 512 * 8, needed);
  alignas(256) static char workspace[256];
  d.workspace = workspace;
  d.workspace_bytes = needed - 1;
  char message[256] = "";
  EXPECT_EQ(EXACTK_ERROR, kernel("topk.k512").launch(&d, message, sizeof(message)));
  EXPECT_STREQ("topk.k512 needs a workspace of 524288 bytes; got 524287", message);
}

TEST(TopkRefusal, AShortMessageBufferIsNotOverrun) {
  exactk_topk_decode d = plain();
  d.k = 511;
  char message[8] = "xxxxxxx";
  EXPECT_EQ(EXACTK_DECLINED, kernel("topk.k512").supports(&d, message, 4));
  EXPECT_STREQ("top", message);
  EXPECT_EQ('x', message[4]);
}

}  // namespace
}  // namespace exactk::kernels::test
