// The published dispatch policy of decode top-k: which path a launch takes, and how many blocks of
// a row are active. Written from the contract (docs/CONTRACTS.md), independently of the kernels: a
// launch reports the path that it took, and it must equal the prediction. Source of the policy:
// vLLM sampler.cu, including the gfx950 K=512 path.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace exactk::oracle {

// The family of kernels whose policy is asked for.
enum class TopkMethod : int32_t {
  kBlock,       // always one block per row
  kSplitMerge,  // generic: one block per row, ten chunks and a merge for wide buffers
  kK512,        // device-length-aware, k = 512 only
  kK1024,       // device-length-aware, k = 1024 only, wide buffers only
  kAuto,        // the whole policy: the path that the shape and the architecture ask for
};

enum class TopkPath : int32_t {
  kBlockInsertion,  // one block, insertion-rank final sort
  kBlockRadix,      // one block, radix final sort
  kSplit,           // fixed number of chunks, then a merge
  kK512,
  kK1024,
};
std::string_view name(TopkPath path);

// Numbers of the policy; the defaults are the published ones. Tests inject smaller ones so that
// small inputs walk the paths of big inputs. Required: 0 <= policy_shift <= 30, split_blocks >= 1,
// min_chunk >= 1.
struct TopkTuning {
  int64_t radix_width = 12288;   // at this width and above: radix final sort
  int64_t split_width = 200000;  // at this width and above: split
  int32_t split_blocks = 10;     // chunks of the generic split
  int32_t policy_shift =
      0;  // k512 and k1024: every width and length threshold is divided by 2^shift
  int64_t min_chunk = 512;  // k512: a chunk never has fewer real elements
};

struct TopkShape {
  int64_t rows = 0;
  int64_t width = 0;  // columns allocated
  int64_t k = 0;
  int64_t column_stride = 1;  // elements
  std::string_view arch;  // policy architecture, for example "gfx950"; a prefix match, as published
  TopkTuning tuning;
};

struct TopkDispatch {
  bool accepted = true;  // false: the method declines the shape
  TopkPath path{};
  int32_t max_blocks =
      1;  // blocks per row that the grid and the scratch are sized for (frozen by capture)
};

// The path for a shape; `accepted` is false if the method does not take it (for example kK512 with
// k = 511).
TopkDispatch topk_dispatch(TopkMethod method, const TopkShape& shape);

// Blocks of a row of length `length` that do work, 1 <= active <= max_blocks; read on the device at
// every replay.
int32_t active_blocks(const TopkDispatch& dispatch, const TopkShape& shape, int64_t length);

// Every length at which active_blocks or a short-row rule changes, on the path of kAuto: the last
// length before each change, and min(k, width); ascending, no repeats, none above the width.
// Generators place lengths on each edge and both neighbours.
std::vector<int64_t> length_edges(const TopkShape& shape);

}  // namespace exactk::oracle
