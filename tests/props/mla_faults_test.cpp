// Every planted fault of a metadata builder is found by a random program, which shrinks and fails
// again from its text.
#include <gtest/gtest.h>

#include <cstdio>

#include "kernels/mutants/metadata_mutants.h"
#include "props/mla_generator.h"
#include "props/mla_session.h"
#include "props/mla_shrink.h"
#include "props/mla_variants.h"

namespace exactk::props {
namespace {

using kernels::metadata::Variant;

std::string text(const MlaOutcome& outcome) {
  return outcome.failure ? outcome.failure->what + ": " + outcome.failure->why : "";
}

// Of random programs of at most 12 commands. The smallest is another program than the one that was
// drawn, so its text alone carries the failure.
TEST(MlaFaults, AreFoundByRandomProgramsThatShrinkAndFailAgainFromTheirText) {
  const auto device = std::move(*kernels::open_device("host"));
  const auto run = [&](const Variant& variant, const MlaProgram& program) {
    return run_mla_program(*device, variant, program, {.wave_width = 64, .workers = 1});
  };
  for (const Variant& mutant : kernels::planted::metadata_mutants()) {
    MlaProgram program;
    MlaOutcome failed;
    uint64_t drawn = 0;
    for (; !failed.failure && drawn < 400; ++drawn) {
      program = random_mla_program(1, drawn);
      failed = run(mutant, program);
    }
    ASSERT_TRUE(failed.failure) << mutant.name << " lives";
    const MlaShrunk small = shrink_mla_program(
        program, failed, [&](const MlaProgram& next) { return run(mutant, next); },
        {.executions = 5000, .seconds = 1000});
    const std::string printed = print_mla_program(small.program);
    EXPECT_LE(std::ssize(small.program.commands), kMlaCommandsMax) << printed;
    EXPECT_LE(small.program.commands.size(), program.commands.size());
    EXPECT_TRUE(small.minimal) << printed;
    const auto read = parse_mla_program(printed);
    ASSERT_TRUE(read) << printed << ": " << read.error();
    EXPECT_EQ(text(small.outcome), text(run(mutant, *read))) << mutant.name << " " << printed;
    const auto base = select_variants(mutant.base);
    EXPECT_EQ("", text(run(*base->front(), *read))) << printed;
    std::printf("%-34s program %3d: %s\n", std::string(mutant.name).c_str(),
                static_cast<int>(drawn), printed.c_str());
  }
}

}  // namespace
}  // namespace exactk::props
