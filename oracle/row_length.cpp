#include "oracle/row_length.h"

#include <algorithm>

namespace exactk::oracle {

int64_t row_length(const RowLengthSpec& spec, std::span<const int32_t> seq_lens, int64_t row) {
  if (spec.seq_lens_dim == 2) {
    return std::max<int64_t>(0, seq_lens[static_cast<size_t>(row)]);
  }
  const int64_t request = row / spec.next_n;
  const int64_t draft = row % spec.next_n;
  const int64_t seq_len = seq_lens[static_cast<size_t>(request)];
  return std::max<int64_t>(0, seq_len - spec.next_n + draft + 1);
}

int64_t bounded_length(int32_t row_start, int32_t row_end) {
  return std::max<int64_t>(0, int64_t{row_end} - row_start);
}

std::vector<int64_t> row_lengths(const RowLengthSpec& spec, std::span<const int32_t> seq_lens) {
  std::vector<int64_t> lengths;
  lengths.reserve(static_cast<size_t>(spec.rows));
  for (int64_t row = 0; row < spec.rows; ++row) {
    lengths.push_back(row_length(spec, seq_lens, row));
  }
  return lengths;
}

}  // namespace exactk::oracle
