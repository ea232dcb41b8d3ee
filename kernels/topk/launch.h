// A kernel of the C interface from a method and traits: the host side of supports, workspace and
// launch.
//
// A `Kernel` derives from DecodeKernel or PrefillKernel and names itself: { static constexpr const
// char* kName; static constexpr Method kMethod; }.
#pragma once

#include "kernels/device/portable.h"

#include <cstdio>

#include "kernels/abi/exactk_abi.h"
#include "kernels/topk/kernels.h"
#include "kernels/topk/plan.h"
#include "kernels/topk/traits.h"

namespace exactk::kernels::topk {

struct DecodeKernel {
  using Descriptor = exactk_topk_decode;
  using Traits = Shipped;
  static constexpr const char* kOp = "topk.decode";
  static constexpr uint32_t kModes =
      EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_KERNELS_ONLY;
  static constexpr int64_t kGateRowsMax = kGateRows;
};

inline constexpr uint32_t kStableModes =
    DecodeKernel::kModes | EXACTK_MODE_STABLE | EXACTK_MODE_REPEATABLE;

struct PrefillKernel : DecodeKernel {
  using Descriptor = exactk_topk_prefill;
  static constexpr const char* kOp = "topk.prefill";
};

// A call of either operation.
struct Call {
  exactk_topk_decode common;  // a prefill call: the fields that decode has as well
  const int32_t* row_starts = nullptr;
  const int32_t* row_ends = nullptr;
};

inline Call call_of(const exactk_topk_decode& d) {
  return {d};
}

inline Call call_of(const exactk_topk_prefill& d) {
  exactk_topk_decode common{};
  common.struct_size = sizeof(common);
  common.seq_lens_dim = 2;
  common.logits = d.logits;
  common.indices = d.indices;
  common.rows = d.rows;
  common.next_n = 1;
  common.width = d.width;
  common.k = d.k;
  common.row_stride_elems = d.row_stride_elems;
  common.column_stride_elems = d.column_stride_elems;
  common.out_stride_elems = d.out_stride_elems;
  common.workspace = d.workspace;
  common.workspace_bytes = d.workspace_bytes;
  common.stream = d.stream;
  common.arch = d.arch;
  common.tuning = d.tuning;
  common.report = d.report;
  return {common, d.row_starts, d.row_ends};
}

template <class Kernel>
Call call_of(const void* descriptor) {
  return call_of(*static_cast<const typename Kernel::Descriptor*>(descriptor));
}

inline ActiveRule active_rule(exactk_topk_path path) {
  return path == EXACTK_PATH_K512    ? ActiveRule::kK512
         : path == EXACTK_PATH_K1024 ? ActiveRule::kK1024
                                     : ActiveRule::kAll;
}

template <class Traits>
TopkParams make_params(const Call& call, const LaunchPlan& plan) {
  const exactk_topk_decode& d = call.common;
  TopkParams p{};
  p.logits = reinterpret_cast<const uint32_t*>(d.logits);
  p.seq_lens = d.seq_lens;
  p.row_starts = call.row_starts;
  p.row_ends = call.row_ends;
  p.indices = d.indices;
  p.active_blocks = d.report != nullptr ? d.report->active_blocks : nullptr;
  p.next_n = d.next_n;
  p.width = d.width;
  p.k = d.k;
  p.row_stride = d.row_stride_elems;
  p.column_stride = d.column_stride_elems;
  p.out_stride = d.out_stride_elems;
  p.length_per_row = d.seq_lens_dim == 2 ? 1 : 0;
  p.list_capacity = static_cast<uint32_t>(plan.list_capacity);
  p.insertion_items = plan.insertion_items < plan.list_capacity
                          ? static_cast<uint32_t>(plan.insertion_items)
                          : p.list_capacity;
  p.policy = {active_rule(plan.path), static_cast<int32_t>(plan.policy_shift), d.rows,
              plan.max_blocks, plan.min_chunk};
  if (plan.merges()) {
    p.partial_keys = static_cast<uint32_t*>(d.workspace);
    p.partial_indices =
        reinterpret_cast<int32_t*>(static_cast<char*>(d.workspace) + plan.list_bytes);
  }
  Traits::adapt(&p, plan);
  return p;
}

// Checks every launch at once, so that an error is told of the kernel that has it.
inline bool launched(const char* kernel, const char* part, Message message) {
  const hipError_t error = hipGetLastError();
  if (error != hipSuccess) {
    std::snprintf(message.text, message.bytes, "%s: the %s kernel was not launched: %s", kernel,
                  part, hipGetErrorString(error));
  }
  return error == hipSuccess;
}

template <class Traits, int kCapacity>
bool launch_split(const char* kernel, const Call& call, const LaunchPlan& plan, Message message) {
  const exactk_topk_decode& d = call.common;
  const TopkParams p = make_params<Traits>(call, plan);
  const typename Traits::FromHost from_host = Traits::from_host(d);
  const auto stream = static_cast<hipStream_t>(d.stream);
  const auto rows = static_cast<unsigned>(d.rows);
  hipLaunchKernelGGL((topk_chunks<Traits, kCapacity>),
                     dim3(rows, static_cast<unsigned>(plan.max_blocks)),
                     dim3(static_cast<unsigned>(plan.block_threads)), 0, stream, p, from_host);
  if (!launched(kernel, "chunk", message)) {
    return false;
  }
  if (!plan.merges()) {
    return true;
  }
  hipLaunchKernelGGL((topk_merge<Traits, kCapacity>), dim3(rows),
                     dim3(static_cast<unsigned>(plan.merge_threads)), 0, stream, p, from_host);
  return launched(kernel, "merge", message);
}

// The rows from p.first_row up to `end`.
template <class Traits>
bool launch_rows(const char* kernel, const Call& call, const LaunchPlan& plan, const TopkParams& p,
                 int64_t end, Message message) {
  hipLaunchKernelGGL((topk_rows<Traits, kCapacityGeneric>),
                     dim3(static_cast<unsigned>(end - p.first_row)),
                     dim3(static_cast<unsigned>(plan.block_threads)), 0,
                     static_cast<hipStream_t>(call.common.stream), p);
  return launched(kernel, "row", message);
}

// The published prefill: the list of the first rows is ranked by comparison, that of the rows from
// radix_rows on by radix steps.
template <class Traits>
bool launch_prefill(const char* kernel, const Call& call, const LaunchPlan& plan, Message message) {
  const int64_t rows = call.common.rows;
  TopkParams p = make_params<Traits>(call, plan);
  const int64_t first_rows = rows < plan.radix_rows ? rows : plan.radix_rows;
  if (!launch_rows<Traits>(kernel, call, plan, p, first_rows, message)) {
    return false;
  }
  p.first_row = plan.radix_rows;
  p.insertion_items = 0;
  Traits::second_launch(&p);
  return p.first_row >= rows || launch_rows<Traits>(kernel, call, plan, p, rows, message);
}

template <class Kernel>
bool launch_stable(const Call& call, const LaunchPlan& plan, Message message) {
  TopkParams p = make_params<typename Kernel::Traits>(call, plan);
  p.absolute = (Kernel::kModes & EXACTK_MODE_ABSOLUTE) != 0 ? 1 : 0;
  hipLaunchKernelGGL((topk_stable<typename Kernel::Traits>),
                     dim3(static_cast<unsigned>(call.common.rows)),
                     dim3(static_cast<unsigned>(plan.block_threads)), 0,
                     static_cast<hipStream_t>(call.common.stream), p);
  return launched(Kernel::kName, "row", message);
}

// Compiled for the paths that its method can plan, and no others.
template <class Kernel>
bool launch_path(const Call& call, const LaunchPlan& plan, Message message) {
  using Traits = typename Kernel::Traits;
  constexpr Method method = Kernel::kMethod;
  constexpr bool dispatches = method == Method::kAuto || method == Method::kGated;
  if constexpr (method == Method::kK512 || dispatches) {
    if (plan.path == EXACTK_PATH_K512) {
      return launch_split<Traits, kCapacityK512>(Kernel::kName, call, plan, message);
    }
  }
  if constexpr (method == Method::kSplitMerge || method == Method::kK1024 || dispatches) {
    if (plan.path == EXACTK_PATH_SPLIT || plan.path == EXACTK_PATH_K1024) {
      return launch_split<Traits, kCapacityGeneric>(Kernel::kName, call, plan, message);
    }
  }
  if constexpr (method == Method::kFullRadix || method == Method::kGated) {
    if (plan.path == EXACTK_PATH_FULL_RADIX) {
      return launch_stable<Kernel>(call, plan, message);
    }
  }
  if constexpr (method == Method::kPrefill) {
    return launch_prefill<Traits>(Kernel::kName, call, plan, message);
  }
  if constexpr (method == Method::kBlock || method == Method::kSplitMerge || dispatches) {
    return launch_rows<Traits>(Kernel::kName, call, plan, make_params<Traits>(call, plan),
                               call.common.rows, message);
  }
  std::snprintf(message.text, message.bytes, "%s has no kernel for path %d", Kernel::kName,
                static_cast<int>(plan.path));
  return false;
}

template <class Kernel>
exactk_status plan_call(const Call& call, LaunchPlan* plan, Message message) {
  return plan_launch({Kernel::kMethod, Kernel::kName, Kernel::kGateRowsMax}, call.common, plan,
                     message);
}

template <class Kernel>
exactk_status supports(const void* descriptor, char* text, size_t bytes) {
  LaunchPlan plan;
  return plan_call<Kernel>(call_of<Kernel>(descriptor), &plan, {text, bytes});
}

template <class Kernel>
int64_t workspace_bytes(const void* descriptor) {
  LaunchPlan plan;
  return plan_call<Kernel>(call_of<Kernel>(descriptor), &plan, {nullptr, 0}) == EXACTK_OK
             ? 2 * plan.list_bytes
             : 0;
}

template <class Kernel>
exactk_status launch(const void* descriptor, char* text, size_t bytes) {
  const Call call = call_of<Kernel>(descriptor);
  const exactk_topk_decode& d = call.common;
  const Message message{text, bytes};
  LaunchPlan plan;
  const exactk_status status = plan_call<Kernel>(call, &plan, message);
  if (status != EXACTK_OK) {
    return status;
  }
  const long long needed = 2 * plan.list_bytes;
  if (needed > 0 && (d.workspace == nullptr || d.workspace_bytes < needed)) {
    std::snprintf(text, bytes, "%s needs a workspace of %lld bytes; got %lld", Kernel::kName,
                  needed, d.workspace == nullptr ? 0ll : static_cast<long long>(d.workspace_bytes));
    return EXACTK_ERROR;
  }
  if (d.report != nullptr) {
    d.report->path = plan.path;
    d.report->max_blocks = static_cast<int32_t>(plan.max_blocks);
    d.report->launches = plan.launches;
  }
  return launch_path<Kernel>(call, plan, message) ? EXACTK_OK : EXACTK_ERROR;
}

// Not constexpr: a constant would be made for the device as well, where these functions are not.
template <class Kernel>
exactk_kernel describe(const char* description) {
  return {sizeof(exactk_kernel),
          Kernel::kModes,
          Kernel::kName,
          Kernel::kOp,
          description,
          &supports<Kernel>,
          &workspace_bytes<Kernel>,
          &launch<Kernel>,
          EXACTK_NAN_ORDERED,
          0,
          {}};
}

}  // namespace exactk::kernels::topk
