#include "kernels/device/portable.h"

#include "kernels/router/router_kernels.h"

#include "kernels/router/launch.h"

namespace exactk::kernels::router {
namespace {

struct RouterWave : ByWaves {
  static constexpr const char* kName = "router.wave";
  using Traits = Shipped;
};
struct RouterRanks : ByRanks {
  static constexpr const char* kName = "router.ranks";
  using Traits = Shipped;
};

}  // namespace

const exactk_kernel kRouterWave =
    describe<RouterWave>("One wave per token, which looks for the best expert k times.");
const exactk_kernel kRouterRanks =
    describe<RouterRanks>("One block per token, in which experts count those before them.");

}  // namespace exactk::kernels::router
