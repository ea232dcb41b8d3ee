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

TopkDispatch generic(const TopkShape& shape) {
  const bool wide =
      shape.width >= shape.tuning.radix_width && shape.width >= shape.tuning.split_width;
  // The generic split is right for adjacent columns only; other strides stay on one block.
  if (wide && shape.column_stride == 1) {
    return {.accepted = true, .path = TopkPath::kSplit, .max_blocks = shape.tuning.split_blocks};
  }
  return {.accepted = true, .path = one_block_path(shape), .max_blocks = 1};
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
  }
  return "unknown";
}

TopkDispatch topk_dispatch(TopkMethod method, const TopkShape& shape) {
  switch (method) {
    case TopkMethod::kBlock:
      return {.accepted = true, .path = one_block_path(shape), .max_blocks = 1};
    case TopkMethod::kSplitMerge:
      return generic(shape);
    case TopkMethod::kK512:
      if (!takes_k512(shape)) {
        return {.accepted = false, .path = TopkPath::kK512, .max_blocks = 1};
      }
      return {.accepted = true, .path = TopkPath::kK512, .max_blocks = k512_reserve(shape)};
    case TopkMethod::kK1024:
      if (!takes_k1024(shape)) {
        return {.accepted = false, .path = TopkPath::kK1024, .max_blocks = 1};
      }
      return {.accepted = true, .path = TopkPath::kK1024, .max_blocks = k1024_rule(shape).blocks};
    case TopkMethod::kAuto:
      break;
  }
  if (takes_k512(shape)) {
    return topk_dispatch(TopkMethod::kK512, shape);
  }
  if (takes_k1024(shape)) {
    return topk_dispatch(TopkMethod::kK1024, shape);
  }
  return generic(shape);
}

int32_t active_blocks(const TopkDispatch& dispatch, const TopkShape& shape, int64_t length) {
  switch (dispatch.path) {
    case TopkPath::kBlockInsertion:
    case TopkPath::kBlockRadix:
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

}  // namespace exactk::oracle
