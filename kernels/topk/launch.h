// A kernel of the C interface from a method and traits: the host side of supports, workspace and
// launch.
//
// A `Kernel` names itself: { static constexpr const char* kName; static constexpr Method kMethod;
// using Traits; }.
#pragma once

#include "kernels/device/portable.h"

#include <cstdio>

#include "kernels/abi/exactk_abi.h"
#include "kernels/topk/kernels.h"
#include "kernels/topk/plan.h"

namespace exactk::kernels::topk {

inline ActiveRule active_rule(exactk_topk_path path) {
  return path == EXACTK_PATH_K512    ? ActiveRule::kK512
         : path == EXACTK_PATH_K1024 ? ActiveRule::kK1024
                                     : ActiveRule::kAll;
}

inline TopkParams make_params(const exactk_topk_decode& d, const LaunchPlan& plan) {
  TopkParams p{};
  p.logits = reinterpret_cast<const uint32_t*>(d.logits);
  p.seq_lens = d.seq_lens;
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
bool launch_split(const char* kernel, const exactk_topk_decode& d, const LaunchPlan& plan,
                  Message message) {
  const TopkParams p = make_params(d, plan);
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

template <class Traits>
bool launch_rows(const char* kernel, const exactk_topk_decode& d, const LaunchPlan& plan,
                 Message message) {
  hipLaunchKernelGGL((topk_rows<Traits, kCapacityGeneric>), dim3(static_cast<unsigned>(d.rows)),
                     dim3(static_cast<unsigned>(plan.block_threads)), 0,
                     static_cast<hipStream_t>(d.stream), make_params(d, plan));
  return launched(kernel, "row", message);
}

template <class Traits>
bool launch_path(const char* kernel, const exactk_topk_decode& d, const LaunchPlan& plan,
                 Message message) {
  switch (plan.path) {
    case EXACTK_PATH_K512:
      return launch_split<Traits, kCapacityK512>(kernel, d, plan, message);
    case EXACTK_PATH_SPLIT:
    case EXACTK_PATH_K1024:
      return launch_split<Traits, kCapacityGeneric>(kernel, d, plan, message);
    default:
      return launch_rows<Traits>(kernel, d, plan, message);
  }
}

template <class Kernel>
exactk_status supports(const exactk_topk_decode* d, char* text, size_t bytes) {
  LaunchPlan plan;
  return plan_launch(Kernel::kMethod, Kernel::kName, *d, &plan, {text, bytes});
}

template <class Kernel>
int64_t workspace_bytes(const exactk_topk_decode* d) {
  LaunchPlan plan;
  return plan_launch(Kernel::kMethod, Kernel::kName, *d, &plan, {nullptr, 0}) == EXACTK_OK
             ? 2 * plan.list_bytes
             : 0;
}

template <class Kernel>
exactk_status launch(const exactk_topk_decode* d, char* text, size_t bytes) {
  const Message message{text, bytes};
  LaunchPlan plan;
  const exactk_status status = plan_launch(Kernel::kMethod, Kernel::kName, *d, &plan, message);
  if (status != EXACTK_OK) {
    return status;
  }
  const long long needed = 2 * plan.list_bytes;
  if (needed > 0 && (d->workspace == nullptr || d->workspace_bytes < needed)) {
    std::snprintf(text, bytes, "%s needs a workspace of %lld bytes; got %lld", Kernel::kName,
                  needed,
                  d->workspace == nullptr ? 0ll : static_cast<long long>(d->workspace_bytes));
    return EXACTK_ERROR;
  }
  if (d->report != nullptr) {
    d->report->path = plan.path;
    d->report->max_blocks = static_cast<int32_t>(plan.max_blocks);
  }
  return launch_path<typename Kernel::Traits>(Kernel::kName, *d, plan, message) ? EXACTK_OK
                                                                                : EXACTK_ERROR;
}

// Not constexpr: a constant would be made for the device as well, where these functions are not.
template <class Kernel>
exactk_kernel describe(const char* description) {
  return {sizeof(exactk_kernel),
          EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_KERNELS_ONLY,
          Kernel::kName,
          "topk.decode",
          description,
          &supports<Kernel>,
          &workspace_bytes<Kernel>,
          &launch<Kernel>};
}

}  // namespace exactk::kernels::topk
