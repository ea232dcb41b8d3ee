// Programs of metadata steps as text, and what makes one invalid.
#include "props/mla_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "props/mla_generator.h"
#include "props/mla_shrink.h"

namespace exactk::props {
namespace {

std::string error_of(const std::string& text) {
  const auto parsed = parse_mla_program(text);
  return parsed ? "" : parsed.error();
}

TEST(MlaProgram, IsReadAsItIsWritten) {
  const auto program = parse_mla_program(
      "mla k=4 tokens=16 workers=8 heads=16 ; build 1/10 3/10 host=bound:8 ; run ; heads 32 ; "
      "capture ; replay");
  ASSERT_TRUE(program) << program.error();
  EXPECT_EQ((MlaProgram{.k = 4,
                        .tokens = 16,
                        .workers = 8,
                        .heads = 16,
                        .commands = {{MlaAction::kBuild, {{1, 10}, {3, 10}}, HostKnows::kBound, 8},
                                     {MlaAction::kRun},
                                     {.action = MlaAction::kHeads, .value = 32},
                                     {MlaAction::kCapture},
                                     {MlaAction::kReplay}}}),
            *program);
  EXPECT_EQ("mla ; build 1/10 3/10 host=bound:8 ; run ; heads 32 ; capture ; replay",
            print_mla_program(*program));
}

TEST(MlaProgram, OfAnySeedIsValidAndSurvivesPrintingAndReading) {
  size_t most = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    const MlaProgram program = random_mla_program(3, i);
    EXPECT_EQ("", problem_of(program));
    const auto again = parse_mla_program(print_mla_program(program));
    ASSERT_TRUE(again) << print_mla_program(program) << ": " << again.error();
    EXPECT_EQ(program, *again);
    EXPECT_EQ(program, random_mla_program(3, i)) << "a function of seed and index";
    EXPECT_LE(std::ssize(program.commands), kMlaCommandsMax);
    most = std::max(most, program.commands.size());
  }
  EXPECT_GE(most, 10u);
}

TEST(MlaProgram, IsRefusedWithTheWordAndWhatToDo) {
  const std::pair<const char*, const char*> kRefused[] = {
      {"", "begins with 'mla'"},
      {"build 1/10", "begins with 'mla'"},
      {"mla k=x", "'k=x' is no number"},
      {"mla depth=4", "'depth=4' is no limit"},
      {"mla schedule=-1", "'schedule=-1' is no number"},
      {"mla ;", "an empty command"},
      {"mla ; grow", "'grow' is no command"},
      {"mla ; build 1", "'1' is no request"},
      {"mla ; build 1/x", "'1/x' is no request"},
      {"mla ; build 1/10 host=guess", "'host=guess' is nothing that a host knows"},
      {"mla ; heads", "'heads' needs one number"},
      {"mla ; build 1/10 ; run 2", "'run' takes nothing"},
      {"mla k=0", "k=0; use 1 to"},
      {"mla ; run", "command 1, 'run': run and capture need a build of at least one token"},
      {"mla ; build ; capture", "need a build of at least one token"},
      {"mla ; build 1/10 ; replay", "a replay needs a capture"},
      {"mla ; build 1/10 ; capture ; build 2/10 ; replay", "a graph of 1 tokens can't be replayed"},
      {"mla ; build 1/9 ; capture ; heads 32 ; build 1/9 ; replay", "for 16 heads can't be"},
      {"mla ; build 1/10 host=stale", "there is none before"},
      {"mla ; heads 0", "heads 0; use 1 to"},
      {"mla tokens=2 ; build 3/10", "1 requests and 3 tokens"},
      {"mla tokens=2 ; build 0/10 0/10 0/10", "3 requests and 0 tokens"},
      {"mla ; build 1/-1", "a request of 1/-1"},
      {"mla ; build 1/65537", "a request of 1/65537"},
      {"mla ; build 1/10 host=bound:-1", "a slack of -1"},
  };
  for (const auto& [text, words] : kRefused)
    EXPECT_NE(std::string::npos, error_of(text).find(words)) << text << ": " << error_of(text);
}

TEST(MlaProgram, MayReplayForFewerTokensThanWereCaptured) {
  EXPECT_EQ("", error_of("mla ; build 1/10 2/10 ; capture ; build ; replay ; build 3/4 ; replay"));
}

TEST(MlaProgramShrinking, TriesSmallerValidProgramsOnly) {
  for (uint64_t i = 0; i < 50; ++i) {
    const MlaProgram program = random_mla_program(4, i);
    for (const MlaProgram& next : smaller_programs(program)) {
      EXPECT_EQ("", problem_of(next));
      EXPECT_NE(program, next);
      EXPECT_LE(next.commands.size(), program.commands.size());
    }
  }
}

// Fails in a place of its own if the program has a build of more than 5 positions before a replay.
MlaOutcome fails_after_long_build(const MlaProgram& program) {
  bool seen = false;
  for (size_t i = 0; i < program.commands.size(); ++i) {
    for (const MlaRequest& request : program.commands[i].requests) seen |= request.seq_len > 5;
    if (seen && program.commands[i].action == MlaAction::kReplay)
      return {MlaFailure{i, "work plan", "as planted"}};
  }
  return {};
}

TEST(MlaProgramShrinking, FindsTheSmallestProgramThatFailsAlike) {
  const auto program = parse_mla_program(
      "mla k=17 tokens=33 workers=20 heads=32 schedule=9 ; build 2/9 1/40 host=none ; run ; heads "
      "17 ; build 3/7 1/1 host=bound:4 ; capture ; run ; build 1/77 host=stale ; replay ; build "
      "1/5");
  ASSERT_TRUE(program) << program.error();
  const MlaShrunk small =
      shrink_mla_program(*program, fails_after_long_build(*program), fails_after_long_build);
  EXPECT_EQ("mla k=1 tokens=1 workers=1 ; build 1/6 ; capture ; replay",
            print_mla_program(small.program));
  EXPECT_TRUE(small.minimal);
  EXPECT_EQ(2u, small.outcome.failure->command);
}

// Fails if two builds have as many tokens, and any.
MlaOutcome fails_with_builds_alike(const MlaProgram& program) {
  for (size_t i = 1; i < program.commands.size(); ++i) {
    const int64_t tokens = tokens_of(program.commands[i]);
    if (tokens > 0 && tokens == tokens_of(program.commands[i - 1]))
      return {MlaFailure{i, "work plan", "as planted"}};
  }
  return {};
}

TEST(MlaProgramShrinking, MakesBuildsSmallerThatHaveToStayAlike) {
  const auto program = parse_mla_program("mla ; build 2/9 5/9 ; build 5/7 2/7 ; run");
  ASSERT_TRUE(program) << program.error();
  const MlaShrunk small =
      shrink_mla_program(*program, fails_with_builds_alike(*program), fails_with_builds_alike);
  EXPECT_EQ("mla k=1 tokens=1 workers=1 ; build 1/0 ; build 1/0", print_mla_program(small.program));
}

TEST(MlaProgramShrinking, StopsAtItsLimit) {
  const auto program = parse_mla_program("mla ; build 4/9 1/40 ; run ; capture ; replay ; run");
  ASSERT_TRUE(program) << program.error();
  const MlaShrunk small = shrink_mla_program(*program, fails_after_long_build(*program),
                                             fails_after_long_build, {.executions = 3});
  EXPECT_EQ(3, small.executions);
  EXPECT_FALSE(small.minimal);
}

}  // namespace
}  // namespace exactk::props
