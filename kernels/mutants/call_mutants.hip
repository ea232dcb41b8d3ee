#include "kernels/device/portable.h"

#include "kernels/mutants/topk_mutants.h"

#include <cstdio>

#include "kernels/topk/launch.h"

namespace exactk::kernels::planted {
namespace {

using topk::Method;

// topk.split_merge or topk.block with another host side, which gets a copy of the descriptor.
template <class Kernel>
exactk_kernel describe_call(const char* description) {
  exactk_kernel kernel = topk::describe<Kernel>(description);
  kernel.launch = [](const void* descriptor, char* text, size_t bytes) {
    return Kernel::call(*static_cast<const exactk_topk_decode*>(descriptor), text, bytes);
  };
  return kernel;
}

exactk_status failed(const char* kernel, const char* what, hipError_t error, char* text,
                     size_t bytes) {
  std::snprintf(text, bytes, "%s: %s failed: %s", kernel, what, hipGetErrorString(error));
  return EXACTK_ERROR;
}

// F14: the lists are in scratch of the process, which is as large as the last call asked for. A
// question for another size frees it, and a graph that was captured before still writes there.
struct ScratchFreed : topk::DecodeKernel {
  static constexpr const char* kName = "mutant.scratch_freed";
  static constexpr Method kMethod = Method::kSplitMerge;

  struct Scratch {
    void* memory = nullptr;
    int64_t bytes = 0;
    hipError_t resize(int64_t wanted) {
      hipError_t error = hipSuccess;
      if (wanted != bytes && memory != nullptr) {
        error = hipFree(memory);
        memory = nullptr;
      }
      if (error == hipSuccess && memory == nullptr && wanted > 0) {
        error = hipMalloc(&memory, static_cast<size_t>(wanted));
      }
      bytes = memory != nullptr ? wanted : 0;
      return error;
    }
  };
  static Scratch& scratch() {
    static Scratch one;
    return one;
  }

  // Asked before a capture, which forbids to allocate.
  static int64_t workspace_bytes(const void* descriptor) {
    const int64_t wanted = topk::workspace_bytes<ScratchFreed>(descriptor);
    return scratch().resize(wanted) == hipSuccess ? wanted : 0;
  }

  static exactk_status call(exactk_topk_decode d, char* text, size_t bytes) {
    const int64_t wanted = topk::workspace_bytes<ScratchFreed>(&d);
    if (const hipError_t error = scratch().resize(wanted)) {
      return failed(kName, "the scratch", error, text, bytes);
    }
    d.workspace = scratch().memory;
    d.workspace_bytes = scratch().bytes;
    return topk::launch<ScratchFreed>(&d, text, bytes);
  }
};

// F15: the call goes to the default stream, whichever it was given. It becomes no part of a graph
// that is captured on that one, whose replays leave what was there.
struct DefaultStream : topk::DecodeKernel {
  static constexpr const char* kName = "mutant.default_stream";
  static constexpr Method kMethod = Method::kBlock;

  static exactk_status call(exactk_topk_decode d, char* text, size_t bytes) {
    d.stream = nullptr;
    return topk::launch<DefaultStream>(&d, text, bytes);
  }
};

// F16: every call allocates its lists, which a capture forbids.
struct AllocatesInCall : topk::DecodeKernel {
  static constexpr const char* kName = "mutant.allocates_in_call";
  static constexpr Method kMethod = Method::kSplitMerge;

  static exactk_status call(exactk_topk_decode d, char* text, size_t bytes) {
    if (d.workspace_bytes == 0) {
      return topk::launch<AllocatesInCall>(&d, text, bytes);
    }
    const auto stream = static_cast<hipStream_t>(d.stream);
    if (const hipError_t error = hipMalloc(&d.workspace, static_cast<size_t>(d.workspace_bytes))) {
      return failed(kName, "the allocation of its lists", error, text, bytes);
    }
    const exactk_status status = topk::launch<AllocatesInCall>(&d, text, bytes);
    hipError_t error = hipStreamSynchronize(stream);
    const hipError_t freed = hipFree(d.workspace);
    error = error == hipSuccess ? freed : error;
    return status == EXACTK_OK && error != hipSuccess
               ? failed(kName, "the end of its lists", error, text, bytes)
               : status;
  }
};

// F16: the output is filled with -1 by the device's fill, which is no kernel in a captured graph.
struct FillNode : topk::DecodeKernel {
  static constexpr const char* kName = "mutant.fill_node";
  static constexpr Method kMethod = Method::kBlock;

  static exactk_status call(exactk_topk_decode d, char* text, size_t bytes) {
    const auto stream = static_cast<hipStream_t>(d.stream);
    for (int64_t row = 0; row < d.rows; ++row) {
      const auto row_bytes = static_cast<size_t>(d.k) * sizeof(int32_t);
      if (const hipError_t error =
              hipMemsetAsync(d.indices + row * d.out_stride_elems, 0xff, row_bytes, stream)) {
        return failed(kName, "the fill", error, text, bytes);
      }
    }
    return topk::launch<FillNode>(&d, text, bytes);
  }
};

exactk_kernel describe_scratch() {
  exactk_kernel kernel = describe_call<ScratchFreed>(
      "topk.split_merge whose lists are in scratch that a call of another size frees.");
  kernel.workspace_bytes = &ScratchFreed::workspace_bytes;
  return kernel;
}

const exactk_kernel kScratchFreed = describe_scratch();
const exactk_kernel kDefaultStream =
    describe_call<DefaultStream>("topk.block that is launched on the default stream.");
const exactk_kernel kAllocatesInCall =
    describe_call<AllocatesInCall>("topk.split_merge that allocates its lists in the call.");
const exactk_kernel kFillNode =
    describe_call<FillNode>("topk.block behind a fill of the output by the device.");

const Mutant kMutants[] = {
    {&kScratchFreed, "topk.split_merge", "F14",
     "topk.decode rows=1 k=64 lens=const:4000 tune=radix_width:64,split_width:256 "
     "session=launch+stream:1+capture+run:topk.decode+replay",
     0, true},
    {&kDefaultStream, "topk.block", "F15",
     "topk.decode rows=1 width=64 k=8 lens=const:64 launch=graph replays=1"},
    {&kAllocatesInCall, "topk.split_merge", "F16",
     "topk.decode rows=1 k=64 lens=const:4000 launch=graph tune=radix_width:64,split_width:256"},
    {&kFillNode, "topk.block", "F16", "topk.decode rows=1 width=64 k=8 lens=const:64 launch=graph"},
};

}  // namespace

std::span<const Mutant> call_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
