// Every planted fault shows on an input that reaches it, is harmless on one that does not, and the
// kernel that it was planted in is right on both.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>
#include <string>

#include "kernels/registry.h"
#include "tests/kernels/index/problems.h"
#include "tests/kernels/planted.h"

namespace exactk::kernels::test {
namespace {

using oracle::CombineVariant;
using oracle::TranslateVariant;

struct Planted {
  const char* mutant;
  const char* base;
  const char* verdict;  // words of the verdict on the reached input
  std::function<std::unique_ptr<Problem>()> reached;
  std::function<std::unique_ptr<Problem>()> passed_over;
  Options options{};  // of the reached input
};

std::unique_ptr<Problem> combine(const Batch& batch, const CombineNumbers& numbers) {
  return std::make_unique<CombineProblem>(combine_problem(batch, numbers));
}
std::unique_ptr<Problem> translate(const Batch& batch, const TranslateNumbers& numbers) {
  return std::make_unique<TranslateProblem>(translate_problem(batch, numbers));
}
std::unique_ptr<Problem> swa(const Batch& batch, const SwaNumbers& numbers) {
  return std::make_unique<SwaProblem>(swa_problem(batch, numbers));
}

const Batch kMixed{.query_lens = {3, 1, 9, 4}, .seq_lens = {200, 1, 9, 131}};
const Batch kBelowZero{.query_lens = {8, 4}, .seq_lens = {3, 20}};
const Batch kOne{.query_lens = {1}, .seq_lens = {1}};

Batch skipping() {
  Batch batch = kMixed;
  batch.skip = 2;
  batch.extra = 2;
  return batch;
}

// A row that is as long as its columns.
CombineNumbers no_tail() {
  return {.k = 0, .window = 128};
}
const Batch kFull{.query_lens = {2}, .seq_lens = {300}};

std::unique_ptr<Problem> all_valid() {
  TranslateProblem p = translate_problem({.query_lens = {3}, .seq_lens = {200}}, {});
  for (int32_t& index : p.indices) {
    index = 5;
  }
  return std::make_unique<TranslateProblem>(std::move(p));
}

// More requests than half a wave has lanes.
Batch many_requests() {
  return {.query_lens = std::vector<int32_t>(40, 1), .seq_lens = std::vector<int32_t>(40, 64)};
}

std::unique_ptr<Problem> near_blocks() {
  TranslateProblem p = translate_problem(kMixed, {.slot_bytes = 8});
  for (int32_t& block : p.paged.block_table) {
    block %= 1000;
  }
  return std::make_unique<TranslateProblem>(std::move(p));
}

const Planted kPlanted[] = {
    {"mutant.window_not_gathered", "combine.fused", "wrong value",
     [] {
       return combine(kMixed,
                      {.variant = CombineVariant::kGathered, .window = 96, .gather_short = true});
     },
     [] { return combine(kMixed, {.variant = CombineVariant::kGathered, .window = 96}); }},
    {"mutant.negative_length", "combine.fused", "lens row 0 slot 0: wrong value, want 0, got -4",
     [] { return combine(kBelowZero, {}); }, [] { return combine(kMixed, {}); }},
    {"mutant.first_query_ignored", "combine.fused", "wrong value",
     [] { return combine(skipping(), {}); }, [] { return combine(kMixed, {}); }},
    {"mutant.combine_tail_kept", "combine.fused", "never written",
     [] { return combine(kMixed, {}); }, [] { return combine(kFull, no_tail()); }},
    {"mutant.ratio_zero_is_one", "combine.fused", "indices row 0 slot 0: sentinel inside",
     [] { return combine(kMixed, {.ratio = 0}); }, [] { return combine(kMixed, {.ratio = 1}); }},
    {"mutant.topk_width_is_stride", "combine.fused", "wrong value",
     [] { return combine(kMixed, {.stride_pad = 8}); },
     [] { return combine(kMixed, {.width_pad = 8}); }},
    {"mutant.indptr_of_counts", "combine.fused", "indptr row 2 slot 0: wrong value",
     [] { return combine(kMixed, {.variant = CombineVariant::kRagged}); },
     [] { return combine(kOne, {.variant = CombineVariant::kRagged}); }},
    {"mutant.window_of_first_request", "combine.fused", "wrong value",
     [] { return combine(kMixed, {}); }, [] { return combine(kFull, {}); }},
    {"mutant.slot_in_32_bits", "translate.rows", "wrong value",
     [] { return translate(kMixed, {.slot_bytes = 8}); }, [] { return near_blocks(); }},
    {"mutant.requests_of_one_size", "translate.rows", "wrong value",
     [] { return translate(kMixed, {}); },
     [] {
       return translate({.query_lens = {2, 2}, .seq_lens = {200, 90}}, {});
     }},
    {"mutant.invalid_slot_kept", "translate.rows", "never written",
     [] { return translate(kMixed, {}); }, [] { return all_valid(); }},
    {"mutant.sum_not_reset", "translate.rows", "row 0 slot 0",
     [] { return translate(kMixed, {.variant = TranslateVariant::kRagged}); },
     [] { return translate(kMixed, {.variant = TranslateVariant::kCompact}); }},
    {"mutant.table_width_is_stride", "translate.rows", "wrong value",
     [] { return translate(kMixed, {.table_pad = 3}); }, [] { return translate(kMixed, {}); }},
    {"mutant.cap_is_width", "translate.rows", "guard broken",
     [] { return translate(kMixed, {.variant = TranslateVariant::kCapped, .cap = 9}); },
     [] { return translate(kMixed, {.variant = TranslateVariant::kCapped, .cap = 16}); }},
    {"mutant.window_begins_late", "swa.rows", "",
     [] {
       return swa({.query_lens = {1, 1}, .seq_lens = {32, 33}}, {});
     },
     [] {
       return swa({.query_lens = {1, 1}, .seq_lens = {32, 34}}, {});
     }},
    {"mutant.image_widens_twice", "combine.fused", "wrong value",
     [] { return combine(kMixed, {.variant = CombineVariant::kVision, .images = 8}); },
     [] { return combine(kMixed, {.variant = CombineVariant::kVision, .images = 0}); }},
    {"mutant.requests_in_32_lanes", "combine.fused", "wrong value",
     [] { return combine(many_requests(), {}); }, [] { return combine(kMixed, {}); }},
    {"mutant.reached_late", "translate.rows", "sentinel inside",
     [] { return translate(kMixed, {.variant = TranslateVariant::kCapped, .cap = 16}); },
     [] { return translate(kMixed, {}); }},
    {"mutant.padding_counts", "translate.rows", "lens row 4 slot 0: wrong value, want 0",
     [] { return translate(kMixed, {}); },
     [] { return translate({.query_lens = {3}, .seq_lens = {200}}, {}); }},
    {"mutant.believable_slot_kept",
     "translate.rows",
     "never written",
     [] { return translate(kMixed, {}); },
     [] { return translate(kMixed, {}); },
     {.output_byte = 0x11}},
    {"mutant.sums_overlap", "translate.rows", "slots row 0",
     [] {
       return translate({.query_lens = {1}, .seq_lens = {200}},
                        {.variant = TranslateVariant::kCompact, .k = 2048});
     },
     [] { return translate(kMixed, {.variant = TranslateVariant::kCompact}); }},
    {"mutant.waves_of_64",
     "translate.rows",
     "lens row 0",
     [] { return translate(kMixed, {}); },
     [] { return translate(kMixed, {}); },
     {.wave_width = 32}},
    {"mutant.block_size_power_of_2", "translate.rows", "wrong value",
     [] { return translate(kMixed, {.block_size = 48}); },
     [] { return translate(kMixed, {.block_size = 32}); }},
    {"mutant.packed_row_too_long", "translate.rows", "wrong value",
     [] { return translate(kMixed, {.variant = TranslateVariant::kPack}); },
     [] { return translate(kMixed, {.variant = TranslateVariant::kFlat}); }},
    {"mutant.compact_by_arrival",
     "translate.rows",
     "wrong value",
     [] { return translate(kMixed, {.variant = TranslateVariant::kCompact, .k = 64}); },
     [] { return translate(kMixed, {.variant = TranslateVariant::kCompact, .k = 64}); },
     {.schedule_seed = 1}},
    {"mutant.row_end_not_awaited",
     "combine.fused",
     "",
     [] { return combine(kMixed, {.window = 1024}); },
     [] { return combine(kMixed, {.window = 1024}); },
     {.schedule_seed = 1}},
    {"mutant.swa_slot_in_32_bits", "swa.rows", "wrong value",
     [] {
       return swa({.query_lens = {1, 1}, .seq_lens = {32, 33}}, {.slot_bytes = 8});
     },
     [] {
       return swa({.query_lens = {1, 1}, .seq_lens = {32, 33}}, {});
     }},
};

class IndexMutant : public testing::TestWithParam<Planted> {};

TEST_P(IndexMutant, ShowsWhereItIsReached) {
  if (!shows_here(GetParam().mutant)) {
    GTEST_SKIP() << "shows for certain on the host device alone";
  }
  const auto problem = GetParam().reached();
  EXPECT_EQ("", run(GetParam().base, *problem, GetParam().options));
  const std::string verdict = run(GetParam().mutant, *problem, GetParam().options);
  EXPECT_NE("", verdict);
  EXPECT_NE(std::string::npos, verdict.find(GetParam().verdict)) << verdict;
}

TEST_P(IndexMutant, IsHarmlessElsewhere) {
  if (!shows_here(GetParam().mutant)) {
    GTEST_SKIP() << "is elsewhere on the host device alone";
  }
  const auto problem = GetParam().passed_over();
  EXPECT_EQ("", run(GetParam().base, *problem));
  EXPECT_EQ("", run(GetParam().mutant, *problem));
}

INSTANTIATE_TEST_SUITE_P(Index, IndexMutant, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.mutant + 7); });

// The sum starts from what the call before left, so zeros hide the fault for one call.
TEST(IndexMutants, ASumThatIsNotResetShowsAtTheSecondCallOverZeros) {
  TranslateProblem p = translate_problem(kMixed, {.variant = TranslateVariant::kRagged});
  Bench bench(kernel("mutant.sum_not_reset"), p, {.workspace_byte = 0});
  EXPECT_EQ("", bench.run());
  ASSERT_EQ("", bench.prepare());
  ASSERT_EQ("", bench.launch());
  ASSERT_EQ("", bench.launch());
  EXPECT_NE("", bench.judge());
}

TEST(IndexMutants, AreAllTestedHere) {
  std::set<std::string_view> tested;
  for (const Planted& planted : kPlanted) {
    tested.insert(planted.mutant);
  }
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    if (std::string_view(mutant.kernel->op).starts_with("index.")) {
      EXPECT_TRUE(tested.contains(mutant.kernel->name)) << mutant.kernel->name;
    }
  }
}

}  // namespace
}  // namespace exactk::kernels::test
