// What is measured of the suite is measured rightly: trials leave out what they say, comparators
// miss what they are known to miss, and the count of kills is that of the runs.
#include "props/power.h"

#include <gtest/gtest.h>

#include "fixtures/session.h"
#include "kernels/device/device.h"
#include "kernels/registry.h"
#include "props/runner.h"
#include "tests/props/fake_kernel.h"

namespace exactk::tests {
namespace {

using fixtures::Case;
using oracle::Verdict;
using props::Judge;
using props::Outcome;
using props::Trial;

Case parsed(const std::string& line) {
  const auto c = fixtures::parse_case(line);
  EXPECT_TRUE(c.has_value()) << c.error();
  return c.value_or(Case{});
}

std::string tried(const std::string& line, uint32_t without) {
  const Case c = props::trial_case(parsed(line), without);
  EXPECT_EQ("", fixtures::validate(c));
  return fixtures::print_case(c);
}

TEST(TrialCase, LeavesOutWhatItSaysAndNothingElse) {
  const std::string line =
      "topk.decode rows=6 next_n=3 width=300 k=8 lens=around_k pattern=nan_inf seed=4 misalign=1 "
      "launch=graph replays=2 repeats=2 schedule=7";
  EXPECT_EQ(line, tried(line, 0));
  EXPECT_EQ(line, tried(line, props::kExactJudge | props::kPoisonDifferential | props::kGuards));
  EXPECT_EQ(
      "topk.decode k=8 lens=const:4096 pattern=normal seed=4 tail=lose launch=graph replays=2 "
      "repeats=2 "
      "schedule=7",
      tried(line, props::kInputs));
  EXPECT_EQ(std::string::npos, tried(line, props::kReplay).find("replays"));
  EXPECT_EQ(std::string::npos, tried(line, props::kRepeat).find("repeats"));
  EXPECT_EQ(std::string::npos, tried(line, props::kSchedule).find("schedule"));
  EXPECT_EQ(std::string::npos, tried(line, props::kLaunchModes).find("launch"));
  EXPECT_NE(std::string::npos, tried(line, props::kLaunchModes).find("replays=2"));
}

TEST(TrialCase, CutsSessions) {
  const std::string line = "topk.decode session=launch+lens+stream:1+capture+dirty+replay";
  EXPECT_EQ(1, fixtures::launch_count(parsed(tried(line, props::kReplay))));
  EXPECT_EQ("topk.decode session=launch+lens+launch+dirty+launch",
            tried(line, props::kLaunchModes));
}

struct Bench {
  std::unique_ptr<kernels::Device> device = std::move(*kernels::open_device("host"));
  props::Runner runner{*device};

  Verdict verdict(const std::string& line, const FakeKernel& fake, const Trial& trial) {
    props::RunnerOptions options;
    options.trial = trial;
    return runner.run(parsed(line), fake.under_test(), options).verdict;
  }
};

constexpr const char* kLine = "topk.decode rows=2 width=64 k=8 lens=list:20:5 pattern=normal";
const Trial kWhole;

// The verdict of the whole suite, and of it without the ingredient.
void expect_needs(const FakeKernel& fake, props::Ingredient ingredient, const char* line = kLine) {
  Bench bench;
  EXPECT_EQ(Verdict::kFailed, bench.verdict(line, fake, kWhole)) << name(ingredient);
  EXPECT_EQ(Verdict::kPassed, bench.verdict(line, fake, {ingredient, Judge::kExact}))
      << name(ingredient);
}

TEST(Trials, LeaveOutGuardsAndThePoisonDifferential) {
  const FakeKernel past_the_end([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (row == d.rows - 1) slots.data()[d.k] = 7;
  });
  expect_needs(past_the_end, props::kGuards);
  int launches = 0;
  const FakeKernel reads_output([&launches](const auto& d, int64_t row, auto logits, auto slots) {
    const bool plausible = slots[0] >= 0 && slots[0] < 64;
    right_row(d, row, logits, slots);
    if (plausible) slots[0] = slots[1];
    ++launches;
  });
  expect_needs(reads_output, props::kPoisonDifferential);
}

// Verdicts of the whole suite and of the three comparators.
std::vector<Verdict> verdicts(const FakeKernel& fake) {
  Bench bench;
  std::vector<Verdict> all;
  for (int judge = 0; judge < props::kJudges; ++judge) {
    const uint32_t without = judge == 0 ? 0 : props::power_columns().back().trial.without;
    all.push_back(bench.verdict(kLine, fake, {without, static_cast<Judge>(judge)}));
  }
  return all;
}

TEST(Comparators, MissATailThatIsNotWritten) {
  const FakeKernel fake([](const auto& d, int64_t row, auto logits, auto slots) {
    std::vector<int32_t> answer(slots.size());
    right_row(d, row, logits, answer);
    for (size_t i = 0; i < slots.size(); ++i) {
      if (answer[i] >= 0) slots[i] = answer[i];
    }
  });
  EXPECT_EQ((std::vector{Verdict::kFailed, Verdict::kPassed, Verdict::kPassed, Verdict::kPassed}),
            verdicts(fake));
}

TEST(Comparators, MissADuplicateOfAnEqualValueOrATwentieth) {
  // One of eight is a duplicate: too much for the overlap, and its value gives it away.
  const FakeKernel duplicate([](const auto& d, int64_t row, auto logits, auto slots) {
    right_row(d, row, logits, slots);
    if (row == 0) slots[1] = slots[0];
  });
  EXPECT_EQ((std::vector{Verdict::kFailed, Verdict::kFailed, Verdict::kFailed, Verdict::kFailed}),
            verdicts(duplicate));
  // Where all values are equal no comparator of values sees it.
  Bench bench;
  const std::string equal = "topk.decode rows=2 width=64 k=40 lens=const:64 pattern=all_equal";
  EXPECT_EQ(Verdict::kFailed, bench.verdict(equal, duplicate, kWhole));
  for (const Judge judge : {Judge::kSetThenValues, Judge::kOverlap, Judge::kSortedValues})
    EXPECT_EQ(Verdict::kPassed, bench.verdict(equal, duplicate, {0, judge})) << name(judge);
}

TEST(Comparators, SeeAWrongSelection) {
  const FakeKernel first_columns([](const auto&, int64_t, auto logits, auto slots) {
    for (size_t i = 0; i < slots.size(); ++i)
      slots[i] = i < logits.size() ? static_cast<int32_t>(i) : -1;
  });
  EXPECT_EQ((std::vector{Verdict::kFailed, Verdict::kFailed, Verdict::kFailed, Verdict::kFailed}),
            verdicts(first_columns));
}

TEST(Comparators, LookAtNoTailAndNoGapOfIndexOperations) {
  oracle::FaultSet tail;
  tail.add(oracle::FaultKind::kNeverWritten);
  tail.add(oracle::FaultKind::kGuardBroken);
  EXPECT_FALSE(props::loosely_seen(tail));
  tail.add(oracle::FaultKind::kWrongValue);
  EXPECT_TRUE(props::loosely_seen(tail));
}

// A planted fault whose runs are made up: run `i` of a case with seed i.
props::PlantedFault planted() {
  static const auto mutant = props::select_kernels("host", "mutant.tail_not_written")->front();
  return {"mutant.made_up", "topk.block", "F00", parsed("topk.decode seed=99"), mutant};
}

Outcome outcome_of(Verdict verdict) {
  Outcome o;
  o.verdict = verdict;
  o.seconds = 0.5;
  o.reason = "made up";
  return o;
}

const std::vector<props::PowerTier> kTier = {
    {"three",
     {parsed("topk.decode seed=1"), parsed("topk.decode seed=2"), parsed("index.swa"),
      parsed("topk.decode seed=3")}}};

TEST(Power, CountsRunsAndSecondsUpToTheKill) {
  const auto run = [](const props::Job& job) {
    const uint64_t seed = job.value.seed;
    if (job.options.trial.without == props::kGuards) return outcome_of(Verdict::kPassed);
    return outcome_of(seed >= 2 ? Verdict::kFailed : Verdict::kPassed);
  };
  int steps = 0;
  const auto power = props::measure_fault(planted(), kTier, {64}, run, [&] { ++steps; });
  EXPECT_TRUE(power.reachable);
  const auto& in = power.tiers[0];
  EXPECT_EQ(3, in.runs);
  EXPECT_EQ("011", in.vector);
  EXPECT_EQ(2, in.columns[props::kWhole].runs);
  EXPECT_EQ(1.0, in.columns[props::kWhole].seconds);
  const props::TierPower tier = props::tier_power({power}, kTier, 0);
  EXPECT_EQ(1, tier.killed[props::kWhole]);
  for (size_t column = 1; column < props::power_columns().size(); ++column) {
    const bool guards = props::power_columns()[column].name == "no guards";
    EXPECT_EQ(guards ? 0 : 1, tier.killed[column]) << props::power_columns()[column].name;
    EXPECT_EQ(guards ? 1u : 0u, tier.alive_without[column].size());
  }
}

TEST(Power, TellsAliveFromUnreachable) {
  const auto own_case_alone = [](const props::Job& job) {
    return outcome_of(job.value.seed == 99 ? Verdict::kFailed : Verdict::kPassed);
  };
  const auto silent = [](const props::Job&) { return outcome_of(Verdict::kPassed); };
  const auto step = [] {};
  const auto alive = props::measure_fault(planted(), kTier, {64}, own_case_alone, step);
  const auto unreachable = props::measure_fault(planted(), kTier, {64}, silent, step);
  const props::TierPower tier = props::tier_power({alive, unreachable}, kTier, 0);
  EXPECT_EQ(1, tier.reachable);
  EXPECT_EQ(1, tier.unreachable);
  EXPECT_EQ(0, tier.killed[props::kWhole]);
  EXPECT_EQ((std::vector<std::string>{"mutant.made_up"}), tier.survivors);
}

TEST(Power, WarnsOfFaultsThatTheSameRunsKill) {
  const auto run = [](const props::Job& job) {
    return outcome_of(job.value.seed >= 2 ? Verdict::kFailed : Verdict::kPassed);
  };
  auto one = props::measure_fault(planted(), kTier, {64}, run, [] {});
  auto other = one;
  other.fault.name = "mutant.other";
  EXPECT_EQ((std::vector<std::string>{"mutant.made_up, mutant.other"}),
            props::tier_power({one, other}, kTier, 0).same_vectors);
  other.tiers[0].vector = "010";
  EXPECT_TRUE(props::tier_power({one, other}, kTier, 0).same_vectors.empty());
}

TEST(Power, LooksNoFurtherThanSomeTimeLimits) {
  int runs = 0;
  const auto hang = [&](const props::Job&) {
    ++runs;
    Outcome o = outcome_of(Verdict::kFailed);
    o.reason = "no answer for 3 seconds";
    return o;
  };
  const auto power = props::measure_fault(
      planted(), kTier, {32, 64}, hang, [] {}, 2);
  EXPECT_TRUE(power.tiers[0].columns[props::kWhole].killed);
  // Its own case, two of the tier, and one for each other column.
  EXPECT_LE(runs, 1 + 2 + static_cast<int>(props::power_columns().size()) - 1);
}

TEST(Power, IsNotMeasuredWhereAnUnmodifiedKernelFails) {
  const auto kernels = *props::select_kernels("host", "topk.block");
  const auto run = [](const props::Job& job) {
    return outcome_of(job.value.seed == 3 ? Verdict::kFailed : Verdict::kPassed);
  };
  const auto unseen = [](size_t, const Outcome&) {};
  EXPECT_EQ(Verdict::kFailed,
            props::first_baseline_failure(kernels, kTier, {64}, run, unseen).verdict);
  const auto silent = [](const props::Job&) { return outcome_of(Verdict::kPassed); };
  EXPECT_EQ(Verdict::kPassed,
            props::first_baseline_failure(kernels, kTier, {64}, silent, unseen).verdict);
}

}  // namespace
}  // namespace exactk::tests
