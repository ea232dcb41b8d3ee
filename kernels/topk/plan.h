// The host side of the dispatch: which kernels a descriptor takes, with which numbers, or why it is
// declined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/abi/exactk_abi.h"

namespace exactk::kernels::topk {

enum class Method : int32_t {
  kBlock,
  kSplitMerge,
  kK512,
  kK1024,
  kAuto,
  kFullRadix,  // decode and prefill
  kGated,
  kPrefill,
};

// Rows up to which the path gate leaves decode with k = 512 to the native kernels.
inline constexpr int64_t kGateRows = 384;

// What the plan has to know of a kernel.
struct Dispatch {
  Method method;
  const char* kernel;  // every message starts with it
  int64_t gate_rows = kGateRows;
};

// Members of the threshold bin that the kernels were compiled to list.
inline constexpr int kCapacityGeneric = 2048;
inline constexpr int kCapacityK512 = 1024;

struct LaunchPlan {
  exactk_topk_path path = EXACTK_PATH_UNKNOWN;
  int64_t max_blocks = 1;       // blocks per row that grid and workspace are sized for
  int64_t block_threads = 512;  // of the row and chunk kernels
  int64_t merge_threads = 1024;
  int64_t list_capacity = kCapacityGeneric;
  int64_t insertion_items = 0;
  int64_t policy_shift = 0;
  int64_t min_chunk = 512;
  int64_t radix_rows = 0;  // prefill: rows from this one on are a second launch
  int32_t launches = 1;    // kernels that the call puts onto the stream
  int64_t list_elems = 0;  // entries of all partial lists: rows * max_blocks * k, 0 without a merge
  int64_t list_bytes = 0;  // of either half of the workspace (keys, indices), rounded up to 256
  bool merges() const { return max_blocks > 1; }
};

// A message buffer of the C interface; may be empty.
struct Message {
  char* text;
  size_t bytes;
};

// EXACTK_OK and a plan, or EXACTK_DECLINED or EXACTK_ERROR (a malformed descriptor) and one
// sentence. An injected list capacity above the compiled one is lowered to it. A prefill call is
// planned by what it has in common with a decode call.
exactk_status plan_launch(const Dispatch& dispatch, const exactk_topk_decode& d, LaunchPlan* plan,
                          Message message);

}  // namespace exactk::kernels::topk
