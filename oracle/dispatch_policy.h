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
  kFullRadix,   // one block per row, every radix pass, whatever the shape: the AITER convention
  kGated,       // the path gate's side: kFullRadix or kAuto
  kPrefill,     // topk.prefill: one block per row, a second launch for the rows from radix_rows on
};

enum class TopkPath : int32_t {
  kBlockInsertion,  // one block, insertion-rank final sort
  kBlockRadix,      // one block, radix final sort
  kSplit,           // fixed number of chunks, then a merge
  kK512,
  kK1024,
  kFullRadix,  // one block, every radix pass
  kPrefill,    // one block per row; rows from 12288 on are a second launch
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
  int64_t min_chunk = 512;     // k512: a chunk never has fewer real elements
  int64_t radix_rows = 12288;  // prefill: rows from this one on are a second launch
};

struct TopkShape {
  int64_t rows = 0;
  int64_t width = 0;  // columns allocated
  int64_t k = 0;
  int64_t column_stride = 1;  // elements
  std::string_view arch;  // policy architecture, for example "gfx950"; a prefix match, as published
  TopkTuning tuning;
  // Only the gate looks at these.
  int64_t compress_ratio = 1;    // raw tokens per column
  bool full_graph = false;       // the longest row counts as width * compress_ratio
  int64_t max_seq_len_hint = 0;  // else this: the longest row known to the host
};

struct TopkDispatch {
  bool accepted = true;  // false: the method declines the shape
  TopkPath path{};
  int32_t max_blocks =
      1;  // blocks per row that the grid and the scratch are sized for (frozen by capture)
  int32_t launches = 1;  // kernels that the call puts onto the stream
  friend bool operator==(const TopkDispatch&, const TopkDispatch&) = default;
};

// Which side of the path gate takes a decode or prefill call: the native kernels or AITER's.
enum class GateSide : int32_t { kNative, kAiter };

// The gate as it was published, clause by clause.
enum class GateVersion : int32_t {
  kCompressed,  // AITER for compressed layers on gfx950, but not decode of at most 256 rows with
                // more than 65,536 columns in view
  kK512,  // and not decode with k = 512, at most 384 rows and at most 1 Mi columns: the latest
};

struct GateShape {
  bool prefill = false;
  int64_t compress_ratio = 1;
  int64_t rows = 0;
  int64_t max_valid_seq_len = 0;  // max_model_len in full-graph mode, else the longest row in view
  int64_t columns = 0;
  int64_t k = 0;
  std::string_view arch;
  int32_t policy_shift = 0;  // both column thresholds are divided by 2^shift
};
GateSide path_gate(const GateShape& shape, GateVersion version = GateVersion::kK512);

// The gate's question for a decode shape.
GateShape gate_shape(const TopkShape& shape);

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

// Every row count, and every width, at which topk_dispatch() changes while the rest of the shape
// stays as it is: the last one before each change; ascending, no repeats.
std::vector<int64_t> row_edges(TopkMethod method, const TopkShape& shape);
std::vector<int64_t> width_edges(TopkMethod method, const TopkShape& shape);

}  // namespace exactk::oracle
