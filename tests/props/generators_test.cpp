#include "props/generators.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fixtures/lengths.h"
#include "fixtures/materialize.h"
#include "oracle/dispatch_policy.h"
#include "props/kernel_under_test.h"

namespace exactk::tests {
namespace {

constexpr int kDraws = 3000;

TEST(Generators, DrawTheSameCaseForTheSameSeedAndIndexInAnyOrder) {
  const fixtures::Case later = props::draw_case(7, 41, {});
  (void)props::draw_case(7, 3, {});
  EXPECT_EQ(later, props::draw_case(7, 41, {}));
  EXPECT_NE(later, props::draw_case(8, 41, {}));
  EXPECT_NE(later, props::draw_case(7, 42, {}));
}

TEST(Generators, DrawOnlyValidCasesWithinTheLimitsThatRoundTrip) {
  const props::DrawLimits limits{20000, 4};
  for (int i = 0; i < kDraws; ++i) {
    const fixtures::Case c = props::draw_case(1, i, limits);
    ASSERT_EQ("", fixtures::validate(c)) << fixtures::print_case(c);
    ASSERT_LE(c.rows * c.width, limits.elements_max + 385) << fixtures::print_case(c);
    ASSERT_LT(c.replays, limits.launches_max);
    const auto again = fixtures::parse_case(fixtures::print_case(c));
    ASSERT_TRUE(again.has_value()) << again.error();
    ASSERT_EQ(c, *again);
  }
}

TEST(Generators, NeverDrawACaseInWhichEveryRowIsEmpty) {
  for (int i = 0; i < kDraws; ++i) {
    const fixtures::Case c = props::draw_case(3, i, {});
    int64_t longest = 0;
    for (int64_t step = 0; step <= c.replays; ++step) {
      for (const int64_t length : fixtures::row_lengths(c, step))
        longest = std::max(longest, length);
    }
    ASSERT_GT(longest, 0) << fixtures::print_case(c);
  }
}

TEST(Generators, ReachEveryPatternLengthRuleLaunchModeAndPath) {
  std::set<fixtures::PatternKind> patterns;
  std::set<fixtures::LengthKind> lengths;
  std::set<fixtures::LaunchMode> launches;
  std::map<oracle::TopkPath, int> paths;
  std::set<int32_t> max_blocks;
  for (int i = 0; i < kDraws; ++i) {
    const fixtures::Case c = props::draw_case(2, i, {});
    patterns.insert(c.pattern.kind);
    lengths.insert(c.lens.kind);
    launches.insert(c.launch);
    const oracle::TopkDispatch d =
        oracle::topk_dispatch(oracle::TopkMethod::kAuto, props::topk_shape(c));
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
        for (const int64_t edge : oracle::length_edges(props::topk_shape(c))) {
          EXPECT_TRUE(drawn.count(edge) == 1 && (edge == c.width || drawn.count(edge + 1) == 1))
              << "edge " << edge << " of rows " << rows << " k " << k << " shift " << shift;
        }
      }
    }
  }
}

}  // namespace
}  // namespace exactk::tests
