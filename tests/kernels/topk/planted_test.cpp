// Planted faults by table: each shows on an input that reaches it, is harmless on one that does
// not, and the kernel that it was planted in is right on both. What needs a graph or a second
// launch is in mutants_test.cpp.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/planted.h"
#include "tests/kernels/topk/harness.h"
#include "tests/kernels/topk/patterns.h"

namespace exactk::kernels::test {
namespace {

struct Planted {
  const char* mutant;
  const char* base;
  const char* verdict;  // words of the verdict on the reached input
  Problem (*reached)();
  Problem (*passed_over)();
};

Problem row_of(int64_t width, int64_t k, Bits bits) {
  Problem p;
  p.width = width;
  p.k = k;
  p.bits = std::move(bits);
  return p;
}

Problem lengths(std::vector<int32_t> lens, int64_t k = 8) {
  Problem p = row_of(256, k, ordinary(1));
  p.rows = std::ssize(lens);
  p.seq_lens = std::move(lens);
  return p;
}

Problem rows_of(int64_t rows, Problem p) {
  p.rows = rows;
  return p;
}

// Ever larger ones above 1.
uint32_t rising(int64_t, int64_t column) {
  return kOne + static_cast<uint32_t>(column);
}

Problem in_chunks(int64_t width, int64_t k, Bits bits) {
  Problem p = row_of(width, k, std::move(bits));
  p.tune.radix_width = 64;
  p.tune.split_width = 256;
  return p;
}

// Of k = 512 columns, in up to 16 chunks of 64 columns and more.
Problem in_small_chunks(int64_t width) {
  Problem p = row_of(width, 512, ordinary(2));
  p.tune.policy_shift = 8;
  p.tune.min_chunk = 64;
  return p;
}

// Two drafts of each of two requests.
Problem drafts(int32_t first, int32_t second) {
  Problem p = lengths({first, second});
  p.rows = 4;
  p.next_n = 2;
  p.seq_lens_dim = 1;
  return p;
}

Problem starting_at(int32_t start) {
  Problem p = row_of(256, 8, ordinary(3));
  p.row_starts = {start};
  return p;
}

Problem compressed(int64_t k) {
  Problem p = row_of(1024, k, ordinary(4));
  p.compress_ratio = 4;
  return p;
}

Problem with_row_stride(Problem p, int64_t stride) {
  p.row_stride = stride;
  return p;
}

const Planted kPlanted[] = {
    {"mutant.candidates_dropped", "topk.block", "missing",
     [] { return row_of(8000, 64, coarse_population(8000, 32, 3000)); },
     [] { return row_of(8000, 64, coarse_population(8000, 32, 2048)); }},
    {"mutant.split_candidates_dropped", "topk.k512", "missing",
     [] { return row_of(8000, 512, coarse_population(8000, 32, 2000)); },
     [] { return row_of(8000, 512, coarse_population(8000, 32, 1024)); }},
    {"mutant.ties_dropped", "topk.block", "never written",
     [] { return row_of(4000, 3000, all_equal(kOne)); },
     [] { return row_of(4000, 2048, all_equal(kOne)); }},
    {"mutant.last_pass_skipped", "topk.block", "missing",
     [] { return row_of(256, 8, low_bits(1, kOne, 10)); },
     [] { return row_of(256, 8, all_equal(kOne)); }},
    {"mutant.key_of_16_bits", "topk.block", "missing",
     [] { return row_of(256, 8, low_bits(1, kOne, 16)); },
     [] { return row_of(256, 8, [](int64_t, int64_t j) { return kOne + (uint32_t(j) << 16); }); }},
    {"mutant.nan_loses", "topk.block", "missing",
     [] {
       return row_of(256, 8, one_of(1, {0x7fc00001u, kOne}));
     },
     [] { return row_of(256, 8, ordinary(1)); }},
    {"mutant.nan_has_first_rank", "topk.block", "never written",
     [] { return row_of(256, 8, low_bits(1, 0x7fc00000u, 20)); },
     [] { return row_of(256, 8, low_bits(1, kOne, 16)); }},
    {"mutant.minus_inf_dropped", "topk.block", "sentinel inside",
     [] { return row_of(256, 64, masked(1, 900, ordinary(1))); },
     [] { return row_of(256, 64, masked(1, 100, ordinary(1))); }},
    {"mutant.index_in_16_bits", "topk.block", "missing", [] { return row_of(65600, 8, &rising); },
     [] { return row_of(65536, 8, &rising); }},
    {"mutant.cleared_while_read", "topk.stable", "", [] { return row_of(1024, 8, ordinary(1)); },
     [] {
       Problem p = row_of(1024, 8, ordinary(1));
       p.tune.block_threads = 64;
       return p;
     }},
    {"mutant.ranked_before_listed", "topk.block", "",
     [] { return row_of(256, 8, low_bits(1, kOne, 10)); },
     [] { return row_of(8, 8, ordinary(1)); }},
    {"mutant.ballot_in_32_bits", "topk.stable", "", [] { return row_of(256, 64, ordinary(1)); },
     [] { return row_of(256, 256, ordinary(1)); }},
    {"mutant.one_member_per_thread", "topk.block", "missing",
     [] { return row_of(4000, 64, coarse_population(4000, 0, 600)); },
     [] { return row_of(4000, 64, coarse_population(4000, 0, 512)); }},
    {"mutant.keys_exchanged_alone", "topk.block", "missing",
     [] { return row_of(256, 8, low_bits(1, kOne, 16)); },
     [] { return row_of(256, 8, all_equal(kOne)); }},
    {"mutant.zeros_tie", "topk.block", "missing",
     [] {
       return row_of(256, 8, one_of(1, {0u, 0x80000000u}));
     },
     [] { return row_of(256, 8, all_equal(0x80000000u)); }},

    {"mutant.pad_ties_minus_inf", "topk.split_merge", "sentinel inside",
     [] { return in_chunks(2000, 512, masked(1, 900, ordinary(1))); },
     [] { return in_chunks(2000, 512, masked(1, 100, ordinary(1))); }},
    {"mutant.prefill_index_relative", "topk.prefill_stable", "", [] { return starting_at(5); },
     [] { return starting_at(0); }},
    {"mutant.stride_in_16_bits", "topk.block", "row 1",
     [] { return with_row_stride(rows_of(2, row_of(64, 8, ordinary(1))), 65600); },
     [] { return with_row_stride(rows_of(2, row_of(64, 8, ordinary(1))), 65535); }},
    {"mutant.decode_negative_length", "topk.block", "a guard changed",
     [] {
       return lengths({-3, 100});
     },
     [] {
       return lengths({0, 100});
     }},
    {"mutant.length_unsigned", "topk.block", "sentinel missing",
     [] {
       return lengths({-3, 100});
     },
     [] {
       return lengths({0, 100});
     }},
    {"mutant.drafts_interleaved", "topk.block", "row 1", [] { return drafts(50, 200); },
     [] {
       Problem p = drafts(50, 200);
       p.next_n = 1;
       p.seq_lens = {50, 50, 200, 200};
       return p;
     }},
    {"mutant.row_in_8_bits", "topk.block", "row 256",
     [] { return rows_of(257, row_of(8, 4, ordinary(1))); },
     [] { return rows_of(256, row_of(8, 4, ordinary(1))); }},
    {"mutant.list_one_too_long", "topk.k512", "",
     [] { return rows_of(8, row_of(8000, 512, coarse_population(8000, 0, 1025))); },
     [] { return rows_of(8, row_of(8000, 512, coarse_population(8000, 0, 1024))); }},
    {"mutant.radix_path_of_512", "topk.gated", "never written", [] { return compressed(513); },
     [] { return compressed(512); }},
    {"mutant.column_stride_ignored", "topk.block", "missing",
     [] {
       Problem p = row_of(64, 8, ordinary(1));
       p.column_stride = 2;
       return p;
     },
     [] { return row_of(64, 8, ordinary(1)); }},
    {"mutant.split_width_as_stride", "topk.split_merge", "row 1",
     [] { return with_row_stride(rows_of(2, in_chunks(4000, 64, ordinary(1))), 4100); },
     [] { return with_row_stride(rows_of(2, row_of(4000, 64, ordinary(1))), 4100); }},
    {"mutant.output_width_as_stride", "topk.block", "",
     [] {
       Problem p = rows_of(2, row_of(64, 8, ordinary(1)));
       p.out_stride = 12;
       return p;
     },
     [] { return rows_of(2, row_of(64, 8, ordinary(1))); }},
    {"mutant.base_rounded_down", "topk.block", "missing",
     [] {
       Problem p = row_of(64, 8, ordinary(1));
       p.misalign = 1;
       return p;
     },
     [] { return rows_of(2, row_of(64, 8, ordinary(1))); }},
    {"mutant.lists_of_active_blocks", "topk.k512", "row 1",
     [] {
       Problem p = rows_of(2, in_small_chunks(2048));
       p.seq_lens = {600, 600};
       return p;
     },
     [] { return rows_of(2, in_small_chunks(2048)); }},
    {"mutant.boundary_column_twice", "topk.split_merge", "duplicate",
     [] { return in_chunks(4000, 512, &rising); }, [] { return in_chunks(4000, 64, &rising); }},
    {"mutant.remainder_lost", "topk.split_merge", "missing",
     [] { return in_chunks(4007, 64, &rising); }, [] { return in_chunks(4000, 64, &rising); }},
};

class TopkPlanted : public testing::TestWithParam<Planted> {};

TEST_P(TopkPlanted, ShowsWhereItIsReached) {
  if (!shows_here(GetParam().mutant)) {
    GTEST_SKIP() << "shows for certain on the host device alone";
  }
  const Problem problem = GetParam().reached();
  EXPECT_EQ("", run(GetParam().base, problem));
  const std::string verdict = run(GetParam().mutant, problem);
  EXPECT_NE("", verdict);
  EXPECT_NE(std::string::npos, verdict.find(GetParam().verdict)) << verdict;
}

TEST_P(TopkPlanted, IsHarmlessElsewhere) {
  if (!shows_here(GetParam().mutant)) {
    GTEST_SKIP() << "is elsewhere on the host device alone";
  }
  const Problem problem = GetParam().passed_over();
  EXPECT_EQ("", run(GetParam().base, problem));
  EXPECT_EQ("", run(GetParam().mutant, problem));
}

INSTANTIATE_TEST_SUITE_P(Topk, TopkPlanted, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.mutant + 7); });

}  // namespace
}  // namespace exactk::kernels::test
