// Laws of the shrinker and of its candidates, over random cases of every operation.
#include "props/shrink.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "fixtures/counter_hash.h"
#include "props/generators.h"
#include "props/outcome_json.h"
#include "props/shrink_candidates.h"

namespace exactk::tests {
namespace {

using fixtures::Case;
using fixtures::Op;
using fixtures::print_case;
using oracle::FaultKind;
using oracle::Verdict;
using props::Outcome;

constexpr int kCases = 12;  // of each operation

Case parsed(std::string_view line) {
  auto c = fixtures::parse_case(line);
  EXPECT_TRUE(c.has_value()) << c.error();
  return *c;
}

Outcome verdict_on(const Case& c, bool fails, FaultKind kind = FaultKind::kMissingWinner) {
  Outcome o;
  o.value = c;
  o.verdict = fails ? Verdict::kFailed : Verdict::kPassed;
  if (fails) o.faults.add(kind);
  return o;
}

uint64_t text_hash(const Case& c) {
  uint64_t hash = 0;
  for (const char letter : print_case(c))
    hash = fixtures::hash_pair(hash, static_cast<uint64_t>(letter));
  return hash;
}

// A failure of the case with some rows and some launch named, as a diagnosis would.
Outcome diagnosed(const Case& c, uint64_t seed) {
  Outcome o = verdict_on(c, true);
  o.last_step =
      static_cast<int64_t>(fixtures::hash_pair(seed, 1) % static_cast<uint64_t>(c.replays + 1));
  const int64_t first = static_cast<int64_t>(fixtures::hash_pair(seed, 2) % 12);
  o.failing_rows = {first, first + 1, first + 5};
  return o;
}

void for_each_case(const std::function<void(const Case&, uint64_t seed)>& law) {
  for (const Op op : {Op::kTopkDecode, Op::kTopkPrefill, Op::kCombine, Op::kTranslate, Op::kSwa,
                      Op::kChainDecode, Op::kChainPrefill, Op::kMqaLogits, Op::kMqaPaged}) {
    for (int i = 0; i < kCases; ++i)
      law(props::draw_case(7, i, {60000, 6, {op}}), static_cast<uint64_t>(i));
  }
}

// Judges by a predicate, and notes every case.
struct Judge {
  std::function<bool(const Case&)> fails;
  std::multiset<std::string> seen = {};
  Outcome operator()(const Case& c) {
    seen.insert(print_case(c));
    return verdict_on(c, fails(c));
  }
};

TEST(ShrinkCandidates, AreValidSmallerNotTheCaseItselfAndEachOther) {
  int64_t candidates = 0;
  for_each_case([&](const Case& c, uint64_t seed) {
    std::set<std::string> texts = {print_case(c)};
    for (const props::ShrinkCandidate& candidate : shrink_candidates(c, diagnosed(c, seed))) {
      ++candidates;
      const std::string text = print_case(candidate.value);
      ASSERT_EQ("", fixtures::validate(candidate.value)) << print_case(c);
      ASSERT_EQ(candidate.value, fixtures::normalize(candidate.value));
      ASSERT_LT(props::shrink_measure(candidate.value), props::shrink_measure(c))
          << print_case(c) << "\n"
          << text;
      ASSERT_TRUE(texts.insert(text).second) << print_case(c) << "\n" << text;
      ASSERT_EQ(c.op, candidate.value.op);
    }
  });
  EXPECT_GT(candidates, 9 * kCases * 30);
}

TEST(ShrinkCandidates, NeverHaveANegativeMeasure) {
  for_each_case([](const Case& c, uint64_t) {
    for (const int64_t part : props::shrink_measure(c)) ASSERT_GE(part, 0) << print_case(c);
  });
}

TEST(ShrinkCandidates, BeginWithTheFailingRowOfTheFailingLaunchAlone) {
  const Case c =
      parsed("topk.decode rows=8 width=1024 k=64 lens=list:100:200:300 replays=3 change=none");
  Outcome hints = verdict_on(c, true);
  hints.failing_rows = {5};
  hints.last_step = 2;
  EXPECT_EQ("topk.decode rows=1 width=1024 k=64 lens=const:300 change=none",
            print_case(shrink_candidates(c, hints).front().value));
}

TEST(ShrinkCandidates, BeginWithTheFailingTokenAlone) {
  const Case c =
      parsed("index.swa requests=3 query_lens=list:1:2:4 lens=list:50:60:70 context=100");
  Outcome hints = verdict_on(c, true);
  hints.failing_rows = {4};  // the second token of the third request, at position 67
  hints.last_step = 0;
  EXPECT_EQ("index.swa requests=1 query_lens=const:1 context=100 lens=const:68",
            print_case(shrink_candidates(c, hints).front().value));
}

TEST(ShrinkCandidates, EndAtTheSmallestCaseOfEveryOperation) {
  for_each_case([](const Case& c, uint64_t seed) {
    Case smallest = c;
    int64_t steps = 0;
    for (auto list = shrink_candidates(c, diagnosed(c, seed)); !list.empty(); ++steps) {
      smallest = list[fixtures::hash_pair(seed, static_cast<uint64_t>(steps)) % list.size()].value;
      list = shrink_candidates(smallest, diagnosed(smallest, seed));
      ASSERT_LT(steps, 2000) << print_case(c);
    }
    ASSERT_LE(props::shrink_measure(smallest)[2], 1) << print_case(smallest);
    ASSERT_LE(print_case(smallest).size(), 120u) << print_case(smallest);
  });
}

TEST(Shrink, OfACaseThatAlwaysFailsEndsWithoutACandidate) {
  int64_t most = 0;
  for_each_case([&](const Case& c, uint64_t) {
    Judge judge{[](const Case&) { return true; }};
    const props::ShrinkResult result = props::shrink(verdict_on(c, true), std::ref(judge));
    ASSERT_TRUE(result.minimal) << print_case(c);
    ASSERT_TRUE(shrink_candidates(result.outcome.value, result.outcome).empty());
    most = std::max(most, result.executions);
  });
  EXPECT_LE(most, 120);
}

TEST(Shrink, GivesACaseThatFailsAndJudgesNoneTwiceButForReruns) {
  for_each_case([](const Case& c, uint64_t) {
    Judge judge{[&](const Case& tried) { return tried == c || text_hash(tried) % 3 == 0; }};
    const props::ShrinkResult result =
        props::shrink(verdict_on(c, true), std::ref(judge), {100000, 60, 5});
    ASSERT_TRUE(judge.fails(result.outcome.value)) << print_case(result.outcome.value);
    ASSERT_TRUE(result.minimal);
    ASSERT_EQ(static_cast<int64_t>(judge.seen.size()), result.executions);
    ASSERT_EQ(5, result.smallest_again.failed);
    const std::string smallest = print_case(result.outcome.value);
    for (const std::string& text : judge.seen) {
      const size_t reruns = (text == smallest ? 5 : 0) + (text == print_case(c) ? 1 : 0);
      const size_t search = text == print_case(c) ? 0 : 1;
      ASSERT_EQ(reruns + search, judge.seen.count(text)) << text;
    }
    for (const props::ShrinkCandidate& left :
         shrink_candidates(result.outcome.value, result.outcome))
      ASSERT_FALSE(judge.fails(left.value)) << print_case(left.value);
  });
}

TEST(Shrink, GivesTheSameResultAgain) {
  for_each_case([](const Case& c, uint64_t) {
    const auto once = [&] {
      Judge judge{[&](const Case& tried) { return tried == c || text_hash(tried) % 4 != 0; }};
      return print_case(
          props::shrink(verdict_on(c, true), std::ref(judge), {100000, 60, 1}).outcome.value);
    };
    ASSERT_EQ(once(), once());
  });
}

TEST(Shrink, StopsWhenTheExecutionsAreUsedUpAndSaysSo) {
  for (const int64_t executions : {1, 6, 7, 20}) {
    Judge judge{[](const Case&) { return true; }};
    const Case c = props::draw_case(7, 0, {60000, 6, {Op::kTopkDecode}});
    const props::ShrinkResult result =
        props::shrink(verdict_on(c, true), std::ref(judge), {executions, 60, 5});
    EXPECT_LE(result.executions, executions);
    EXPECT_EQ(static_cast<int64_t>(judge.seen.size()), result.executions);
    EXPECT_EQ(executions == 20, result.smaller > 0 && result.executions > 8) << executions;
    EXPECT_FALSE(result.minimal && executions < 10) << executions;
  }
}

TEST(Shrink, TriesNothingWithoutTimeAndSaysSo) {
  Judge judge{[](const Case&) { return true; }};
  const Case c = parsed("topk.decode rows=8 width=1024");
  const props::ShrinkResult result =
      props::shrink(verdict_on(c, true), std::ref(judge), {200, 0, 5});
  EXPECT_EQ(c, result.outcome.value);
  EXPECT_FALSE(result.minimal);
  EXPECT_EQ(1, result.smallest_again.runs);
}

TEST(Shrink, ReportsAFailureThatDoesNotComeAgainAndKeepsItsEvidence) {
  int64_t runs = 0;
  const auto judge = [&](const Case& c) { return verdict_on(c, ++runs % 20 == 0); };
  Outcome failed = verdict_on(parsed("topk.decode rows=8 width=1024"), true);
  failed.report = "what was seen";
  const props::ShrinkResult result = props::shrink(failed, judge);
  EXPECT_EQ(5, result.executions);
  EXPECT_EQ(0, result.first_again.failed);
  EXPECT_EQ(5, result.first_again.runs);
  EXPECT_FALSE(result.minimal);
  EXPECT_EQ("what was seen", result.outcome.report);
  EXPECT_EQ(failed.value, result.outcome.value);
}

TEST(Shrink, ReportsASmallestCaseThatFailsNowAndThen) {
  int64_t runs = 0;
  const auto judge = [&](const Case& c) { return verdict_on(c, ++runs % 2 == 0); };
  const props::ShrinkResult result =
      props::shrink(verdict_on(parsed("topk.decode rows=8 width=1024"), true), judge);
  EXPECT_EQ(1, result.first_again.failed);
  EXPECT_EQ(2, result.first_again.runs);
  EXPECT_GT(result.smaller, 0);
  EXPECT_EQ(5, result.smallest_again.runs);
  EXPECT_GT(result.smallest_again.failed, 0);
  EXPECT_LT(result.smallest_again.failed, 5);
}

TEST(Shrink, FindsTheExactMinimumOfThresholds) {
  for (int i = 0; i < kCases; ++i) {
    Case c = props::draw_case(9, i, {60000, 6, {Op::kTopkDecode}});
    c.rows = 5 * c.next_n;
    c.width = 2000 + i;
    c.k = 1 + i % 8;
    c = fixtures::normalize(c);
    Judge judge{[](const Case& t) { return t.rows >= 3 && t.width >= 513 && t.k <= 8; }};
    const props::ShrinkResult result = props::shrink(verdict_on(c, true), std::ref(judge));
    ASSERT_TRUE(result.minimal) << print_case(c);
    ASSERT_EQ("topk.decode rows=3 width=513 k=1 lens=const:0", print_case(result.outcome.value))
        << print_case(c);
  }
}

TEST(Shrink, ShrinksNumbersThatMustKeepAProportion) {
  Judge judge{[](const Case& t) { return t.lens.values[0] == t.k && t.lens.count == 1; }};
  const Case c = parsed("topk.decode rows=1 width=4096 k=512 lens=const:512");
  const props::ShrinkResult result = props::shrink(verdict_on(c, true), std::ref(judge));
  EXPECT_EQ("topk.decode rows=1 width=1 k=1 lens=const:1", print_case(result.outcome.value));
}

TEST(Shrink, NeverSlipsToAnotherKindOfFault) {
  const auto judge = [](const Case& c) {
    return verdict_on(c, true, c.rows < 4 ? FaultKind::kOutOfRange : FaultKind::kDuplicate);
  };
  const Outcome failed =
      verdict_on(parsed("topk.decode rows=8 width=1024"), true, FaultKind::kDuplicate);
  EXPECT_EQ(4, props::shrink(failed, judge).outcome.value.rows);
}

TEST(Shrink, TakesFailuresForAlikeByVerdictAndByACommonKind) {
  const Case c = parsed("topk.decode");
  const Outcome duplicate = verdict_on(c, true, FaultKind::kDuplicate);
  Outcome both = duplicate;
  both.faults.add(FaultKind::kOutOfRange);
  Outcome crash = verdict_on(c, true);
  crash.faults = {};
  Outcome unsupported = crash;
  unsupported.verdict = Verdict::kUnsupported;
  EXPECT_TRUE(fails_alike(duplicate, both));
  EXPECT_TRUE(fails_alike(crash, crash));
  EXPECT_TRUE(fails_alike(unsupported, unsupported));
  EXPECT_FALSE(fails_alike(duplicate, crash));
  EXPECT_FALSE(fails_alike(crash, duplicate));
  EXPECT_FALSE(fails_alike(crash, unsupported));
  EXPECT_FALSE(fails_alike(duplicate, verdict_on(c, true, FaultKind::kOutOfRange)));
  EXPECT_FALSE(fails_alike(verdict_on(c, false), verdict_on(c, false)));
}

TEST(Shrink, GetsWhatTheDiagnosisKnowsAcrossTheProcessBoundary) {
  Outcome o = verdict_on(parsed("topk.decode"), true, FaultKind::kWrongValue);
  o.faults.add(FaultKind::kMissingWinner);
  o.failing_rows = {3, 7};
  o.last_step = 2;
  const Outcome back = props::outcome_from_json(props::outcome_to_json(o));
  EXPECT_EQ(o.faults, back.faults);
  EXPECT_EQ(o.failing_rows, back.failing_rows);
  EXPECT_EQ(2, back.last_step);
}

}  // namespace
}  // namespace exactk::tests
