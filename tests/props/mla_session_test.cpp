// Programs of metadata steps on the host device: what is judged after each, and that the shipped
// builders are right over many random ones.
#include "props/mla_session.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/mutants/metadata_mutants.h"
#include "props/mla_generator.h"
#include "props/mla_variants.h"

namespace exactk::props {
namespace {

using kernels::metadata::Variant;

class MlaSession : public testing::Test {
 protected:
  void SetUp() override { device_ = std::move(*kernels::open_device("host")); }

  MlaOutcome run(const Variant& variant, const MlaProgram& program, int wave = 64) {
    return run_mla_program(*device_, variant, program, {.wave_width = wave, .workers = 1});
  }
  MlaOutcome run(const Variant& variant, const std::string& text, int wave = 64) {
    const auto program = parse_mla_program(text);
    EXPECT_TRUE(program) << text << ": " << program.error();
    return run(variant, program.value_or(MlaProgram{}), wave);
  }
  static std::string text(const MlaOutcome& outcome) {
    return outcome.failure ? outcome.failure->what + ": " + outcome.failure->why : "";
  }

  std::unique_ptr<kernels::Device> device_;
};

const Variant& variant(std::string_view name) {
  const auto found = select_variants(name);
  EXPECT_TRUE(found) << found.error();
  return *found->front();
}

TEST_F(MlaSession, PassesOnEveryProgramThatReachesAFaultAtBothWaveWidths) {
  for (const Variant& mutant : kernels::planted::metadata_mutants()) {
    for (const int wave : {32, 64}) {
      EXPECT_EQ("", text(run(variant(mutant.base), std::string(mutant.reaching_program), wave)));
      EXPECT_EQ("", text(run(variant("mla.serial"), std::string(mutant.reaching_program), wave)));
      EXPECT_NE("", text(run(mutant, std::string(mutant.reaching_program), wave)))
          << mutant.name << " is not reached at wave " << wave;
    }
  }
}

void expect_right(kernels::Device& device, const Variant& shipped, uint64_t seed,
                  uint64_t programs) {
  int64_t commands = 0, reused = 0;
  std::set<MlaAction> actions;
  for (uint64_t i = 0; i < programs; ++i) {
    const MlaProgram program = random_mla_program(seed, i);
    const MlaOutcome outcome = run_mla_program(device, shipped, program,
                                               {.wave_width = i % 2 == 0 ? 32 : 64, .workers = 1});
    ASSERT_FALSE(outcome.failure) << print_mla_program(program) << "\n"
                                  << outcome.failure->what << ": " << outcome.failure->why;
    commands += outcome.commands;
    reused += outcome.plans_reused;
    for (const MlaCommand& command : program.commands) actions.insert(command.action);
  }
  EXPECT_EQ(5u, actions.size()) << "a command that no program has is not tested";
  EXPECT_GT(commands, static_cast<int64_t>(programs) * 3);
  EXPECT_GT(reused * 50, commands) << "a cache that never hits can't be wrong";
}

TEST_F(MlaSession, FindsNothingInTheShippedBuilders) {
  expect_right(*device_, variant("mla.parallel"), 11, 300);
  expect_right(*device_, variant("mla.serial"), 12, 300);
}

TEST_F(MlaSession, JudgesWhatAGraphReadsAtItsReplayAndNotWhatWasThereAtTheCapture) {
  const std::string program =
      "mla k=4 tokens=8 ; build 1/9 1/9 ; capture ; build 1/2 1/0 ; replay ; build 1/3 ; replay ; "
      "build ; replay";
  for (const char* name : {"mla.parallel", "mla.serial"})
    EXPECT_EQ("", text(run(variant(name), program)));
  // The graph's planner goes over two rows and reads the tail of the running sum.
  EXPECT_NE("", text(run(variant("mutant.mla_indptr_tail_kept"),
                         "mla k=4 tokens=8 ; build 1/9 1/9 ; capture ; build 1/2 ; replay")));
}

TEST_F(MlaSession, SaysAtWhichCommandWhatIsWrong) {
  const MlaOutcome outcome =
      run(variant("mutant.mla_request_tail_kept"), "mla k=4 ; build 1/4 1/4 ; build 1/4 ; run");
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(1u, outcome.failure->command);
  EXPECT_EQ(2, outcome.commands) << "nothing is run behind a failure";
  EXPECT_EQ("req_id_per_token", outcome.failure->what);
  EXPECT_EQ(
      "req_id_per_token[1] is 1, want 0: it is still that of the step before (1 of 16 elements are "
      "wrong)",
      outcome.failure->why);
}

TEST_F(MlaSession, CountsWhatWasAtStake) {
  EXPECT_EQ(0, run(variant("mla.serial"), "mla ; build 2/0 0/9 ; run").keys);
  const MlaOutcome outcome = run(variant("mla.serial"), "mla k=4 ; build 2/2 ; build 2/2");
  EXPECT_EQ(6, outcome.keys);
  EXPECT_EQ(1, outcome.plans_reused);
}

TEST(MlaVariants, AreChosenByNameAndFaultsByMutantAlone) {
  EXPECT_EQ(2u, select_variants("*")->size());
  EXPECT_EQ(1u, select_variants("mla.serial,mla.s*")->size());
  EXPECT_EQ(kernels::planted::metadata_mutants().size(), select_variants("mutant.*")->size());
  EXPECT_NE(std::string::npos, select_variants("topk.*").error().find("exactk list metadata"));
}

}  // namespace
}  // namespace exactk::props
