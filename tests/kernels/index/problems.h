// Small inputs of the three index operations. Values are drawn by the counter generator, so that a
// problem is a function of its numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/abi/exactk_abi.h"
#include "oracle/block_table.h"
#include "oracle/combine_indices.h"
#include "oracle/swa_window.h"
#include "tests/kernels/index/harness.h"

namespace exactk::kernels::test {

// The tokens of a step: request b has query_lens[b] of them, the last one at position
// seq_lens[b] - 1. `extra` rows follow that belong to no request.
struct Batch {
  std::vector<int32_t> query_lens;
  std::vector<int32_t> seq_lens;
  int64_t extra = 0;
  int32_t skip = 0;  // first element of query_start_loc
  uint64_t seed = 1;

  int64_t requests() const { return std::ssize(query_lens); }
  int64_t covered() const;
  int64_t tokens() const { return covered() + extra; }
};

struct CombineProblem final : Problem {
  oracle::CombineShape shape;
  std::vector<int32_t> topk_indices, query_start_loc, seq_lens, gather_lens;
  std::vector<int32_t> left_visible, right_visible;

  std::vector<oracle::ExpectedTensor> expected() const override;
  void upload_inputs(Buffers& buffers) const override;
  const void* descriptor(const Buffers& buffers, const Place& place) override;

 private:
  exactk_combine d_{};
};

struct CombineNumbers {
  oracle::CombineVariant variant = oracle::CombineVariant::kCommon;
  int64_t k = 16;
  int64_t window = 32;
  int64_t ratio = 4;
  int64_t images = 0;      // most tokens of an image
  int64_t width_pad = 0;   // columns of the local indices beyond k
  int64_t stride_pad = 0;  // of the local indices beyond their columns
  int64_t out_pad = 0;
  bool gather_short = false;  // fewer positions are gathered than the windows need
};
CombineProblem combine_problem(const Batch& batch, const CombineNumbers& numbers);

// What translation and windows have in common: where each token is, and a block table.
struct Paged {
  std::vector<int32_t> token_to_req, positions, block_table;
  std::vector<uint8_t> token_valid;
  oracle::BlockTable table;  // over block_table once it is bound
};

struct TranslateProblem final : Problem {
  oracle::TranslateShape shape;
  Paged paged;
  std::vector<int32_t> indices, lengths, cu_seqlens;
  int32_t cap = 0;

  std::vector<oracle::ExpectedTensor> expected() const override;
  void upload_inputs(Buffers& buffers) const override;
  const void* descriptor(const Buffers& buffers, const Place& place) override;

 private:
  exactk_translate d_{};
};

struct TranslateNumbers {
  oracle::TranslateVariant variant = oracle::TranslateVariant::kPositional;
  int64_t k = 16;
  int64_t block_size = 64;
  int64_t ratio = 4;
  int32_t cap = 0;  // up to k
  int64_t slots_bound = -1;
  int32_t slot_bytes = 4;
  int64_t index_pad = 0;
  int64_t table_pad = 0;
  int64_t out_pad = 0;
};
TranslateProblem translate_problem(const Batch& batch, const TranslateNumbers& numbers);

struct SwaProblem final : Problem {
  oracle::SwaShape shape;
  Paged paged;
  std::vector<int32_t> left_visible, right_visible;  // empty: no images

  std::vector<oracle::ExpectedTensor> expected() const override;
  void upload_inputs(Buffers& buffers) const override;
  const void* descriptor(const Buffers& buffers, const Place& place) override;

 private:
  exactk_swa d_{};
};

struct SwaNumbers {
  int64_t window = 32;
  int64_t columns = 40;
  int64_t block_size = 64;
  int64_t images = 0;
  int32_t slot_bytes = 4;
  int64_t table_pad = 0;
  int64_t out_pad = 0;
};
SwaProblem swa_problem(const Batch& batch, const SwaNumbers& numbers);

}  // namespace exactk::kernels::test
