#include "oracle/dispatch_policy.h"

#include <algorithm>

namespace exactk::oracle {
namespace {

constexpr std::string_view kPolicyArch = "gfx950";

constexpr int64_t kK512Rows = 384;
constexpr int64_t kK512Width = 1048576;
constexpr int64_t kK1024Rows = 256;

// Blocks that the host reserves for k = 512; the first line that fits decides. A row count that
// misses its own line by width falls through to the later ones, as published.
struct ReserveRule {
  int64_t rows_max;
  int64_t width_above;
  int32_t blocks;
};
constexpr ReserveRule kK512Reserve[] = {
    {32, 16384, 16},
    {128, 65536, 10},
    {160, 262144, 3},
    {256, 262144, 2},
};

// Blocks that work on a row of k = 512; the first line that fits decides, otherwise one block.
struct ActiveRule {
  int64_t rows_min;
  int64_t rows_max;
  int64_t length_above;
  int32_t blocks;
};
constexpr ActiveRule kK512Active[] = {
    {1, 32, 262144, 16}, {1, 32, 131072, 10},   {1, 32, 16384, 8},     {33, 128, 524288, 10},
    {33, 128, 65536, 4}, {129, 160, 262144, 3}, {161, 256, 262144, 2},
};

// Blocks of k = 1024: what the host reserves by row count, and what is left of it from a certain
// length on.
struct K1024Rule {
  int64_t rows_max;
  int32_t blocks;
  int32_t blocks_long;
};
constexpr K1024Rule kK1024Blocks[] = {
    {32, 8, 8},
    {64, 4, 4},
    {kK1024Rows, 3, 2},
};
constexpr int64_t kK1024LongFrom = 65536;

// Decode calls that the path gate leaves to the native kernels: few rows over a long context.
constexpr int64_t kGateRows = 256;
constexpr int64_t kGateLength = 65536;

int64_t shifted(const TopkShape& shape, int64_t threshold) {
  return threshold >> shape.tuning.policy_shift;
}

bool takes_k512(const TopkShape& shape) {
  return shape.arch.starts_with(kPolicyArch) && shape.k == 512 && shape.column_stride == 1 &&
         shape.rows > 0 && shape.rows <= kK512Rows && shape.width <= shifted(shape, kK512Width);
}

bool takes_k1024(const TopkShape& shape) {
  return shape.arch.starts_with(kPolicyArch) && shape.k == 1024 && shape.column_stride == 1 &&
         shape.rows <= kK1024Rows && shape.width >= shape.tuning.split_width;
}

int32_t k512_reserve(const TopkShape& shape) {
  for (const ReserveRule& rule : kK512Reserve) {
    if (shape.rows <= rule.rows_max && shape.width > shifted(shape, rule.width_above)) {
      return rule.blocks;
    }
  }
  return 1;
}

int32_t k512_active(const TopkShape& shape, int64_t length) {
  for (const ActiveRule& rule : kK512Active) {
    if (shape.rows >= rule.rows_min && shape.rows <= rule.rows_max &&
        length > shifted(shape, rule.length_above)) {
      return rule.blocks;
    }
  }
  return 1;
}

const K1024Rule& k1024_rule(const TopkShape& shape) {
  const auto fits = [&](const K1024Rule& rule) { return shape.rows <= rule.rows_max; };
  const auto rule = std::find_if(std::begin(kK1024Blocks), std::end(kK1024Blocks), fits);
  return rule != std::end(kK1024Blocks) ? *rule : *std::prev(std::end(kK1024Blocks));
}

TopkPath one_block_path(const TopkShape& shape) {
  return shape.width < shape.tuning.radix_width ? TopkPath::kBlockInsertion : TopkPath::kBlockRadix;
}

// Rows that are split over several blocks need a second kernel, which merges.
TopkDispatch in_blocks(TopkPath path, int32_t max_blocks) {
  return {
      .accepted = true, .path = path, .max_blocks = max_blocks, .launches = max_blocks > 1 ? 2 : 1};
}

TopkDispatch generic(const TopkShape& shape) {
  const bool wide =
      shape.width >= shape.tuning.radix_width && shape.width >= shape.tuning.split_width;
  // The generic split is right for adjacent columns only; other strides stay on one block.
  if (wide && shape.column_stride == 1) {
    return in_blocks(TopkPath::kSplit, shape.tuning.split_blocks);
  }
  return in_blocks(one_block_path(shape), 1);
}

TopkDispatch k512(const TopkShape& shape) {
  return takes_k512(shape) ? in_blocks(TopkPath::kK512, k512_reserve(shape))
                           : TopkDispatch{.accepted = false, .path = TopkPath::kK512};
}

TopkDispatch k1024(const TopkShape& shape) {
  return takes_k1024(shape) ? in_blocks(TopkPath::kK1024, k1024_rule(shape).blocks)
                            : TopkDispatch{.accepted = false, .path = TopkPath::kK1024};
}

TopkDispatch whole_policy(const TopkShape& shape) {
  for (const TopkDispatch& special : {k512(shape), k1024(shape)}) {
    if (special.accepted) {
      return special;
    }
  }
  return generic(shape);
}

TopkDispatch gated(const TopkShape& shape) {
  const GateSide side = path_gate(gate_shape(shape));
  return side == GateSide::kAiter ? in_blocks(TopkPath::kFullRadix, 1) : whole_policy(shape);
}

TopkDispatch prefill(const TopkShape& shape) {
  TopkDispatch dispatch = in_blocks(TopkPath::kPrefill, 1);
  dispatch.launches = shape.rows > shape.tuning.radix_rows ? 2 : 1;
  return dispatch;
}

// The shape with another row count or width.
using Vary = TopkShape (*)(TopkShape, int64_t);

// Those of the candidates, all at least 1, after which the dispatch is another.
std::vector<int64_t> changes(TopkMethod method, const TopkShape& shape, Vary vary,
                             std::vector<int64_t> candidates) {
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::erase_if(candidates, [&](int64_t edge) {
    return edge < 1 ||
           topk_dispatch(method, vary(shape, edge)) == topk_dispatch(method, vary(shape, edge + 1));
  });
  return candidates;
}

}  // namespace

std::string_view name(TopkPath path) {
  switch (path) {
    case TopkPath::kBlockInsertion:
      return "block_insertion";
    case TopkPath::kBlockRadix:
      return "block_radix";
    case TopkPath::kSplit:
      return "split";
    case TopkPath::kK512:
      return "k512";
    case TopkPath::kK1024:
      return "k1024";
    case TopkPath::kFullRadix:
      return "full_radix";
    case TopkPath::kPrefill:
      return "prefill";
  }
  return "unknown";
}

GateSide path_gate(const GateShape& shape, GateVersion version) {
  if (shape.compress_ratio <= 1 || !shape.arch.starts_with(kPolicyArch)) {
    return GateSide::kNative;
  }
  if (shape.prefill) {
    return GateSide::kAiter;
  }
  const bool native_k512 = shape.k == 512 && shape.rows > 0 && shape.rows <= kK512Rows &&
                           shape.columns <= kK512Width >> shape.policy_shift;
  if (version == GateVersion::kK512 && native_k512) {
    return GateSide::kNative;
  }
  const bool native_long =
      shape.rows <= kGateRows && shape.max_valid_seq_len > kGateLength >> shape.policy_shift;
  return native_long ? GateSide::kNative : GateSide::kAiter;
}

GateShape gate_shape(const TopkShape& shape) {
  return {
      .prefill = false,
      .compress_ratio = shape.compress_ratio,
      .rows = shape.rows,
      .max_valid_seq_len =
          shape.full_graph ? shape.width * shape.compress_ratio : shape.max_seq_len_hint,
      .columns = shape.width,
      .k = shape.k,
      .arch = shape.arch,
      .policy_shift = shape.tuning.policy_shift,
  };
}

TopkDispatch topk_dispatch(TopkMethod method, const TopkShape& shape) {
  switch (method) {
    case TopkMethod::kBlock:
      return in_blocks(one_block_path(shape), 1);
    case TopkMethod::kSplitMerge:
      return generic(shape);
    case TopkMethod::kK512:
      return k512(shape);
    case TopkMethod::kK1024:
      return k1024(shape);
    case TopkMethod::kAuto:
      return whole_policy(shape);
    case TopkMethod::kFullRadix:
      return in_blocks(TopkPath::kFullRadix, 1);
    case TopkMethod::kGated:
      return gated(shape);
    case TopkMethod::kPrefill:
      return prefill(shape);
  }
  return {};
}

int32_t active_blocks(const TopkDispatch& dispatch, const TopkShape& shape, int64_t length) {
  switch (dispatch.path) {
    case TopkPath::kBlockInsertion:
    case TopkPath::kBlockRadix:
    case TopkPath::kFullRadix:
    case TopkPath::kPrefill:
      return 1;
    case TopkPath::kSplit:
      return dispatch.max_blocks;
    case TopkPath::kK512: {
      const int64_t full_chunks = std::max<int64_t>(1, length / shape.tuning.min_chunk);
      const int32_t wanted = std::min(k512_active(shape, length), dispatch.max_blocks);
      return static_cast<int32_t>(std::min<int64_t>(wanted, full_chunks));
    }
    case TopkPath::kK1024: {
      const bool is_long = length >= shifted(shape, kK1024LongFrom);
      return is_long ? k1024_rule(shape).blocks_long : k1024_rule(shape).blocks;
    }
  }
  return 1;
}

std::vector<int64_t> length_edges(const TopkShape& shape) {
  const TopkDispatch dispatch = topk_dispatch(TopkMethod::kAuto, shape);

  // Every length after which some rule could change; those that change nothing are dropped below.
  std::vector<int64_t> candidates{shifted(shape, kK1024LongFrom) - 1};
  for (const ActiveRule& rule : kK512Active) {
    candidates.push_back(shifted(shape, rule.length_above));
  }
  for (int64_t chunks = 2; chunks <= dispatch.max_blocks; ++chunks) {
    candidates.push_back(chunks * shape.tuning.min_chunk - 1);
  }

  std::vector<int64_t> edges{std::min(shape.k, shape.width)};
  for (const int64_t length : candidates) {
    if (length >= 0 && length < shape.width &&
        active_blocks(dispatch, shape, length) != active_blocks(dispatch, shape, length + 1)) {
      edges.push_back(length);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

std::vector<int64_t> row_edges(TopkMethod method, const TopkShape& shape) {
  std::vector<int64_t> candidates{kK512Rows, kGateRows, shape.tuning.radix_rows};
  for (const ReserveRule& rule : kK512Reserve) candidates.push_back(rule.rows_max);
  for (const K1024Rule& rule : kK1024Blocks) candidates.push_back(rule.rows_max);
  const auto with_rows = [](TopkShape s, int64_t rows) {
    s.rows = rows;
    return s;
  };
  return changes(method, shape, with_rows, std::move(candidates));
}

std::vector<int64_t> width_edges(TopkMethod method, const TopkShape& shape) {
  std::vector<int64_t> candidates{shape.tuning.radix_width - 1, shape.tuning.split_width - 1,
                                  shifted(shape, kK512Width),
                                  shifted(shape, kGateLength) / shape.compress_ratio};
  for (const ReserveRule& rule : kK512Reserve)
    candidates.push_back(shifted(shape, rule.width_above));
  const auto with_width = [](TopkShape s, int64_t width) {
    s.width = width;
    return s;
  };
  return changes(method, shape, with_width, std::move(candidates));
}

}  // namespace exactk::oracle
