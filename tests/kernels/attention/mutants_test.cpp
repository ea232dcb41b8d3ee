// Every planted fault shows at its recorded case, is harmless on an input that does not reach it,
// and the kernel that it was planted in is right on both.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/registry.h"
#include "tests/kernels/attention/problem.h"
#include "tests/kernels/planted.h"

namespace exactk::kernels::test {
namespace {

#define PREFILL "attention.sparse_prefill rows=2 heads=2 k=16 context=64 "
#define PREFILL1 "attention.sparse_prefill rows=2 heads=1 k=16 context=64 "
#define DECODE1 "attention.sparse_decode rows=2 heads=1 k=16 context=64 "
#define DECODE "attention.sparse_decode rows=2 heads=2 k=16 context=64 "

struct PassedOver {
  const char* mutant;
  const char* input;
};

const PassedOver kPassedOver[] = {
    {"mutant.prefill_index_wrong", PREFILL},
    {"mutant.decode_index_wrong", DECODE},
    {"mutant.lse_in_base_two", PREFILL "lens=const:0"},
    {"mutant.sink_in_lse", PREFILL},
    {"mutant.sink_forgotten", PREFILL},
    {"mutant.sink_scaled", DECODE "lens=const:0 sink=finite"},
    {"mutant.sink_of_first_head", DECODE1 "sink=finite"},
    {"mutant.score_scale_doubled", PREFILL "lens=const:0"},
    {"mutant.main_flavour_wrong", DECODE},
    {"mutant.extra_flavour_of_main", DECODE "cache=v4 extra_k=16"},
    {"mutant.last_tile_skipped", "attention.sparse_prefill rows=2 k=64 context=64 lens=const:64"},
    {"mutant.slots_beyond_length", PREFILL "lens=const:16"},
    {"mutant.entries_as_prefix", DECODE},
    {"mutant.nan_output_zero", PREFILL},
    {"mutant.empty_row_divides", PREFILL "lens=const:16"},
    {"mutant.empty_lse_negative", DECODE "lens=const:16"},
    {"mutant.duplicates_once", PREFILL},
    {"mutant.extra_list_forgotten", DECODE},
    {"mutant.extra_length_of_main", DECODE "extra_k=16 variant=full"},
    {"mutant.last_group_scale", DECODE "cache=v32 dim=192"},
    {"mutant.ue8m0_bias_128", DECODE "cache=v32"},
    {"mutant.entries_frozen_at_capture", DECODE},
    {"mutant.rescale_missing", PREFILL},
    {"mutant.split_not_rescaled", DECODE},
    {"mutant.empty_split_kept", "attention.sparse_decode rows=2 k=300 context=512 lens=const:300"},
    {"mutant.max_of_first_head", PREFILL1},
    {"mutant.index_one_past_end", PREFILL},
    {"mutant.length_of_draft", DECODE},
    {"mutant.lse_by_token", DECODE1},
    {"mutant.rounded_weights_summed", PREFILL "lens=const:1"},
    {"mutant.scores_in_32_lanes", PREFILL "dim=1 dim_v=1"},
    {"mutant.tile_not_awaited", PREFILL},
    {"mutant.values_from_the_end", DECODE "dim_v=192"},
    {"mutant.slots_without_gap", PREFILL},
    {"mutant.outputs_without_gap", DECODE},
};

const Mutant* planted(std::string_view name) {
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    if (mutant.kernel->name == name) {
      return &mutant;
    }
  }
  return nullptr;
}

bool is_of_attention(const Mutant& mutant) {
  return std::string_view(mutant.kernel->op).substr(0, 10) == "attention.";
}

// What the launches of the case show: of a graph, captured at the first and replayed.
std::string found(std::string_view name, std::string_view text) {
  AttentionCase attention(text);
  const auto bytes = [&](fixtures::WorkspaceState state) {
    return static_cast<uint8_t>(state == fixtures::WorkspaceState::kOnes ? 0xff : 0xa5);
  };
  Bench bench(kernel(name), attention, {.workspace_byte = bytes(attention.problem.c.workspace)});
  if (attention.problem.c.launch != fixtures::LaunchMode::kGraph) {
    return bench.run();
  }
  std::string error = bench.prepare();
  error = error.empty() ? bench.capture() : error;
  attention.go_to(1);
  error = error.empty() ? bench.prepare() : error;
  error = error.empty() ? bench.replay() : error;
  return error.empty() ? bench.judge() : error;
}

TEST(AttentionMutants, EachShowsAtItsRecordedCaseWhereItsBaseIsRight) {
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    if (!is_of_attention(mutant)) {
      continue;
    }
    SCOPED_TRACE(mutant.kernel->name);
    EXPECT_EQ(found(mutant.base, mutant.reaching_case), "");
    if (shows_here(mutant.kernel->name)) {
      EXPECT_NE(found(mutant.kernel->name, mutant.reaching_case), "");
    }
  }
}

TEST(AttentionMutants, EachIsHarmlessOnAnInputThatDoesNotReachIt) {
  for (const PassedOver& p : kPassedOver) {
    SCOPED_TRACE(p.mutant);
    ASSERT_NE(planted(p.mutant), nullptr);
    EXPECT_EQ(found(planted(p.mutant)->base, p.input), "");
    EXPECT_EQ(found(p.mutant, p.input), "");
  }
}

TEST(AttentionMutants, EachIsListed) {
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    const bool listed = std::any_of(
        std::begin(kPassedOver), std::end(kPassedOver),
        [&](const auto& p) { return p.mutant == std::string_view(mutant.kernel->name); });
    EXPECT_EQ(listed, is_of_attention(mutant)) << mutant.kernel->name;
  }
}

}  // namespace
}  // namespace exactk::kernels::test
