// The chains end to end: slots and index rows of the columns that the reference selects.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "tests/kernels/chain/harness.h"
#include "tests/kernels/refusal.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

struct Form {
  const char* kernel;
  const char* label;
  int32_t variant;
  int32_t slot_bytes;
};

constexpr Form kForms[] = {
    {"chain.decode_auto", "auto_positional", EXACTK_TRANSLATE_POSITIONAL, 4},
    {"chain.decode_auto", "auto_compact", EXACTK_TRANSLATE_COMPACT, 8},
    {"chain.decode_auto", "auto_ragged", EXACTK_TRANSLATE_RAGGED, 4},
    {"chain.decode_stable", "stable_positional", EXACTK_TRANSLATE_POSITIONAL, 8},
    {"chain.decode_stable", "stable_ragged", EXACTK_TRANSLATE_RAGGED, 8},
};

class DecodeChains : public testing::TestWithParam<std::tuple<Form, int>> {
 protected:
  const Form& form() const { return std::get<0>(GetParam()); }
  Options options(uint64_t schedule_seed = 0) const {
    return {.wave_width = std::get<1>(GetParam()), .schedule_seed = schedule_seed};
  }
  DecodeProblem problem() const {
    DecodeProblem p;
    p.lengths = {2000, 0, 1, 63, 64, 65, 1999};
    p.variant = form().variant;
    p.slot_bytes = form().slot_bytes;
    return p;
  }
};

TEST_P(DecodeChains, MapWhatTheReferenceSelects) {
  DecodeProblem p = problem();
  EXPECT_EQ("", run_chain(form().kernel, p, options()));
}

TEST_P(DecodeChains, CountNothingForInvalidTokens) {
  DecodeProblem p = problem();
  p.valid = {1, 1, 0, 1, 0, 0, 1};
  EXPECT_EQ("", run_chain(form().kernel, p, options()));
}

TEST_P(DecodeChains, RunTheSplitInTheFirstPartOfTheWorkspace) {
  DecodeProblem p = problem();
  p.tune.radix_width = 64;
  p.tune.split_width = 256;
  p.tune.split_blocks = 5;
  p.k = 65;  // so that the lists are no multiple of 256 bytes
  ChainBench bench(kernel(form().kernel), p, options());
  EXPECT_EQ("", bench.run());
}

TEST_P(DecodeChains, FollowLengthsThatChangedSinceCapture) {
  DecodeProblem p = problem();
  ChainBench bench(kernel(form().kernel), p, options());
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  EXPECT_EQ(0, bench.captured().memsets);
  EXPECT_EQ(0, bench.captured().memcpys);
  for (const int32_t length : {2000, 10, 700}) {
    p.lengths = {length, 2000 - length, 0, 64, length / 2, 1, 65};
    p.logits = distinct_logits(static_cast<uint64_t>(length));
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.replay());
    EXPECT_EQ("", bench.judge()) << length;
  }
}

TEST_P(DecodeChains, DoNotDependOnTheSchedule) {
  if (!kOnHost) GTEST_SKIP() << "only the host device has schedules to choose from";
  for (const uint64_t seed : {1u, 2u}) {
    DecodeProblem p = problem();
    EXPECT_EQ("", run_chain(form().kernel, p, options(seed))) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Chain, DecodeChains,
                         testing::Combine(testing::ValuesIn(kForms),
                                          testing::ValuesIn(wave_widths())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).label) + "_wave" +
                                  std::to_string(std::get<1>(info.param));
                         });

PrefillProblem prefill() {
  PrefillProblem p;
  p.query_lens = {3, 5, 1, 4};
  p.seq_lens = {3, 900, 257, 700};  // the first has no compressed entry at first
  return p;
}

class PrefillChain : public testing::TestWithParam<int> {
 protected:
  std::string run(PrefillProblem p) const {
    return run_chain("chain.prefill_block", p, {.wave_width = GetParam()});
  }
};

TEST_P(PrefillChain, CombinesWhatTheReferenceSelects) {
  EXPECT_EQ("", run(prefill()));
}

TEST_P(PrefillChain, CombinesRowsOfBothLaunches) {
  for (const int64_t radix_rows : {1, 12, 13}) {
    PrefillProblem p = prefill();
    p.tune.radix_rows = radix_rows;
    EXPECT_EQ("", run(p)) << radix_rows;
  }
}

TEST_P(PrefillChain, FollowsLengthsThatChangedSinceCapture) {
  PrefillProblem p = prefill();
  p.tune.radix_rows = 6;
  ChainBench bench(kernel("chain.prefill_block"), p, {.wave_width = GetParam()});
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.capture());
  EXPECT_EQ(3, bench.captured().kernels);
  for (const uint64_t seed : {1u, 2u}) {
    p.query_lens = {5, 1, 4, 3};
    p.logits = distinct_logits(seed);
    ASSERT_EQ("", bench.prepare());
    ASSERT_EQ("", bench.replay());
    EXPECT_EQ("", bench.judge()) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Chain, PrefillChain, testing::ValuesIn(wave_widths()),
                         [](const auto& info) { return "wave" + std::to_string(info.param); });

// A split of five lists of 3 * 65 entries, and the scan of a ragged mapping.
DecodeProblem with_two_workspaces() {
  DecodeProblem p;
  p.lengths = {2000, 300, 1000};
  p.k = 65;
  p.variant = EXACTK_TRANSLATE_RAGGED;
  p.tune.radix_width = 64;
  p.tune.split_width = 256;
  p.tune.split_blocks = 5;
  return p;
}

TEST(ChainWorkspace, IsThatOfBothMembersEachRoundedUp) {
  DecodeProblem p = with_two_workspaces();
  const auto device = open_device(kDeviceKind).value();
  const exactk_chain d = p.descriptor(Buffers(*device), {});
  const int64_t first = kernel("topk.auto").workspace_bytes(d.decode);
  const int64_t second = kernel("translate.rows").workspace_bytes(d.translate);
  ASSERT_GT(first, 0);
  ASSERT_GT(second, 0);
  const auto rounded = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
  EXPECT_EQ(rounded(first) + rounded(second), kernel("chain.decode_auto").workspace_bytes(&d));
}

TEST(ChainWorkspace, IsAnErrorOfTheMemberThatHasTooLittle) {
  DecodeProblem p = with_two_workspaces();
  ChainBench bench(kernel("chain.decode_auto"), p, {});
  ASSERT_EQ("", bench.prepare());
  const std::string second = bench.launch(256);
  EXPECT_EQ(0u, second.find("translate.rows needs a workspace of ")) << second;
  const std::string first = bench.launch(bench.workspace_bytes() - 256);
  EXPECT_EQ(0u, first.find("topk.auto needs a workspace of ")) << first;
}

class ChainRefusal : public testing::Test {
 protected:
  // Not in the constructor, which runs before a test is skipped for want of a device.
  void SetUp() override {
    device_ = open_device(kDeviceKind).value();
    d_ = decode_.descriptor(Buffers(*device_), {});
  }

  std::unique_ptr<Device> device_;
  DecodeProblem decode_ = with_two_workspaces();
  exactk_chain d_{};
};

TEST_F(ChainRefusal, TakesWhatBothMembersTake) {
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("chain.decode_auto", d_));
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("chain.decode_stable", d_));
}

TEST_F(ChainRefusal, NamesTheMemberThatDeclines) {
  d_.decode->k = 0;
  EXPECT_EQ(Answer(EXACTK_ERROR, "topk.auto needs a k of at least 1; got 0"),
            ask("chain.decode_auto", d_));
  d_.decode->k = 65;
  d_.translate->block_size = 0;
  const Answer answer = ask("chain.decode_stable", d_);
  EXPECT_EQ(EXACTK_ERROR, answer.first);
  EXPECT_EQ(0u, answer.second.find("translate.rows needs a block size")) << answer.second;
}

TEST_F(ChainRefusal, NeedsBothDescriptors) {
  d_.translate = nullptr;
  EXPECT_EQ(Answer(EXACTK_ERROR,
                   "chain.decode_auto needs a decode and a translate descriptor; got one or none"),
            ask("chain.decode_auto", d_));
  EXPECT_EQ(0, kernel("chain.decode_auto").workspace_bytes(&d_));
  EXPECT_EQ(Answer(EXACTK_ERROR,
                   "chain.prefill_block needs a prefill and a combine descriptor; got one or none"),
            ask("chain.prefill_block", d_));
}

TEST_F(ChainRefusal, NeedsAMappingOfTheIndicesOfItsTopk) {
  const int32_t others = 0;
  d_.translate->indices = &others;
  EXPECT_EQ(Answer(EXACTK_ERROR,
                   "chain.decode_auto needs a mapping of the indices that its top-k writes; got "
                   "others"),
            ask("chain.decode_auto", d_));
}

}  // namespace
}  // namespace exactk::kernels::test
