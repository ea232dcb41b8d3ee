#include "kernels/device/portable.h"

#include "kernels/logits/logits_kernels.h"

#include "kernels/logits/launch.h"

namespace exactk::kernels::logits {
namespace {

struct MqaTiles : Ragged {
  static constexpr const char* kName = "mqa.tiles";
  using Traits = Shipped;
};
struct MqaPagedTiles : Paged {
  static constexpr const char* kName = "mqa.paged_tiles";
  using Traits = Shipped;
};

}  // namespace

const exactk_kernel kMqaTiles = describe<MqaTiles>("One block per row and 64 columns.");
const exactk_kernel kMqaPagedTiles =
    describe<MqaPagedTiles>("One block per row and 64 columns, keys through the block table.");

}  // namespace exactk::kernels::logits
