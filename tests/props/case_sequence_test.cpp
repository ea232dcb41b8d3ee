#include "props/case_sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace exactk::tests {
namespace {

using fixtures::Case;

constexpr int kCases = 300;

std::vector<Case> first(uint64_t seed, int count, const props::DrawLimits& limits = {}) {
  props::CaseSequence sequence(seed, limits);
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) cases.push_back(sequence.next());
  return cases;
}

TEST(CaseSequence, IsAFunctionOfTheSeedAndNothingElse) {
  const std::vector<Case> cases = first(7, 60);
  (void)first(8, 20);
  EXPECT_EQ(cases, first(7, 60));
  EXPECT_NE(cases, first(8, 60));
  const std::vector<Case> fewer = first(7, 20);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), cases.begin()));
}

TEST(CaseSequence, HoldsValidCasesWithSomethingAtStakeThatRoundTrip) {
  for (const Case& c : first(3, kCases)) {
    ASSERT_EQ("", fixtures::validate(c)) << fixtures::print_case(c);
    ASSERT_TRUE(props::anything_at_stake(c)) << fixtures::print_case(c);
    ASSERT_EQ(c, *fixtures::parse_case(fixtures::print_case(c)));
  }
}

TEST(CaseSequence, HoldsOnlyTheOperationsThatAreWanted) {
  for (const Case& c : first(4, 40, {60000, 6, {fixtures::Op::kSwa}}))
    ASSERT_EQ(fixtures::Op::kSwa, c.op);
}

TEST(CaseSequence, ReachesMoreBinsThanCasesDrawnApart) {
  for (const uint64_t seed : {1, 2, 3}) {
    props::Coverage apart;
    for (int i = 0; i < kCases; ++i) apart.add(props::bins_of(props::draw_case(seed, i, {})));
    props::CaseSequence sequence(seed, {});
    for (int i = 0; i < kCases; ++i) (void)sequence.next();
    EXPECT_GT(sequence.visited().counts().size(), apart.counts().size() + 20) << "seed " << seed;
  }
}

TEST(CaseSequence, KeepsTheSharesOfOperations) {
  std::map<fixtures::Op, int> learned, apart;
  for (const Case& c : first(5, kCases)) ++learned[c.op];
  for (int i = 0; i < kCases; ++i) ++apart[props::draw_case(5, i, {}).op];
  for (const auto& [op, count] : apart) EXPECT_NEAR(count, learned[op], 40) << fixtures::name(op);
}

TEST(SwitchedOff, StaysOverAStretchAndDiffersBetweenStretchesAndSeeds) {
  const auto same = [](const props::SwitchedOff& a, const props::SwitchedOff& b) {
    return a.keys == b.keys && a.patterns == b.patterns;
  };
  EXPECT_TRUE(same(props::switched_off(1, 0), props::switched_off(1, 9)));
  EXPECT_FALSE(same(props::switched_off(1, 0), props::switched_off(1, 10)));
  EXPECT_FALSE(same(props::switched_off(1, 0), props::switched_off(2, 0)));
}

TEST(SwitchedOff, FeaturesAreGoneFromTheCase) {
  const auto c = fixtures::parse_case(
      "topk.decode rows=2 width=900 k=8 lens=const:900 pattern=nan_inf tail=nan "
      "tune=radix_width:64");
  ASSERT_TRUE(c.has_value()) << c.error();
  const auto nan_inf = 1u << static_cast<uint32_t>(fixtures::PatternKind::kNanInf);
  EXPECT_EQ("topk.decode rows=2 width=900 k=8 lens=const:900",
            fixtures::print_case(props::without(*c, {{"tail", "tune", "slots"}, nan_inf})));
  EXPECT_EQ(*c, props::without(*c, {{"slots"}, 0}));
}

// A session may make lengths that are not empty; without it the case would prove nothing.
TEST(SwitchedOff, LeavesACaseThatWouldHaveNothingAtStake) {
  const auto c = fixtures::parse_case(
      "topk.decode rows=2 width=900 k=8 lens=const:0 replay_lens=list:9 "
      "session=launch+lens+launch");
  ASSERT_TRUE(c.has_value()) << c.error();
  EXPECT_EQ(*c, props::without(*c, {{"session"}, 0}));
}

}  // namespace
}  // namespace exactk::tests
