// What the router kernels decline, in one sentence that names the value.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/kernels/refusal.h"

namespace exactk::kernels::test {
namespace {

exactk_router plain() {
  exactk_router d{};
  d.struct_size = sizeof(d);
  d.logit_bytes = 4;
  d.has_bias = 1;
  d.renormalize = 1;
  d.scaling = 2.5f;
  d.tokens = 8;
  d.experts = 256;
  d.groups = 8;
  d.topk_groups = 4;
  d.k = 8;
  d.logit_stride_elems = 256;
  d.out_stride_elems = 8;
  return d;
}

const Refused<exactk_router> kRefusals[] = {
    {[](auto& d) { d.scoring = 2; }, EXACTK_ERROR, "needs a scoring of 0 or 1; got 2"},
    {[](auto& d) { d.logit_bytes = 8; }, EXACTK_ERROR, "needs logits of 2 or 4 bytes; got 8"},
    {[](auto& d) { d.has_bias = 2; }, EXACTK_ERROR, "needs a bias flag of 0 or 1; got 2"},
    {[](auto& d) { d.renormalize = -1; }, EXACTK_ERROR,
     "needs a renormalize flag of 0 or 1; got -1"},
    {[](auto& d) { d.scaling = std::numeric_limits<float>::infinity(); }, EXACTK_ERROR,
     "needs a finite scaling; got inf"},
    {[](auto& d) { d.tokens = 0; }, EXACTK_ERROR, "needs a token count of at least 1; got 0"},
    {[](auto& d) { d.tokens = 16777216; }, EXACTK_DECLINED,
     "takes a token count of at most 16777215; got 16777216"},
    {[](auto& d) { d.experts = 0; }, EXACTK_ERROR, "needs an expert count of at least 1; got 0"},
    {[](auto& d) { d.groups = 0; }, EXACTK_ERROR, "needs a group count of at least 1; got 0"},
    {[](auto& d) { d.groups = 7; }, EXACTK_ERROR,
     "needs groups of one size; got 256 experts in 7 groups"},
    {[](auto& d) { d.topk_groups = 0; }, EXACTK_ERROR,
     "needs a count of chosen groups of at least 1; got 0"},
    {[](auto& d) { d.topk_groups = 9; }, EXACTK_ERROR,
     "needs at most as many chosen groups as groups; got 9"},
    {[](auto& d) { d.k = 0; }, EXACTK_ERROR, "needs a k of at least 1; got 0"},
    {[](auto& d) {
       d.topk_groups = 1;
       d.groups = 32;
       d.k = d.out_stride_elems = 9;
     },
     EXACTK_ERROR, "needs a k of at most the 8 experts of the chosen groups; got 9"},
    {[](auto& d) { d.logit_stride_elems = 255; }, EXACTK_ERROR,
     "needs a logit stride of at least 256; got 255"},
    {[](auto& d) { d.out_stride_elems = 7; }, EXACTK_ERROR,
     "needs an output stride of at least 8; got 7"},
};

TEST(RouterRefusal, NamesTheValue) {
  for (const char* name : {"router.wave", "router.ranks"}) expect_refused(name, plain(), kRefusals);
}

TEST(RouterRefusal, OneTokenNeedsNoStride) {
  exactk_router d = plain();
  d.tokens = 1;
  d.logit_stride_elems = d.out_stride_elems = 0;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("router.wave", d));
}

TEST(RouterRefusal, AWaveTakesAsManyAsItsSharedMemoryHolds) {
  exactk_router d = plain();
  d.experts = d.logit_stride_elems = 1032;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "router.wave takes an expert count of at most 1024; got 1032"),
            ask("router.wave", d));
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("router.ranks", d));
  d = plain();
  d.groups = 64;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "router.wave takes a group count of at most 32; got 64"),
            ask("router.wave", d));
  d = plain();
  d.k = d.out_stride_elems = 33;
  EXPECT_EQ(Answer(EXACTK_DECLINED, "router.wave takes a k of at most 32; got 33"),
            ask("router.wave", d));
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("router.ranks", d));
}

}  // namespace
}  // namespace exactk::kernels::test
