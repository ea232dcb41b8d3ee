// Effective length of each query row of a decode step, and of a prefill row.
//
// Source: vLLM top_k_per_row_decode and top_k_per_row_prefill. A 1-D seq_lens holds one length per
// request, a 2-D one holds one per row; rows of one request are its draft positions, row r being of
// request r / next_n, draft r % next_n.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace exactk::oracle {

struct RowLengthSpec {
  int64_t rows = 0;      // >= 0; need not be a multiple of next_n
  int64_t next_n = 1;    // >= 1
  int seq_lens_dim = 1;  // 1: [ceil(rows / next_n)], 2: [rows] read flat
};

// Columns that `row` may select from; never negative.
// 1-D: max(0, seq_lens[row / next_n] - next_n + row % next_n + 1). 2-D: max(0, seq_lens[row]).
int64_t row_length(const RowLengthSpec& spec, std::span<const int32_t> seq_lens, int64_t row);

// Prefill: columns [row_start, row_end); an end below the start is an empty row.
int64_t bounded_length(int32_t row_start, int32_t row_end);

// All rows.
std::vector<int64_t> row_lengths(const RowLengthSpec& spec, std::span<const int32_t> seq_lens);

}  // namespace exactk::oracle
