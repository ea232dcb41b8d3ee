#include "kernels/device/portable.h"

#include "kernels/topk/topk_kernels.h"

#include "kernels/topk/launch.h"

namespace exactk::kernels::topk {
namespace {

struct Block : DecodeKernel {
  static constexpr const char* kName = "topk.block";
  static constexpr Method kMethod = Method::kBlock;
};
struct SplitMerge : DecodeKernel {
  static constexpr const char* kName = "topk.split_merge";
  static constexpr Method kMethod = Method::kSplitMerge;
};
struct K512 : DecodeKernel {
  static constexpr const char* kName = "topk.k512";
  static constexpr Method kMethod = Method::kK512;
};
struct K1024 : DecodeKernel {
  static constexpr const char* kName = "topk.k1024";
  static constexpr Method kMethod = Method::kK1024;
};
struct Auto : DecodeKernel {
  static constexpr const char* kName = "topk.auto";
  static constexpr Method kMethod = Method::kAuto;
};
struct Gated : DecodeKernel {
  static constexpr const char* kName = "topk.gated";
  static constexpr Method kMethod = Method::kGated;
};
struct Stable : DecodeKernel {
  static constexpr const char* kName = "topk.stable";
  static constexpr Method kMethod = Method::kFullRadix;
  static constexpr uint32_t kModes = kStableModes;
};
struct PrefillBlock : PrefillKernel {
  static constexpr const char* kName = "topk.prefill_block";
  static constexpr Method kMethod = Method::kPrefill;
};
struct PrefillStable : PrefillKernel {
  static constexpr const char* kName = "topk.prefill_stable";
  static constexpr Method kMethod = Method::kFullRadix;
  static constexpr uint32_t kModes = kStableModes | EXACTK_MODE_ABSOLUTE;
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
const exactk_kernel kTopkStable = describe<Stable>(
    "One block per row: every radix pass, slots in index order, ties to the smallest index.");
const exactk_kernel kTopkGated = describe<Gated>(
    "The published path gate of gfx950: topk.stable for compressed layers, else topk.auto.");
const exactk_kernel kTopkPrefillBlock = describe<PrefillBlock>(
    "Row windows, one block per row as topk.block; rows from 12288 on by a second launch.");
const exactk_kernel kTopkPrefillStable =
    describe<PrefillStable>("Row windows as topk.stable; indices are columns of the buffer.");

}  // namespace exactk::kernels::topk
