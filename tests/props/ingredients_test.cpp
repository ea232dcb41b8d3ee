// No part of the suite can be left out: for each there is a planted fault that the smoke cases kill
// through that part alone.
#include <gtest/gtest.h>

#include "fixtures/case_file.h"
#include "kernels/device/device.h"
#include "kernels/registry.h"
#include "props/power.h"
#include "props/runner.h"

namespace exactk::tests {
namespace {

using props::Ingredient;

struct Needed {
  Ingredient ingredient;
  const char* mutant;
};

constexpr Needed kNeeded[] = {
    {props::kInputs, "mutant.window_begins_late"},
    {props::kExactJudge, "mutant.believable_slot_kept"},
    {props::kPoisonDifferential, "mutant.first_slot_reused"},
    {props::kGuards, "mutant.length_clamped_in_place"},
    {props::kReplay, "mutant.cap_is_width"},
    {props::kRepeat, "mutant.row_end_not_awaited"},
    {props::kSchedule, "mutant.cleared_by_first_wave"},
    {props::kLaunchModes, "mutant.fill_node"},
};

props::PowerTier smoke() {
  props::PowerTier tier{"smoke", {}};
  const auto read = fixtures::read_case_file(EXACTK_CASES_DIR "/smoke.cases");
  EXPECT_TRUE(read.has_value()) << read.error();
  for (const fixtures::FileCase& c : *read) tier.cases.push_back(c.value);
  return tier;
}

props::PlantedFault planted(std::string_view name) {
  for (const kernels::Mutant& mutant : kernels::target_kernels("host")->mutants) {
    if (mutant.kernel->name != name) continue;
    return {mutant.kernel->name, std::string(mutant.base), std::string(mutant.kind),
            *fixtures::parse_case(mutant.reaching_case),
            props::select_kernels("host", name)->front()};
  }
  ADD_FAILURE() << name << " is not planted";
  return {};
}

class Ingredients : public testing::TestWithParam<Needed> {};

TEST_P(Ingredients, AreNeededByAFaultThatTheSmokeCasesKill) {
  const auto device = std::move(*kernels::open_device("host"));
  props::Runner runner(*device);
  const auto run = [&](const props::Job& job) {
    return runner.run(job.value, job.kernel, job.options);
  };
  const auto power =
      props::measure_fault(planted(GetParam().mutant), {smoke()}, {32, 64}, run, [] {});
  const std::string left_out = "no " + std::string(props::name(GetParam().ingredient));
  EXPECT_TRUE(power.reachable);
  const std::vector<props::Kill>& columns = power.tiers[0].columns;
  EXPECT_TRUE(columns[props::kWhole].killed) << GetParam().mutant;
  int found = 0;
  for (size_t column = 0; column < columns.size(); ++column) {
    if (props::power_columns()[column].name != left_out) continue;
    ++found;
    EXPECT_FALSE(columns[column].killed)
        << left_out << ": " << columns[column].by << ": " << columns[column].why;
  }
  EXPECT_EQ(1, found);
}

INSTANTIATE_TEST_SUITE_P(Each, Ingredients, testing::ValuesIn(kNeeded),
                         [](const auto& info) { return std::string(info.param.mutant + 7); });

}  // namespace
}  // namespace exactk::tests
