#include "kernels/device/portable.h"

#include "kernels/topk/topk_kernels.h"

#include "kernels/topk/launch.h"

namespace exactk::kernels::topk {
namespace {

struct Block {
  static constexpr const char* kName = "topk.block";
  static constexpr Method kMethod = Method::kBlock;
  using Traits = Shipped;
};
struct SplitMerge {
  static constexpr const char* kName = "topk.split_merge";
  static constexpr Method kMethod = Method::kSplitMerge;
  using Traits = Shipped;
};
struct K512 {
  static constexpr const char* kName = "topk.k512";
  static constexpr Method kMethod = Method::kK512;
  using Traits = Shipped;
};
struct K1024 {
  static constexpr const char* kName = "topk.k1024";
  static constexpr Method kMethod = Method::kK1024;
  using Traits = Shipped;
};
struct Auto {
  static constexpr const char* kName = "topk.auto";
  static constexpr Method kMethod = Method::kAuto;
  using Traits = Shipped;
};

}  // namespace

const exactk_kernel kTopkBlock =
    describe<Block>("One block per row: threshold search, then an insertion or radix final sort.");
const exactk_kernel kTopkSplitMerge =
    describe<SplitMerge>("Wide buffers in ten chunks per row and a merge, others as topk.block.");
const exactk_kernel kTopkK512 = describe<K512>(
    "k = 512 on gfx950: 1 to 16 blocks per row by its length on the device, then a merge.");
const exactk_kernel kTopkK1024 = describe<K1024>(
    "k = 1024 on gfx950 in wide buffers: 8, 4, 3 or 2 blocks per row, then a merge.");
const exactk_kernel kTopkAuto =
    describe<Auto>("The published dispatch: topk.k512, else topk.k1024, else topk.split_merge.");

}  // namespace exactk::kernels::topk
