#include "kernels/device/portable.h"

#include "kernels/attention/attention_kernels.h"

#include "kernels/attention/launch.h"

namespace exactk::kernels::attention {
namespace {

struct PrefillTiles : Prefill {
  static constexpr const char* kName = "attention.prefill_tiles";
  using Traits = Shipped;
};
struct DecodeRows : Decode {
  static constexpr const char* kName = "attention.decode_rows";
  using Traits = Shipped;
};
struct DecodeSplits : DecodeSplit {
  static constexpr const char* kName = "attention.decode_split";
  using Traits = Shipped;
};

}  // namespace

const exactk_kernel kPrefillTiles = describe<PrefillTiles>(
    "One block per token and head with a running maximum; weights are rounded to bf16.");
const exactk_kernel kDecodeRows =
    describe<DecodeRows>("One block per token and head, over both lists; weights stay float.");
const exactk_kernel kDecodeSplit = describe<DecodeSplits>(
    "Up to 16 blocks per token and head, which take a part of each list, and one that joins them.");

}  // namespace exactk::kernels::attention
