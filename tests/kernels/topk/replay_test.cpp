// A captured launch reads lengths and logits anew at every replay.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/topk/harness.h"
#include "tests/kernels/topk/patterns.h"

namespace exactk::kernels::test {
namespace {

struct Captured {
  const char* kernel;
  int64_t k;
};

class Replay : public testing::TestWithParam<Captured> {};

TEST_P(Replay, FollowsLengthsAndLogitsThatChangedSinceCapture) {
  Problem p;
  p.rows = 3;
  p.width = 4096;
  p.k = GetParam().k;
  p.tune.radix_width = 64;
  p.tune.split_width = 256;
  p.tune.policy_shift = 7;
  p.tune.min_chunk = 100;
  p.bits = ordinary(1);
  p.seq_lens.assign(3, 700);
  Bench bench(kernel(GetParam().kernel), p, {});
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  uint64_t seed = 2;
  for (const int32_t length : {700, 0, 4096, 130, 1100, 511, 2049}) {
    bench.problem.seq_lens = {length, length / 2, 4096 - length};
    bench.problem.bits = seed % 2 == 0 ? masked(seed, 900, ordinary(seed)) : any_bits(seed);
    ++seed;
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.replay());
    EXPECT_EQ("", bench.judge()) << "length " << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Topk, Replay,
                         testing::Values(Captured{"topk.block", 512},
                                         Captured{"topk.split_merge", 512},
                                         Captured{"topk.k512", 512}, Captured{"topk.k1024", 1024},
                                         Captured{"topk.auto", 512}, Captured{"topk.stable", 512},
                                         Captured{"topk.gated", 512}),
                         [](const auto& info) { return std::string(info.param.kernel + 5); });

// The gate's side is a host decision, frozen by the capture; both sides are right at any length.
TEST(Replay, BothSidesOfTheGateFollowLengths) {
  for (const int64_t hint : {16, 17}) {
    Problem p;
    p.rows = 2;
    p.width = 4096;
    p.k = 100;
    p.compress_ratio = 4;
    p.max_seq_len_hint = hint;
    p.tune.policy_shift = 12;
    p.bits = ordinary(1);
    p.seq_lens = {16, 16};
    Bench bench(kernel("topk.gated"), p, {});
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.capture());
    EXPECT_EQ(hint == 16, bench.report.path == EXACTK_PATH_FULL_RADIX);
    for (const int32_t length : {16, 4096, 0, 101}) {
      bench.problem.seq_lens = {length, 4096 - length};
      ASSERT_EQ("", bench.prepare());
      ASSERT_EQ("", bench.replay());
      EXPECT_EQ("", bench.judge()) << "length " << length;
    }
  }
}

TEST(Replay, PrefillFollowsBoundsThatChangedSinceCapture) {
  for (const char* name : {"topk.prefill_block", "topk.prefill_stable"}) {
    Problem p;
    p.rows = 3;
    p.width = 3000;
    p.k = 100;
    p.tune.radix_rows = 2;
    p.bits = any_bits(1);
    Bench bench(kernel(name), p, {});
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.capture());
    for (const int32_t start : {0, 1, 1500, 2900, 2901, 3000}) {
      bench.problem.row_starts = {start, 3000 - start, start / 2};
      bench.problem.row_ends = {3000, start, start / 2 + 99};
      bench.problem.bits = any_bits(static_cast<uint64_t>(start));
      ASSERT_EQ("", bench.prepare());
      ASSERT_EQ("", bench.replay());
      EXPECT_EQ("", bench.judge()) << name << " start " << start;
    }
  }
}

}  // namespace
}  // namespace exactk::kernels::test
