#include "props/generators.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fixtures/lengths.h"
#include "fixtures/materialize.h"
#include "fixtures/session.h"
#include "oracle/dispatch_policy.h"
#include "props/index_problem.h"
#include "props/topk_problem.h"

namespace exactk::tests {
namespace {

constexpr int kDraws = 3000;
const props::DrawLimits kDecode{60000, 6, {fixtures::Op::kTopkDecode}};
const props::DrawLimits kTopk{60000, 6, {fixtures::Op::kTopkDecode, fixtures::Op::kTopkPrefill}};

TEST(Generators, DrawTheSameCaseForTheSameSeedAndIndexInAnyOrder) {
  const fixtures::Case later = props::draw_case(7, 41, {});
  (void)props::draw_case(7, 3, {});
  EXPECT_EQ(later, props::draw_case(7, 41, {}));
  EXPECT_NE(later, props::draw_case(8, 41, {}));
  EXPECT_NE(later, props::draw_case(7, 42, {}));
}

TEST(Generators, DrawOnlyValidCasesWithinTheLimitsThatRoundTrip) {
  const props::DrawLimits limits{20000, 4, {}};
  for (int i = 0; i < kDraws; ++i) {
    const fixtures::Case c = props::draw_case(1, i, limits);
    ASSERT_EQ("", fixtures::validate(c)) << fixtures::print_case(c);
    if (fixtures::reads(c.op, "width")) {
      ASSERT_LE(c.rows * c.width, limits.elements_max + 385) << fixtures::print_case(c);
    }
    ASSERT_LT(c.replays, limits.launches_max);
    const auto again = fixtures::parse_case(fixtures::print_case(c));
    ASSERT_TRUE(again.has_value()) << again.error();
    ASSERT_EQ(c, *again);
  }
}

TEST(Generators, NeverDrawACaseInWhichEveryRowIsEmpty) {
  for (int i = 0; i < kDraws; ++i) {
    const fixtures::Case c = props::draw_case(3, i, kTopk);
    int64_t longest = 0;
    for (int64_t step = 0; step < fixtures::launch_count(c); ++step) {
      for (const int64_t length : fixtures::row_lengths(c, step))
        longest = std::max(longest, length);
    }
    ASSERT_GT(longest, 0) << fixtures::print_case(c);
  }
}

TEST(Generators, NeverDrawAnIndexCaseOfSentinelsAlone) {
  const props::DrawLimits limits{
      20000, 4, {fixtures::Op::kCombine, fixtures::Op::kTranslate, fixtures::Op::kSwa}};
  for (int i = 0; i < kDraws / 10; ++i) {
    const fixtures::Case c = props::draw_case(6, i, limits);
    ASSERT_TRUE(props::anything_at_stake(props::index_problem(c))) << fixtures::print_case(c);
  }
}

TEST(Generators, ReachEveryPatternLengthRuleLaunchModeAndPath) {
  std::set<fixtures::PatternKind> patterns;
  std::set<fixtures::LengthKind> lengths;
  std::set<fixtures::LaunchMode> launches;
  std::map<oracle::TopkPath, int> paths;
  std::set<int32_t> max_blocks;
  for (int i = 0; i < 2 * kDraws; ++i) {
    const fixtures::Case c = props::draw_case(2, i, kDecode);
    patterns.insert(c.pattern.kind);
    lengths.insert(c.lens.kind);
    launches.insert(c.launch);
    const oracle::TopkDispatch d =
        oracle::topk_dispatch(oracle::TopkMethod::kAuto, props::topk_shape(props::topk_problem(c)));
    ++paths[d.path];
    if (d.path == oracle::TopkPath::kK512) max_blocks.insert(d.max_blocks);
  }
  EXPECT_EQ(fixtures::pattern_list().size(), patterns.size());
  EXPECT_EQ(fixtures::length_list().size(), lengths.size());
  EXPECT_EQ(3u, launches.size());
  EXPECT_EQ(5u, paths.size());
  for (const auto& [path, count] : paths) EXPECT_GE(count, kDraws / 100) << oracle::name(path);
  EXPECT_EQ((std::set<int32_t>{1, 2, 3, 10, 16}), max_blocks);
}

TEST(Generators, ReachEveryOperationVariantAndKindOfIndices) {
  std::map<fixtures::Op, int> ops;
  std::set<std::pair<fixtures::Op, fixtures::Variant>> variants;
  std::set<fixtures::IndexKind> indices;
  for (int i = 0; i < kDraws; ++i) {
    const fixtures::Case c = props::draw_case(4, i, {});
    ++ops[c.op];
    if (fixtures::reads(c.op, "variant")) variants.insert({c.op, c.variant});
    if (fixtures::reads(c.op, "indices")) indices.insert(c.indices.kind);
  }
  EXPECT_EQ(13u, ops.size());
  for (const auto& [op, count] : ops) EXPECT_GE(count, kDraws / 50) << fixtures::name(op);
  EXPECT_EQ(5u + 6u + 3u + 5u + 3u + 3u + 3u, variants.size());
  EXPECT_EQ(6u, indices.size());
}

TEST(Generators, DrawOnlyTheOperationsThatAreWanted) {
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(fixtures::Op::kTopkDecode, props::draw_case(5, i, kDecode).op);
}

// The generator has a table of edges of its own; a policy edge that it does not know would never be
// visited.
TEST(Generators, KnowEveryLengthEdgeOfThePolicy) {
  for (const int64_t rows : {1, 32, 33, 64, 65, 128, 129, 160, 161, 256, 257, 384, 385}) {
    for (const int64_t k : {512, 1024, 2048}) {
      for (const int64_t shift : {0, 4, 9}) {
        fixtures::Case c;
        c.rows = rows;
        c.k = k;
        c.width = 1 << 20;
        c.tune.policy_shift = shift;
        std::set<int64_t> drawn;  // what the length rule `edges` can give
        for (const int64_t edge : fixtures::length_edges(c))
          drawn.insert({edge - 1, edge, edge + 1});
        for (const int64_t edge : oracle::length_edges(props::topk_shape(props::topk_problem(c)))) {
          EXPECT_TRUE(drawn.count(edge) == 1 && (edge == c.width || drawn.count(edge + 1) == 1))
              << "edge " << edge << " of rows " << rows << " k " << k << " shift " << shift;
        }
      }
    }
  }
}

TEST(Generators, DrawPackedRowsOfWhichOneIsNotEmpty) {
  // Their lengths were all drawn as 0 here, even where the other lengths had been mended.
  for (const int64_t index : {48421, 63567, 117365}) {
    const fixtures::Case c = props::draw_case(1, index, {1000, 6, {fixtures::Op::kTranslate}});
    EXPECT_TRUE(props::anything_at_stake(c)) << fixtures::print_case(c);
  }
}

}  // namespace
}  // namespace exactk::tests
