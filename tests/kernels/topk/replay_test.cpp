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
                                         Captured{"topk.auto", 512}),
                         [](const auto& info) { return std::string(info.param.kernel + 5); });

}  // namespace
}  // namespace exactk::kernels::test
