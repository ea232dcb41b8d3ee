// What the attention kernels decline, in one sentence that names the value.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/refusal.h"

namespace exactk::kernels::test {
namespace {

template <class Descriptor>
Descriptor plain() {
  Descriptor d{};
  d.struct_size = sizeof(d);
  d.tokens = 8;
  d.heads = 64;
  d.dim = 576;
  d.dim_v = 512;
  d.out_stride_elems = 64 * 512;
  d.scale = 1;
  return d;
}

exactk_sparse_prefill plain_prefill() {
  auto d = plain<exactk_sparse_prefill>();
  d.key_count = 1000;
  d.k = 128;
  d.index_stride_elems = 128;
  return d;
}

exactk_sparse_decode plain_decode() {
  auto d = plain<exactk_sparse_decode>();
  d.format = EXACTK_KV_V32;
  d.rope = 64;
  d.next_n = 2;
  d.main = {};
  d.main.k = d.main.index_stride_elems = 128;
  d.main.blocks = 10;
  d.main.block_size = 64;
  d.main.block_stride_bytes = 64 * 656;
  return d;
}

TEST(AttentionRefusal, PrefillSaysWhatIsWrong) {
  using D = exactk_sparse_prefill;
  const Refused<D> refusals[] = {
      {[](D& d) { d.variant = 3; }, EXACTK_ERROR, "needs an attention variant from 0 to 2; got 3"},
      {[](D& d) { d.tokens = 0; }, EXACTK_ERROR, "needs a token count of at least 1; got 0"},
      {[](D& d) { d.heads = 65536; }, EXACTK_DECLINED,
       "takes a head count of at most 65535; got 65536"},
      {[](D& d) { d.dim = 0; }, EXACTK_ERROR, "needs a dim of at least 1; got 0"},
      {[](D& d) { d.dim_v = 577; }, EXACTK_DECLINED,
       "takes a dim of the values of at most 576; got 577"},
      {[](D& d) { d.dim_v = d.dim = 1025; }, EXACTK_DECLINED,
       "takes a dim of the values of at most 1024; got 1025"},
      {[](D& d) { d.out_stride_elems = 32767; }, EXACTK_ERROR,
       "needs an output stride of at least 32768; got 32767"},
      {[](D& d) { d.key_count = 0; }, EXACTK_ERROR, "needs a key count of at least 1; got 0"},
      {[](D& d) { d.k = 0; }, EXACTK_ERROR, "needs a k of at least 1; got 0"},
      {[](D& d) { d.index_stride_elems = 127; }, EXACTK_ERROR,
       "needs an index stride of at least 128; got 127"},
      {[](D& d) {
         d.variant = EXACTK_ATTENTION_RAGGED;
         d.k = int64_t{1} << 28;
       },
       EXACTK_DECLINED,
       "takes flat lists of at most 2147483647 entries; got 8 tokens of 268435456 slots"},
  };
  expect_refused("attention.prefill_tiles", plain_prefill(), refusals);
}

const Refused<exactk_sparse_decode> kDecodeRefusals[] = {
    {[](auto& d) { d.next_n = 0; }, EXACTK_ERROR, "needs a next_n of at least 1; got 0"},
    {[](auto& d) { d.format = 3; }, EXACTK_ERROR, "needs a cache format from 0 to 2; got 3"},
    {[](auto& d) { d.rope = 577; }, EXACTK_DECLINED, "takes a rope of at most 576; got 577"},
    {[](auto& d) { d.rope = 65; }, EXACTK_ERROR,
     "needs a dim without rope that is a multiple of 4; got 511"},
    {[](auto& d) { d.dim = 575, d.rope = 63; }, EXACTK_ERROR,
     "needs a rope that is a multiple of 2; got 63"},
    {[](auto& d) { d.main.fp8 = 2; }, EXACTK_ERROR, "needs an fp8 flavour from 0 to 1; got 2"},
    {[](auto& d) { d.main.k = 0; }, EXACTK_ERROR, "needs a k of at least 1; got 0"},
    {[](auto& d) { d.main.blocks = 0; }, EXACTK_ERROR, "needs a block count of at least 1; got 0"},
    {[](auto& d) { d.main.block_size = 0; }, EXACTK_ERROR,
     "needs a block size of at least 1; got 0"},
    {[](auto& d) { d.main.block_stride_bytes = 41980; }, EXACTK_ERROR,
     "needs a block stride of at least 41984; got 41980"},
    {[](auto& d) { d.main.block_stride_bytes = 41986; }, EXACTK_ERROR,
     "needs a block stride that is a multiple of 4; got 41986"},
    {[](auto& d) { d.extra.k = -1; }, EXACTK_ERROR,
     "needs a k of the extra list of at least 0; got -1"},
    {[](auto& d) { d.extra.k = 4; }, EXACTK_ERROR, "needs an index stride of at least 4; got 0"},
};

TEST(AttentionRefusal, DecodeSaysWhatIsWrong) {
  expect_refused("attention.decode_rows", plain_decode(), kDecodeRefusals);
  expect_refused("attention.decode_split", plain_decode(), kDecodeRefusals);
}

TEST(AttentionRefusal, SplitsShareTheGridWithHeads) {
  exactk_sparse_decode d = plain_decode();
  d.heads = 32768;
  d.out_stride_elems = 32768 * 512;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("attention.decode_split", d));
  d.main.k = d.main.index_stride_elems = 129;
  EXPECT_EQ(Answer(EXACTK_DECLINED,
                   "attention.decode_split takes a head count of at most 32767; got 32768"),
            ask("attention.decode_split", d));
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("attention.decode_rows", d));
}

TEST(AttentionRefusal, OneTokenNeedsNoStride) {
  exactk_sparse_prefill d = plain_prefill();
  d.tokens = 1;
  d.index_stride_elems = d.out_stride_elems = 0;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("attention.prefill_tiles", d));
}

TEST(AttentionRefusal, ATooSmallWorkspaceIsAnErrorOfTheLaunch) {
  exactk_sparse_decode d = plain_decode();
  d.main.k = d.main.index_stride_elems = 129;
  const int64_t needed = kernel("attention.decode_split").workspace_bytes(&d);
  EXPECT_EQ(8 * 64 * 2 * (512 + 2) * 4, needed);
  EXPECT_EQ(0, kernel("attention.decode_rows").workspace_bytes(&d));
  char message[256] = "";
  EXPECT_EQ(EXACTK_ERROR, kernel("attention.decode_split").launch(&d, message, sizeof(message)));
  EXPECT_EQ(
      "attention.decode_split needs a workspace of " + std::to_string(needed) + " bytes; got 0",
      message);
}

}  // namespace
}  // namespace exactk::kernels::test
