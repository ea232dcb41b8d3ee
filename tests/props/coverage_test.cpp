#include "props/coverage.h"

#include <gtest/gtest.h>

#include "fixtures/case_file.h"
#include "props/case_sequence.h"

namespace exactk::tests {
namespace {

using fixtures::Op;
using props::Bin;

std::set<Bin> bins(const std::string& line) {
  const auto c = fixtures::parse_case(line);
  if (!c) ADD_FAILURE() << c.error();
  return c ? props::bins_of(*c) : std::set<Bin>{};
}

// The bins of one axis, as "a, b".
std::string on_axis(const std::string& line, std::string_view axis) {
  std::string names;
  for (const Bin& bin : bins(line)) {
    if (bin.axis == axis) names += (names.empty() ? "" : ", ") + bin.name;
  }
  return names;
}

struct Want {
  const char* line;
  const char* axis;
  const char* bins;
};
class CoverageBins : public testing::TestWithParam<Want> {};

TEST_P(CoverageBins, AreThoseThatTheCaseVisits) {
  EXPECT_EQ(GetParam().bins, on_axis(GetParam().line, GetParam().axis)) << GetParam().line;
}

INSTANTIATE_TEST_SUITE_P(
    Logits, CoverageBins,
    testing::Values(
        Want{"topk.decode rows=384 width=4096", "rows", "k512 auto 384 0"},
        Want{"topk.decode rows=385 width=4096", "rows", "k512 auto 384 +1"},
        Want{"topk.decode rows=383 width=4096", "rows", "k512 auto 384 -1"},
        Want{"topk.decode rows=33 width=262145", "rows", "k512 auto 32 +1"},
        Want{"topk.decode rows=385 width=4096 ratio=4", "rows",
             "k512 auto 384 +1, k512 gated 384 +1"},
        // Up to this width one block is reserved on both sides of 32 rows.
        Want{"topk.decode rows=33 width=16384", "rows", ""},
        Want{"topk.decode rows=256 width=4096 k=64 ratio=4 lens=const:9", "rows", ""},
        Want{"topk.decode rows=256 width=65537 k=64 ratio=4 full_graph=1", "rows",
             "other k gated 256 0"},
        Want{"topk.prefill rows=12289 width=8 k=4", "rows", "second launch +1"},
        Want{"topk.decode rows=2 width=16385", "width", "to k512 x16 +1"},
        Want{"topk.decode rows=2 width=12288 k=64", "width", "to block_radix x1 +1"},
        Want{"topk.decode rows=2 width=199999 k=64", "width", "to split x10 0"},
        Want{"topk.decode rows=7 width=9000 lens=list:0:1:511:512:513:1024:9000", "length and k",
             "0, 1, 2k, above 16k, k, k+1, k-1"},
        Want{"topk.decode rows=2 width=262145 lens=list:16384:16385", "active blocks",
             "k512 1 of 16, k512 8 of 16"},
        Want{"topk.decode rows=2 width=262145 lens=list:16384:16385", "length edge",
             "k512 1 to 8 +1, k512 1 to 8 0"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=boundary_ties:5:2", "ties",
             "some lose"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=boundary_ties:5:0", "ties",
             "all lose"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=boundary_ties:5:5", "ties",
             "all win"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:10 pattern=all_equal", "ties", ""},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=few_finite:9", "ties",
             "of -inf"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=few_finite:10", "ties", ""},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=lowest_finite:9", "ties",
             "of -FLT_MAX"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=sawtooth:10", "ties",
             "all win"},
        Want{"topk.decode rows=2 width=100 k=11 lens=const:100 pattern=sawtooth:10", "ties",
             "one wins"},
        Want{"topk.decode rows=2 width=9000 lens=const:9000 pattern=fp16_bin:1025", "threshold bin",
             "final below, insertion above, k512 final +1"},
        Want{"topk.decode rows=2 width=900 k=8 lens=const:900 pattern=fp16_bin:32 "
             "tune=final_items:16",
             "threshold bin", "final 2x"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=masked_prefix:89",
             "finite and k", "k+1"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=masked_share:900", "mask",
             "to 90 %"},
        Want{"topk.decode rows=2 width=100 k=10 lens=const:100 pattern=nan_inf", "special",
             "+inf, +nan, -inf, -nan"},
        Want{"topk.decode rows=4 next_n=4 width=100 k=10 lens=const:2", "least length",
             "above 0, below its rows"},
        Want{"topk.decode rows=2 width=9000 lens=const:512 launch=graph replays=2 "
             "replay_lens=list:0:9000",
             "replayed length", "above k, grows, shrinks, to zero"},
        Want{"topk.decode rows=2 width=900 replays=1 replay_lens=list:0", "replayed length", ""},
        Want{"topk.decode rows=2 width=900 k=8 session=stream:1+capture+tail+replay", "change",
             "tail at a replay"}));

INSTANTIATE_TEST_SUITE_P(
    Requests, CoverageBins,
    testing::Values(Want{"index.combine requests=4 query_lens=list:0:0:0:5", "empty request",
                         "first, two in a row"},
                    Want{"index.combine requests=1 query_lens=const:1 lens=const:128 window=128",
                         "position and window", "window 0"},
                    Want{"index.combine requests=1 query_lens=const:1 lens=const:4 k=1 ratio=4",
                         "columns and k", "k 0, whole column"},
                    Want{"index.combine requests=1 query_lens=const:1 lens=const:4 ratio=0",
                         "columns and k", "no top-k part"},
                    Want{"index.combine requests=2 query_lens=const:4 lens=list:3:4 context=9",
                         "sequence", "below its query, its query"},
                    Want{"index.translate requests=2 lens=list:64:65 block_size=64", "block edge",
                         "one more, whole blocks"},
                    Want{"index.translate table=far slots=int64", "table", "far"},
                    Want{"index.translate variant=capped k=8 cap=list:0:8 replays=1", "cap",
                         "0, k"},
                    Want{"index.swa invalid=1000", "invalid", "all"}));

INSTANTIATE_TEST_SUITE_P(
    Router, CoverageBins,
    testing::Values(
        Want{"router.grouped_topk", "experts", "whole waves"},
        Want{"router.grouped_topk experts=320 groups=5", "experts", "above a block, whole waves"},
        Want{"router.grouped_topk experts=65 groups=1 topk_groups=1", "experts", "a partial wave"},
        Want{"router.grouped_topk experts=32 groups=32 topk_groups=8", "groups",
             "32, one expert each"},
        Want{"router.grouped_topk k=32", "chosen experts", "all candidates"},
        Want{"router.grouped_topk topk_groups=8", "chosen groups", "all"},
        Want{"router.grouped_topk bias=large seed=5", "bias", "large negative"},
        Want{"router.grouped_topk bias=none", "bias", "none"},
        Want{"router.grouped_topk renormalize=0 scaling=500", "weights", "scaled scores"},
        Want{"router.grouped_topk rows=3 numbers=ties", "logits",
             "ties: all equal, ties: few, ties: near"},
        Want{"router.grouped_topk rows=6", "tokens", "mod 4 not 0"},
        Want{"router.grouped_topk replays=1 launch=graph change=data", "change",
             "data at a replay"}));

INSTANTIATE_TEST_SUITE_P(
    Attention, CoverageBins,
    testing::Values(
        Want{"attention.sparse_prefill lens=list:0:1:64:65 k=100 context=200", "entries",
             "0, 1, a tile, several tiles"},
        Want{"attention.sparse_prefill lens=list:-3:64:100:20 k=100 context=200", "length of a row",
             "a partial tile, below 0, k, whole tiles"},
        Want{"attention.sparse_prefill variant=full lens=const:0", "length of a row", ""},
        Want{"attention.sparse_prefill k=2048 context=4096 lens=const:2048", "entries",
             "2048, several tiles"},
        Want{"attention.sparse_decode cache=v4 fp8=fnuz extra_k=8", "cache flavours",
             "fnuz, fnuz and extra fn"},
        Want{"attention.sparse_decode fp8=fnuz", "cache flavours", ""},
        Want{"attention.sparse_decode cache=v32 dim=320 rope=64 dim_v=256", "scale groups",
             "rope, several"},
        Want{"attention.sparse_decode lens=const:0 extra_k=8 variant=full indices=hostile:1000",
             "entries", "0"},
        Want{"attention.sparse_prefill dim=33 dim_v=33", "key", "a partial wave, all are values"}));

TEST(Coverage, OfAnOperationHasNothingOfAnother) {
  for (const Bin& bin : bins("chain.decode rows=2 width=900"))
    EXPECT_EQ(Op::kChainDecode, bin.op) << props::bin_text(bin);
}

TEST(Coverage, NamesEachAxisOnce) {
  std::set<std::string_view> names;
  for (const props::AxisInfo& axis : props::axis_list()) {
    EXPECT_TRUE(names.insert(axis.name).second) << axis.name;
    EXPECT_NE("", axis.text) << axis.name;
  }
}

TEST(Coverage, EveryAxisIsVisitedByRandomCases) {
  props::Coverage coverage;
  for (int i = 0; i < 1000; ++i) coverage.add(props::bins_of(props::draw_case(3, i, {})));
  std::set<std::string_view> visited;
  for (const auto& [bin, count] : coverage.counts()) visited.insert(bin.axis);
  for (const props::AxisInfo& axis : props::axis_list())
    EXPECT_EQ(1u, visited.count(axis.name)) << axis.name;
}

TEST(Coverage, RandomSessionsDoEverythingThatSessionsCan) {
  props::Coverage coverage;
  for (int i = 0; i < 1000; ++i)
    coverage.add(props::bins_of(props::draw_case(3, i, {60000, 6, {Op::kTopkDecode}})));
  for (const char* action :
       {"lens", "mask", "data", "poison", "tail", "table", "dirty", "stream 0", "stream 1",
        "stream 2", "launch", "capture", "replay", "run the same", "run another"})
    EXPECT_GT(coverage.count({Op::kTopkDecode, "action", action}), 0) << action;
}

TEST(Coverage, CountsAndNamesWhatIsMissing) {
  props::Coverage coverage;
  coverage.add(bins("topk.decode rows=2 width=900 k=8 pattern=normal"));
  const Bin normal{Op::kTopkDecode, "pattern", "normal"};
  const Bin uniform{Op::kTopkDecode, "pattern", "uniform"};
  EXPECT_EQ(1, coverage.count(normal));
  EXPECT_EQ((std::vector<Bin>{uniform}), coverage.missing({normal, uniform}));
  const std::string table = coverage.table({normal, uniform});
  EXPECT_NE(std::string::npos, table.find("1  required")) << table;
  EXPECT_NE(std::string::npos, table.find("0  MISSING")) << table;
}

class RequiredBins : public testing::TestWithParam<const char*> {};

TEST_P(RequiredBins, AreVisitedByTheTiersStoredCasesAndMissedWithoutThem) {
  const std::string tier = GetParam();
  const auto cases = fixtures::read_case_file(std::string(EXACTK_CASES_DIR "/") + tier + ".cases");
  ASSERT_TRUE(cases.has_value()) << cases.error();
  const std::vector<Bin> required = props::required_bins(tier);
  EXPECT_GT(required.size(), 100u);
  props::Coverage coverage;
  EXPECT_EQ(required.size(), coverage.missing(required).size());
  for (const fixtures::FileCase& c : *cases) coverage.add(props::bins_of(c.value));
  for (const Bin& bin : coverage.missing(required)) ADD_FAILURE() << props::bin_text(bin);
}

INSTANTIATE_TEST_SUITE_P(Tier, RequiredBins,
                         testing::Values("smoke", "ci", "published", "nightly"));

TEST(RequiredBins, AreNoneForAnUnknownTier) {
  EXPECT_TRUE(props::required_bins("smok").empty());
  EXPECT_EQ((std::vector<std::string>{"smoke", "ci", "published", "nightly"}), props::tier_list());
}

// Cases as a group: one that visits what others visit too may go.
TEST(RequiredBins, MissWhatAGroupOfCasesAloneVisited) {
  const auto cases = fixtures::read_case_file(EXACTK_CASES_DIR "/smoke.cases");
  ASSERT_TRUE(cases.has_value()) << cases.error();
  const std::vector<Bin> required = props::required_bins("smoke");
  using Drop = bool (*)(const fixtures::Case&);
  const std::pair<const char*, Drop> groups[] = {
      {"385 rows", [](const fixtures::Case& c) { return c.rows == 385; }},
      {"128 rows", [](const fixtures::Case& c) { return c.rows == 128; }},
      {"graphs", [](const fixtures::Case& c) { return c.launch == fixtures::LaunchMode::kGraph; }},
      {"all_equal",
       [](const fixtures::Case& c) { return c.pattern.kind == fixtures::PatternKind::kAllEqual; }},
      {"64-bit slots",
       [](const fixtures::Case& c) { return c.slots == fixtures::SlotType::kInt64; }},
      {"hostile indices",
       [](const fixtures::Case& c) { return c.indices.kind == fixtures::IndexKind::kHostile; }},
      {"ratio 0", [](const fixtures::Case& c) { return c.ratio == 0; }},
      {"misaligned", [](const fixtures::Case& c) { return c.misalign != 0; }},
      {"chains", [](const fixtures::Case& c) { return c.op == Op::kChainPrefill; }},
  };
  for (const auto& [name, drop] : groups) {
    props::Coverage coverage;
    for (const fixtures::FileCase& c : *cases) {
      if (!drop(c.value)) coverage.add(props::bins_of(c.value));
    }
    EXPECT_FALSE(coverage.missing(required).empty()) << name;
  }
}

}  // namespace
}  // namespace exactk::tests
