// What the logits kernels decline, in one sentence that names the value.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/refusal.h"

namespace exactk::kernels::test {
namespace {

template <class Descriptor>
Descriptor plain() {
  Descriptor d{};
  d.struct_size = sizeof(d);
  d.rows = 8;
  d.width = 1000;
  d.heads = 64;
  d.dim = 128;
  d.query_stride_bytes = 64 * 128;
  d.head_stride_bytes = 128;
  d.weight_stride_elems = 64;
  d.out_stride_elems = 1024;
  return d;
}

exactk_mqa_logits plain_ragged() {
  auto d = plain<exactk_mqa_logits>();
  d.key_count = 1000;
  d.key_stride_bytes = 128;
  return d;
}

exactk_mqa_logits_paged plain_paged() {
  auto d = plain<exactk_mqa_logits_paged>();
  d.seq_lens_dim = 1;
  d.next_n = 2;
  d.blocks = 100;
  d.block_size = 64;
  d.block_stride_bytes = 64 * 132;
  d.table_blocks = 16;
  d.table_stride_elems = 16;
  return d;
}

TEST(LogitsRefusal, RaggedSaysWhatIsWrong) {
  using D = exactk_mqa_logits;
  const Refused<D> refusals[] = {
      {[](D& d) { d.fp8 = 2; }, EXACTK_ERROR, "needs an fp8 flavour of 0 or 1; got 2"},
      {[](D& d) { d.outside = -1; }, EXACTK_ERROR, "needs an outside mode from 0 to 2; got -1"},
      {[](D& d) { d.compressed = 2; }, EXACTK_ERROR, "needs `compressed` of 0 or 1; got 2"},
      {[](D& d) { d.rows = 0; }, EXACTK_ERROR, "needs a row count of at least 1; got 0"},
      {[](D& d) { d.width = 0; }, EXACTK_ERROR, "needs a width of at least 1; got 0"},
      {[](D& d) { d.heads = 0; }, EXACTK_ERROR, "needs a head count of at least 1; got 0"},
      {[](D& d) { d.dim = 70000; }, EXACTK_DECLINED, "takes a dim of at most 65536; got 70000"},
      {[](D& d) { d.head_stride_bytes = 127; }, EXACTK_ERROR,
       "needs a head stride of at least 128; got 127"},
      {[](D& d) { d.query_stride_bytes = 5; }, EXACTK_ERROR,
       "needs a query stride of at least 128; got 5"},
      {[](D& d) { d.weight_stride_elems = 63; }, EXACTK_ERROR,
       "needs a weight stride of at least 64; got 63"},
      {[](D& d) { d.out_stride_elems = 999; }, EXACTK_ERROR,
       "needs an output stride of at least 1000; got 999"},
      {[](D& d) { d.key_count = 0; }, EXACTK_ERROR, "needs a key count of at least 1; got 0"},
      {[](D& d) { d.key_stride_bytes = 0; }, EXACTK_ERROR,
       "needs a key stride of at least 128; got 0"},
      {[](D& d) { d.rows = 1 << 24; }, EXACTK_DECLINED,
       "takes at most 16777215 tiles of 64 columns; got 16777216 rows of 1000 columns"},
  };
  expect_refused("mqa.tiles", plain_ragged(), refusals);
}

TEST(LogitsRefusal, PagedSaysWhatIsWrong) {
  using D = exactk_mqa_logits_paged;
  const Refused<D> refusals[] = {
      {[](D& d) { d.seq_lens_dim = 3; }, EXACTK_ERROR,
       "needs seq_lens of 1 or 2 dimensions; got 3"},
      {[](D& d) { d.next_n = 0; }, EXACTK_ERROR, "needs a next_n of at least 1; got 0"},
      {[](D& d) { d.blocks = 0; }, EXACTK_ERROR, "needs a block count of at least 1; got 0"},
      {[](D& d) { d.block_size = 0; }, EXACTK_ERROR, "needs a block size of at least 1; got 0"},
      {[](D& d) { d.table_stride_elems = 15; }, EXACTK_ERROR,
       "needs a table stride of at least 16; got 15"},
      {[](D& d) { d.block_stride_bytes = 64; }, EXACTK_ERROR,
       "needs a block stride of at least 8448; got 64"},
      {[](D& d) { d.block_stride_bytes += 2; }, EXACTK_DECLINED,
       "takes blocks whose keys, and which themselves, have a multiple of 4 bytes; got 8192 and "
       "8450"},
      {[](D& d) { d.dim = d.block_size = 1; }, EXACTK_DECLINED,
       "takes blocks whose keys, and which themselves, have a multiple of 4 bytes; got 1 and "
       "8448"},
  };
  expect_refused("mqa.paged_tiles", plain_paged(), refusals);
}

}  // namespace
}  // namespace exactk::kernels::test
