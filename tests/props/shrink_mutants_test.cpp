// A random failing case of every planted fault fails alike in another process, and becomes a small
// one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <regex>
#include <string>

#include "kernels/registry.h"
#include "props/generators.h"
#include "props/isolated_runner.h"
#include "props/kernel_under_test.h"
#include "props/shrink.h"
#include "props/shrink_candidates.h"

namespace exactk::tests {
namespace {

using fixtures::Case;
using props::Outcome;

// What a fault's smallest case may have.
struct Bound {
  int64_t rows = 2;  // or tokens
  int64_t columns = 64;
};
const std::map<std::string_view, Bound> kBounds = {
    {"mutant.gate_one_row_early", {384}},  // the gate is at 384 rows
    {"mutant.negative_length", {3}},       // needs a query longer than its sequence by two
    {"mutant.topk_width_is_stride", {3}},  // two tokens still get the right answer
    {"mutant.requests_of_one_size", {4}},  // found in one request and rows of none behind it
    {"mutant.drafts_interleaved", {4}},    // two drafts of two requests
    {"mutant.row_in_8_bits", {257}},
    {"mutant.requests_in_32_lanes", {34}},  // 33 requests end before the token's
    // k = 512 alone, so that rows are longer.
    {"mutant.short_rows_frozen", {2, 513}},
    {"mutant.split_candidates_dropped", {2, 513}},
    {"mutant.lists_of_active_blocks", {2, 1025}},
    {"mutant.idle_lists_merged", {2, 4096}},
    // More columns than a list of 1,024 members, 16 bits, a turn of 256 indices, or a wave of a
    // block's share.
    {"mutant.list_one_too_long", {2, 1025}},
    {"mutant.index_in_16_bits", {2, 65537}},
    {"mutant.sums_overlap", {2, 257}},
    {"mutant.ballot_in_32_bits", {2, 512}},
    {"mutant.cleared_by_first_wave", {2, 512}},
    // What is drawn must put many columns, or the right two, into one coarse bin.
    {"mutant.one_member_per_thread", {2, 512}},
    {"mutant.keys_exchanged_alone", {2, 128}},
    {"mutant.key_of_16_bits", {2, 512}},
    {"mutant.zeros_tie", {2, 1024}},
    {"mutant.ties_dropped", {2, 128}},
    // Entries beyond 1,777, or more than a tile or a split of them.
    {"mutant.prefill_index_wrong", {2, 4096}},
    {"mutant.decode_index_wrong", {2, 4096}},
    {"mutant.step_one_wrong_entry", {2, 4096}},
    {"mutant.rescale_missing", {2, 256}},
    {"mutant.tile_not_awaited", {2, 256}},
    {"mutant.split_not_rescaled", {2, 256}},
    {"mutant.empty_split_kept", {2, 256}},
    {"mutant.length_of_draft", {4}},  // two drafts of two requests
    // Two candidates that a rounded bias exchanges, in a row of its own.
    {"mutant.bias_in_bf16", {4, 128}},
    {"mutant.nan_as_zero", {4}},  // a NaN with a large bias, in the last of the drawn rows
    // More experts than a wave has lanes, or a block threads.
    {"mutant.partial_wave_missed", {2, 72}},
    {"mutant.ranks_not_awaited", {2, 128}},
    {"mutant.experts_per_thread", {2, 320}},
};

class Bench {
 public:
  explicit Bench(const kernels::Mutant& mutant)
      : runner_("host", 10,
                [](std::string_view name) -> kernels::Result<props::KernelUnderTest> {
                  return props::select_kernels("host", name)->front();
                }),
        kernel_(props::select_kernels("host", mutant.kernel->name)->front()),
        wave_width_(mutant.wave_width != 0 ? mutant.wave_width : 64) {}

  Outcome run(const Case& c, int workers = 2) {
    props::Job job{c, kernel_, {}};
    job.options.wave_width = wave_width_;
    job.options.workers = workers;
    return runner_.run(job);
  }

  // From its text, in another process with other threads.
  Outcome replay(const Case& c) {
    runner_.restart();
    return run(*fixtures::parse_case(fixtures::print_case(c)), 5);
  }

 private:
  props::IsolatedRunner runner_;
  props::KernelUnderTest kernel_;
  int wave_width_;
};

// Where a process has its memory is its own.
std::string without_addresses(const std::string& reason) {
  return std::regex_replace(reason, std::regex("0x[0-9a-f]+"), "0x");
}

int64_t rows_of(const Case& c) {
  return props::shrink_measure(c)[2];
}

// The first random case of some size at which the fault shows, or its recorded case where it shows
// in none.
Outcome big_failure(const kernels::Mutant& mutant, Bench& bench) {
  constexpr int kDraws = 400;
  constexpr int64_t kRowsMin = 4;
  const Case recorded = *fixtures::parse_case(mutant.reaching_case);
  for (int i = 0; i < kDraws; ++i) {
    const Case c = props::draw_case(11, i, {20000, 4, {recorded.op}});
    if (rows_of(c) < kRowsMin) continue;
    Outcome outcome = bench.run(c);
    if (outcome.verdict == oracle::Verdict::kFailed) return outcome;
  }
  return bench.run(recorded);
}

void expect_small(const kernels::Mutant& mutant) {
  const std::string_view name = mutant.kernel->name;
  Bench bench(mutant);
  const Outcome failed = big_failure(mutant, bench);
  ASSERT_EQ(oracle::Verdict::kFailed, failed.verdict) << name;
  const Outcome again = bench.replay(failed.value);
  EXPECT_EQ(failed.verdict, again.verdict) << name;
  EXPECT_EQ(without_addresses(failed.reason), without_addresses(again.reason)) << name;
  EXPECT_EQ(failed.failing_rows, again.failing_rows) << name;
  const auto start = std::chrono::steady_clock::now();
  // By executions alone: a machine under load must not decide.
  const props::ShrinkResult result =
      props::shrink(failed, [&](const Case& c) { return bench.run(c); }, {200, 3600, 5});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const Case& smallest = result.outcome.value;
  fmt::print("{:32} {:4} rows  {:3} executions  {:5.2f} s  {}{}\n    from {}\n    to   {}\n", name,
             rows_of(failed.value), result.executions, took.count(),
             result.minimal ? "minimal" : "budget ended",
             result.smallest_again.failed < result.smallest_again.runs ? ", flaky" : "",
             fixtures::print_case(failed.value), fixtures::print_case(smallest));
  const auto found = kBounds.find(name);
  const Bound bound = found == kBounds.end() ? Bound{} : found->second;
  const props::ShrinkMeasure measure = props::shrink_measure(smallest);
  EXPECT_LE(measure[2], bound.rows) << name << ": " << fixtures::print_case(smallest);
  EXPECT_LE(measure[4], bound.columns) << name << ": " << fixtures::print_case(smallest);
  EXPECT_LE(result.executions, 200) << name;
}

class ShrinkMutants : public testing::TestWithParam<std::string_view> {};

// One that waits for ever costs its timeout at every execution and fails whatever the case is.
TEST_P(ShrinkMutants, BecomeSmallFromARandomCase) {
  int judged = 0;
  for (const kernels::Mutant& mutant : kernels::target_kernels("host")->mutants) {
    if (mutant.kernel->name == std::string_view("mutant.waits_for_ever")) continue;
    if (mutant.kernel->op != GetParam()) continue;
    ++judged;
    expect_small(mutant);
  }
  EXPECT_GE(judged, 1);
}

INSTANTIATE_TEST_SUITE_P(Op, ShrinkMutants,
                         testing::Values("topk.decode", "topk.prefill", "index.combine",
                                         "index.translate", "index.swa", "chain.decode",
                                         "logits.mqa", "logits.mqa_paged", "router.grouped_topk",
                                         "attention.sparse_prefill", "attention.sparse_decode"));

}  // namespace
}  // namespace exactk::tests
