#include "kernels/device/portable.h"

#include "kernels/index/index_kernels.h"

#include "kernels/index/launch.h"

namespace exactk::kernels::index {
namespace {

struct Fused : Combine {
  static constexpr const char* kName = "combine.fused";
  using Traits = Shipped;
};
struct FillFirst : CombineFillFirst {
  static constexpr const char* kName = "combine.fill_first";
  using Traits = Shipped;
};
struct TranslateRows : Translate {
  static constexpr const char* kName = "translate.rows";
  using Traits = Shipped;
};
struct SwaRows : Swa {
  static constexpr const char* kName = "swa.rows";
  using Traits = Shipped;
};

}  // namespace

const exactk_kernel kCombineFused =
    describe<Fused>("One launch that writes every slot; ragged: lengths, their sums, then rows.");
const exactk_kernel kCombineFillFirst =
    describe<FillFirst>("The published form: -1 everywhere, then the entries of each row.");
const exactk_kernel kTranslateRows = describe<TranslateRows>(
    "One block per token in every form; ragged and pack: lengths, their sums, then rows.");
const exactk_kernel kSwaRows = describe<SwaRows>("One block per token.");

}  // namespace exactk::kernels::index
