// The forms of the router as bases of kernels that kernels/launch.h describes.
#pragma once

#include "kernels/device/portable.h"

#include "kernels/launch.h"
#include "kernels/router/check.h"
#include "kernels/router/route.h"

namespace exactk::kernels::router {

struct Operation {
  using Descriptor = exactk_router;
  static constexpr const char* kOp = "router.grouped_topk";

  static int64_t workspace(const exactk_router&) { return 0; }
};

struct ByWaves : Operation {
  static constexpr auto check = &check_wave;

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_router& d) {
    const dim3 grid = blocks((d.tokens + kTeamsMin - 1) / kTeamsMin);
    const auto bytes = static_cast<size_t>(kTeamsMax * token_words(d) * 4);
    if (d.logit_bytes == 2) {
      hipLaunchKernelGGL((route_by_waves<Traits, Bf16>), grid, dim3(kWaveThreads), bytes,
                         call.stream, d);
    } else {
      hipLaunchKernelGGL((route_by_waves<Traits, float>), grid, dim3(kWaveThreads), bytes,
                         call.stream, d);
    }
    return call.launched("router");
  }
};

struct ByRanks : Operation {
  static constexpr auto check = &check_block;

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_router& d) {
    const dim3 grid = blocks(d.tokens);
    const auto bytes = static_cast<size_t>((kBlockWavesMax + token_words(d)) * 4);
    if (d.logit_bytes == 2) {
      hipLaunchKernelGGL((route_by_ranks<Traits, Bf16>), grid, dim3(kBlockThreads), bytes,
                         call.stream, d);
    } else {
      hipLaunchKernelGGL((route_by_ranks<Traits, float>), grid, dim3(kBlockThreads), bytes,
                         call.stream, d);
    }
    return call.launched("router");
  }
};

}  // namespace exactk::kernels::router
