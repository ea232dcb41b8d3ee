// Inputs that a device makes by itself, and checksums of what it holds: a big tensor crosses the
// bus only where the host looks at it.
#pragma once

#include <cstdint>
#include <string>

#include "fixtures/pattern_bits.h"
#include "kernels/shipped.h"

namespace exactk::kernels {

// A logits tensor in memory, strides in elements. A line is a row, the gaps between its columns,
// and the gap up to the next row; the last line ends at its last column.
struct LogitsLayout {
  int64_t rows = 0;           // >= 1
  int64_t width = 0;          // >= 1
  int64_t row_stride = 0;     // >= (width - 1) * column_stride + 1
  int64_t column_stride = 1;  // >= 1
};

// Each enqueues on a stream of the device kind that it was built for, and returns an empty text, or
// one sentence that says why nothing was launched. All pointers are device pointers.
struct FillFunctions {
  // Every element of every line, as a host makes it from the same specification, but for explicit
  // overrides of single logits. `row_lengths`: visible columns, [rows]; `row_starts`: the first of
  // them, [rows], or null: column 0. Clamped so that they lie in [0, width].
  std::string (*logits)(const fixtures::PatternSpec& spec, const LogitsLayout& layout,
                        const int64_t* row_lengths, const int64_t* row_starts, uint32_t* logits,
                        void* stream) = nullptr;

  // Per row the checksum of its columns [0, width), without gaps: fixtures::checksum() of the row.
  std::string (*row_checksums)(const LogitsLayout& layout, const uint32_t* logits, uint64_t* sums,
                               void* stream) = nullptr;

  // The checksum of `count` 32-bit words in a row, gaps and all: fixtures::checksum() of them.
  std::string (*words_checksum)(const void* words, int64_t count, uint64_t* sum,
                                void* stream) = nullptr;
};

EXACTK_SHIPPED FillFunctions fill_functions();

}  // namespace exactk::kernels
