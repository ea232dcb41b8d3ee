#include "props/operation.h"

#include "props/attention_operation.h"
#include "props/chain_operation.h"
#include "props/device_fill.h"
#include "props/index_operation.h"
#include "props/logits_operation.h"
#include "props/router_operation.h"
#include "props/step_operation.h"
#include "props/topk_operation.h"
#include "props/trial.h"

namespace exactk::props {

kernels::Result<std::unique_ptr<DeviceFill>> Operation::device_fill(kernels::Device&) const {
  return std::unique_ptr<DeviceFill>();
}

std::unique_ptr<Operation> make_operation(const fixtures::Case& c, const KernelUnderTest& kernel) {
  using fixtures::Op;
  switch (c.op) {
    case Op::kTopkDecode:
    case Op::kTopkPrefill:
      return std::make_unique<TopkOperation>(c, kernel, kernel.kernel->modes);
    case Op::kCombine:
    case Op::kTranslate:
    case Op::kSwa:
      return std::make_unique<IndexOperation>(c, kernel);
    case Op::kMqaLogits:
    case Op::kMqaPaged:
      return std::make_unique<LogitsOperation>(c, kernel);
    case Op::kChainDecode:
    case Op::kChainPrefill:
      return std::make_unique<ChainOperation>(c, kernel);
    case Op::kRouter:
      return std::make_unique<RouterOperation>(c, kernel);
    case Op::kSparsePrefill:
    case Op::kSparseDecode:
      return std::make_unique<AttentionOperation>(c, kernel);
    case Op::kDecodeStep:
      return std::make_unique<StepOperation>(c, kernel);
  }
  return nullptr;
}

bool Operation::loosely_right(Judge, const Launched&, const Findings& found) const {
  return !loosely_seen(found.faults);
}

}  // namespace exactk::props
