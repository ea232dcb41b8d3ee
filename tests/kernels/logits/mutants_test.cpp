// Every planted fault shows at its recorded case, is harmless on an input that does not reach it,
// and the kernel that it was planted in is right on both.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/registry.h"
#include "tests/kernels/logits/problem.h"
#include "tests/kernels/planted.h"

namespace exactk::kernels::test {
namespace {

struct PassedOver {
  const char* mutant;
  const char* input;
};

const PassedOver kPassedOver[] = {
    {"mutant.scale_doubled", "logits.mqa rows=3 width=70 lens=const:0"},
    {"mutant.keys_as_fnuz", "logits.mqa rows=3 width=70 fp8=fnuz"},
    {"mutant.negative_zero_rewritten", "logits.mqa rows=3 width=70 numbers=uniform"},
    {"mutant.neighbour_weight", "logits.mqa rows=3 width=70 index_heads=1"},
    {"mutant.last_heads_dropped", "logits.mqa rows=3 width=70 index_heads=8"},
    {"mutant.relu_missing", "logits.mqa rows=3 width=70 lens=const:0"},
    {"mutant.scale_before_relu", "logits.mqa rows=3 width=70 scales=powers"},
    {"mutant.nan_swallowed", "logits.mqa rows=3 width=70"},
    {"mutant.dots_in_bf16", "logits.mqa rows=3 width=70 index_dim=4 numbers=ties"},
    {"mutant.partial_tile_skipped", "logits.mqa rows=3 width=128 lens=const:128 starts=zero"},
    {"mutant.start_not_subtracted", "logits.mqa rows=3 width=70"},
    {"mutant.signed_bounds", "logits.mqa rows=3 width=70 lens=const:60 starts=zero"},
    {"mutant.only_touched_tiles_cleaned", "logits.mqa rows=3 width=70 outside=untouched"},
    {"mutant.stores_past_width", "logits.mqa rows=3 width=128 out_stride=160 outside=clean"},
    {"mutant.weight_width_is_stride", "logits.mqa rows=1 width=70"},
    {"mutant.stage_not_awaited", "logits.mqa rows=3 width=70 index_heads=8 index_dim=64"},
    {"mutant.cache_as_fn", "logits.mqa_paged rows=3 width=70"},
    {"mutant.partial_block_skipped", "logits.mqa_paged rows=3 width=128 lens=const:128"},
    {"mutant.block_rounded_up", "logits.mqa_paged rows=3 width=128 lens=const:64 outside=clean"},
    {"mutant.block_edge_late", "logits.mqa_paged rows=3 width=70 lens=const:63"},
    {"mutant.length_frozen", "logits.mqa_paged rows=3 width=70"},
    {"mutant.future_trusted", "logits.mqa_paged rows=3 width=70 outside=untouched"},
    {"mutant.row_lengths_per_request", "logits.mqa_paged rows=3 width=70 outside=clean"},
    {"mutant.scale_of_next_block", "logits.mqa_paged rows=3 width=70 scales=ones lens=const:0"},
    {"mutant.scales_interleaved", "logits.mqa_paged rows=3 width=70 block_size=1"},
    {"mutant.page_table_width_is_stride", "logits.mqa_paged rows=3 width=70"},
    {"mutant.one_block_per_tile", "logits.mqa_paged rows=3 width=70 block_size=64"},
};

const Mutant* planted(std::string_view name) {
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    if (mutant.kernel->name == name) {
      return &mutant;
    }
  }
  return nullptr;
}

bool is_of_logits(const Mutant& mutant) {
  return std::string_view(mutant.kernel->op).substr(0, 7) == "logits.";
}

// What the launches of the case show: of a graph, captured at the first and replayed.
std::string found(std::string_view name, std::string_view text) {
  LogitsProblem problem(text);
  Bench bench(kernel(name), problem, {});
  if (problem.c.launch != fixtures::LaunchMode::kGraph) {
    return bench.run();
  }
  std::string error = bench.prepare();
  error = error.empty() ? bench.capture() : error;
  problem.go_to(1);
  error = error.empty() ? bench.prepare() : error;
  error = error.empty() ? bench.replay() : error;
  return error.empty() ? bench.judge() : error;
}

TEST(LogitsMutants, EachShowsAtItsRecordedCaseWhereItsBaseIsRight) {
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    if (!is_of_logits(mutant)) {
      continue;
    }
    SCOPED_TRACE(mutant.kernel->name);
    EXPECT_EQ(found(mutant.base, mutant.reaching_case), "");
    if (shows_here(mutant.kernel->name)) {
      EXPECT_NE(found(mutant.kernel->name, mutant.reaching_case), "");
    }
  }
}

TEST(LogitsMutants, EachIsHarmlessOnAnInputThatDoesNotReachIt) {
  for (const PassedOver& p : kPassedOver) {
    SCOPED_TRACE(p.mutant);
    ASSERT_NE(planted(p.mutant), nullptr);
    EXPECT_EQ(found(planted(p.mutant)->base, p.input), "");
    EXPECT_EQ(found(p.mutant, p.input), "");
  }
}

TEST(LogitsMutants, EachIsListed) {
  for (const Mutant& mutant : target_kernels(kDeviceKind)->mutants) {
    const bool listed = std::any_of(
        std::begin(kPassedOver), std::end(kPassedOver),
        [&](const auto& p) { return p.mutant == std::string_view(mutant.kernel->name); });
    EXPECT_EQ(listed, is_of_logits(mutant)) << mutant.kernel->name;
  }
}

}  // namespace
}  // namespace exactk::kernels::test
