// The sliding window of one query position, and the slots of a decode step's windows. Source:
// _compute_swa_indices_and_lens of vLLM.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/block_table.h"
#include "oracle/expected.h"

namespace exactk::oracle {

// Positions [begin, end) that a query at `position` sees: `window` of them up to itself, widened by
// the image tokens to its left and right, of which there are no fewer than 0. Empty at a negative
// position.
struct Window {
  int64_t begin = 0;
  int64_t end = 0;
};
Window swa_window(int64_t position, int64_t window, int64_t left_visible, int64_t right_visible);

struct SwaShape {
  int64_t tokens = 0;
  int64_t window = 1;
  int64_t columns = 0;     // slots per row; lens is not limited to it
  int64_t out_stride = 0;  // elements
};

struct SwaInputs {
  std::span<const int32_t> positions;      // [tokens]
  std::span<const int32_t> token_to_req;   // [tokens]
  std::span<const uint8_t> token_valid;    // [tokens]
  std::span<const int32_t> left_visible;   // [tokens] or empty
  std::span<const int32_t> right_visible;  // [tokens] or empty
};

// {slots, lens}. A position outside the block table gives -1 in its place; an invalid token a row
// of -1 and length 0; so does a negative position.
std::vector<ExpectedTensor> expected_swa(const SwaShape& shape, const SwaInputs& in,
                                         const BlockTable& table);

}  // namespace exactk::oracle
