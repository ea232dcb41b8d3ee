#include "kernels/device/portable.h"

#include "kernels/chain/step_kernels.h"

#include "kernels/chain/auto_stages.h"
#include "kernels/launch.h"

namespace exactk::kernels::chain {
namespace {

constexpr int kFillThreads = 256;

// Columns [0, columns) of each row. Grid: rows, tiles.
template <class Value>
__global__ void fill_rows(Value* values, int64_t columns, int64_t stride, int64_t tiles,
                          Value value) {
  const int64_t step = tiles * blockDim.x;
  Value* row = values + blockIdx.x * stride;
  for (int64_t i = static_cast<int64_t>(blockIdx.y) * blockDim.x + threadIdx.x; i < columns;
       i += step) {
    row[i] = value;
  }
}

template <class Value>
bool fill(const Call& call, Value* values, int64_t rows, int64_t columns, int64_t stride,
          Value value) {
  constexpr int64_t kTilesMost = 64;
  const int64_t wanted = (columns + kFillThreads - 1) / kFillThreads;
  const int64_t tiles = wanted < kTilesMost ? wanted : kTilesMost;
  const dim3 grid(static_cast<unsigned>(rows), static_cast<unsigned>(tiles));
  hipLaunchKernelGGL(fill_rows<Value>, grid, dim3(kFillThreads), 0, call.stream, values, columns,
                     stride, tiles, value);
  return call.launched("fill");
}

struct Auto : AutoStages {
  static constexpr const char* kName = "step.auto";
};

struct Filled : AutoStages {
  static constexpr const char* kName = "step.filled";
  static exactk_status launch(const StepStages& s, Message message) {
    const Call call{kName, static_cast<hipStream_t>(s.logits.stream), message};
    const bool filled =
        fill(call, s.logits.logits, s.logits.rows, s.logits.width, s.logits.out_stride_elems,
             -__builtin_inff()) &&
        fill(call, s.topk.indices, s.topk.rows, s.topk.k, s.topk.out_stride_elems, int32_t{-1});
    return filled ? AutoStages::launch(s, message) : EXACTK_ERROR;
  }
};

}  // namespace

const exactk_kernel kStepAuto = describe_step<Auto>(
    "mqa.paged_tiles, topk.auto, translate.rows, attention.decode_split; no fill.");
const exactk_kernel kStepFilled = describe_step<Filled>(
    "step.auto after the two fills that it does without: logits with -inf, indices with -1.");

}  // namespace exactk::kernels::chain
