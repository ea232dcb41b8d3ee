#include "kernels/chain/chain_kernels.h"

#include "kernels/chain/chain.h"
#include "kernels/index/index_kernels.h"
#include "kernels/topk/topk_kernels.h"

namespace exactk::kernels::chain {
namespace {

struct DecodeAuto : DecodeChain {
  static constexpr const char* kName = "chain.decode_auto";
  static constexpr const exactk_kernel* kTopk = &topk::kTopkAuto;
  static constexpr const exactk_kernel* kMapping = &index::kTranslateRows;
};
struct DecodeStable : DecodeChain {
  static constexpr const char* kName = "chain.decode_stable";
  static constexpr uint32_t kModes = DecodeChain::kModes | EXACTK_MODE_REPEATABLE;
  static constexpr const exactk_kernel* kTopk = &topk::kTopkStable;
  static constexpr const exactk_kernel* kMapping = &index::kTranslateRows;
};
struct PrefillBlock : PrefillChain {
  static constexpr const char* kName = "chain.prefill_block";
  static constexpr const exactk_kernel* kTopk = &topk::kTopkPrefillBlock;
  static constexpr const exactk_kernel* kMapping = &index::kCombineFused;
};

}  // namespace

const exactk_kernel kChainDecodeAuto =
    describe<DecodeAuto>("topk.auto, then translate.rows of its indices.");
const exactk_kernel kChainDecodeStable =
    describe<DecodeStable>("topk.stable, then translate.rows of its indices.");
const exactk_kernel kChainPrefillBlock =
    describe<PrefillBlock>("topk.prefill_block, then combine.fused of its indices.");

}  // namespace exactk::kernels::chain
