// Small helpers of the index tests: the inputs of an operation with their storage, and expected
// tensors as text.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "oracle/block_table.h"
#include "oracle/combine_indices.h"
#include "oracle/expected.h"

namespace exactk::oracle {

// "10 -1 ." for the elements [begin, end): a dot is an untouched one, '?' an open one.
inline std::string describe(const ExpectedTensor& tensor, int64_t begin, int64_t end) {
  std::ostringstream text;
  for (int64_t position = begin; position < end; ++position) {
    const auto at = static_cast<size_t>(position);
    text << (position == begin ? "" : " ");
    if (tensor.wants[at] == Want::kValue) {
      text << tensor.values[at];
    } else {
      text << (tensor.wants[at] == Want::kUntouched ? "." : "?");
    }
  }
  return text.str();
}

inline std::string describe(const ExpectedTensor& tensor) {
  return describe(tensor, 0, static_cast<int64_t>(tensor.values.size()));
}

struct CombineCase {
  CombineShape shape;
  std::vector<int32_t> topk_indices;
  std::vector<int32_t> query_start_loc;
  std::vector<int32_t> seq_lens;
  std::vector<int32_t> gather_lens;
  std::vector<int32_t> left_visible;
  std::vector<int32_t> right_visible;

  CombineInputs inputs() const {
    return {topk_indices, query_start_loc, seq_lens, gather_lens, left_visible, right_visible};
  }
  std::vector<ExpectedTensor> expected() const { return expected_combine(shape, inputs()); }
};

struct TranslateCase {
  TranslateShape shape;
  std::vector<int32_t> indices;
  std::vector<int32_t> token_to_req;
  std::vector<uint8_t> token_valid;
  std::vector<int32_t> lengths;
  std::vector<int32_t> cu_seqlens;
  std::vector<int32_t> positions;
  int64_t cap = 0;
  std::vector<int32_t> blocks;
  BlockTable table;  // without its blocks

  BlockTable block_table() const {
    BlockTable with_blocks = table;
    with_blocks.blocks = blocks;
    return with_blocks;
  }
  TranslateInputs inputs() const {
    return {indices, token_to_req, token_valid, lengths, cu_seqlens, positions, cap};
  }
  std::vector<ExpectedTensor> expected() const {
    return expected_translate(shape, inputs(), block_table());
  }
};

}  // namespace exactk::oracle
