#include "props/chain_operation.h"

#include <fmt/format.h>

#include "props/device_fill.h"
#include "props/trial.h"

namespace exactk::props {
namespace {

struct ChainStep : StepInputs {
  std::shared_ptr<const StepInputs> topk;
  IndexStep index;

  std::span<const std::byte> bytes(size_t tensor) const override {
    return tensor < kTopkTensors ? topk->bytes(tensor) : index.bytes(tensor - kTopkTensors);
  }
  int64_t kept_bytes() const override { return topk->kept_bytes() + index.kept_bytes(); }
  const StepInputs& of_logits() const override { return *topk; }
};

class ChainCall : public Call {
 public:
  ChainCall(const TopkProblem& topk, const IndexProblem& index, int64_t hint)
      : topk_(topk, hint), index_(index) {
    chain_.struct_size = sizeof(chain_);
    chain_.decode = topk_.decode();
    chain_.prefill = topk_.prefill();
    chain_.translate = index_.translate();
    chain_.combine = index_.combine();
  }

  // The workspace is handed over whole, with the first stage.
  void place(const Placement& at) override {
    Placement first = at;
    first.tensors.resize(kTopkTensors);
    topk_.place(first);
    Placement second = at;
    second.tensors.erase(second.tensors.begin(), second.tensors.begin() + kTopkTensors);
    second.tensors[kLocalIndices] = at.tensors[kIndices];
    second.workspace = nullptr;
    second.workspace_bytes = 0;
    index_.place(second);
  }

  const void* descriptor() const override { return &chain_; }
  const exactk_topk_report* report() const override { return topk_.report(); }

 private:
  TopkCall topk_;
  IndexCall index_;
  exactk_chain chain_{};
};

const ChainStep& step_of(const StepInputs& inputs) {
  return static_cast<const ChainStep&>(inputs);
}

}  // namespace

// The mapping reads the first entries of a row, so whatever a kernel promises, they must be a
// prefix.
ChainOperation::ChainOperation(const fixtures::Case& c, const KernelUnderTest& kernel)
    : Operation(c, kernel),
      topk_(c, kernel, kernel.kernel->modes | EXACTK_MODE_SET | EXACTK_MODE_PREFIX),
      index_(index_problem(c)),
      tensors_(topk_.tensors()) {
  for (TensorSpec& tensor : index_tensors(index_)) tensors_.push_back(std::move(tensor));
  tensors_[size_t{kTopkTensors} + size_t{kSlots}].misalign_bytes =
      0;  // the key is about the logits here
}

std::shared_ptr<const StepInputs> ChainOperation::make_inputs(int64_t step, LogitsFrom from) const {
  auto made = std::make_shared<ChainStep>();
  made->topk = topk_.make_inputs(step, from);
  made->index.in = fixtures::index_inputs(case_, step);
  return made;
}

Bytes ChainOperation::poison(int64_t step, int variant, size_t tensor) const {
  return tensor < kTopkTensors ? topk_.poison(step, variant, tensor)
                               : index_poison(index_, step, variant, tensor - kTopkTensors);
}

std::unique_ptr<Call> ChainOperation::call(std::optional<int64_t> launch) const {
  return std::make_unique<ChainCall>(topk_.problem(), index_, topk_.length_hint(launch));
}

kernels::Result<std::unique_ptr<DeviceFill>> ChainOperation::device_fill(
    kernels::Device& device) const {
  return topk_.device_fill(device);
}

Launched ChainOperation::top_k_stage(const Launched& l) const {
  return {l.step,  l.variant, step_of(*l.inputs).topk, l.replayed, step_of(*l.first_inputs).topk,
          l.after, l.before,  l.row_checksums,         l.call};
}

Findings ChainOperation::judge_mapping(const Launched& l) const {
  const Bytes& local = l.after[kIndices];
  return judge_index(index_, step_of(*l.inputs).index.in,
                     {reinterpret_cast<const int32_t*>(local.data()), local.size() / 4}, l,
                     std::span(l.after).subspan(kTopkTensors),
                     std::span(l.before).subspan(kTopkTensors));
}

Findings ChainOperation::judge(const Launched& l) const {
  Findings found = topk_.judge(top_k_stage(l));
  if (!found.ok()) {
    found.why = fmt::format("the top-k stage: {}", found.why);
    return found;
  }
  const Findings mapped = judge_mapping(l);
  found.elements += mapped.elements;
  if (mapped.ok()) return found;
  found.why = fmt::format("the mapping stage: {}", mapped.why);
  found.anatomy = mapped.anatomy;
  found.broke = mapped.broke;
  found.faults = mapped.faults;
  found.failing_rows = mapped.failing_rows;
  return found;
}

bool ChainOperation::loosely_right(Judge judge, const Launched& l, const Findings& found) const {
  return topk_.loosely_right(judge, top_k_stage(l), found) &&
         !loosely_seen(judge_mapping(l).faults);
}

}  // namespace exactk::props
