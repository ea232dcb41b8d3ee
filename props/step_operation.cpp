#include "props/step_operation.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "fixtures/step_inputs.h"
#include "props/trial.h"

namespace exactk::props {
namespace {

// Where the tensors of a stage begin.
constexpr size_t kTopkFirst = kLogitsTensors;
constexpr size_t kIndexFirst = kTopkFirst + kTopkTensors;
constexpr size_t kAttentionFirst = kIndexFirst + kIndexTensors;
constexpr size_t kStepTensors = kAttentionFirst + kAttentionTensors;

struct Place {
  size_t stage = 0;
  size_t tensor = 0;  // of the stage
};
Place place_of(size_t tensor) {
  if (tensor < kTopkFirst) return {0, tensor};
  if (tensor < kIndexFirst) return {1, tensor - kTopkFirst};
  if (tensor < kAttentionFirst) return {2, tensor - kIndexFirst};
  return {3, tensor - kAttentionFirst};
}

struct DecodeStep : StepInputs {
  std::shared_ptr<const StepInputs> logits;
  std::shared_ptr<const TopkInputs> topk;
  IndexStep index;
  AttentionStep attention;

  std::span<const std::byte> bytes(size_t tensor) const override {
    const Place at = place_of(tensor);
    if (at.stage == 0) return logits->bytes(at.tensor);
    if (at.stage == 1) return topk->bytes(at.tensor);
    return at.stage == 2 ? index.bytes(at.tensor) : attention.bytes(at.tensor);
  }
  int64_t kept_bytes() const override {
    return logits->kept_bytes() + topk->kept_bytes() + index.kept_bytes() + attention.kept_bytes();
  }
};

const DecodeStep& step_of(const StepInputs& inputs) {
  return static_cast<const DecodeStep&>(inputs);
}

// The logits that a launch computed, as its top-k saw them.
class ComputedRows : public RecordedRows {
 public:
  ComputedRows(const Bytes& logits, int64_t stride, std::vector<fixtures::RowWindow> windows)
      : words_(reinterpret_cast<const uint32_t*>(logits.data()), logits.size() / 4),
        stride_(stride),
        windows_(std::move(windows)) {}
  std::span<const uint32_t> visible(int64_t row, std::vector<uint32_t>&) const override {
    const fixtures::RowWindow window = windows_[static_cast<size_t>(row)];
    return words_.subspan(static_cast<size_t>(row * stride_ + window.start),
                          static_cast<size_t>(window.length));
  }

 private:
  std::span<const uint32_t> words_;
  int64_t stride_;
  std::vector<fixtures::RowWindow> windows_;
};

template <class T>
std::vector<T> part_of(const std::vector<T>& all, size_t first, size_t count) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::vector<int32_t> words_of(const Bytes& bytes) {
  const auto* first = reinterpret_cast<const int32_t*>(bytes.data());
  return {first, first + bytes.size() / 4};
}

class StepCall : public Call {
 public:
  StepCall(std::unique_ptr<LogitsCall> logits, std::unique_ptr<TopkCall> topk,
           const IndexProblem& index, std::unique_ptr<AttentionCall> attention)
      : logits_(std::move(logits)),
        topk_(std::move(topk)),
        index_(index),
        attention_(std::move(attention)) {
    step_.struct_size = sizeof(step_);
    step_.logits = logits_->paged();
    step_.topk = topk_->decode();
    step_.translate = index_.translate();
    step_.attention = attention_->decode();
  }

  // The workspace is handed over whole, with the first stage.
  void place(const Placement& at) override {
    logits_->place(stage(at, 0, kLogitsTensors));
    Placement topk = stage(at, kTopkFirst, kTopkTensors);
    topk.tensors[kLogits] = at.tensors[kMqaLogits];
    topk_->place(topk);
    Placement index = stage(at, kIndexFirst, kIndexTensors);
    index.tensors[kLocalIndices] = topk.tensors[kIndices];
    index_.place(index);
    Placement attention = stage(at, kAttentionFirst, kAttentionTensors);
    attention.tensors[kMainIndices] = index.tensors[kSlots];
    attention.tensors[kMainIndptr] = index.tensors[kIndptr];
    attention_->place(attention);
  }

  const void* descriptor() const override { return &step_; }
  const exactk_topk_report* report() const override { return topk_->report(); }
  const TopkCall& topk() const { return *topk_; }
  const AttentionCall& attention() const { return *attention_; }

 private:
  static Placement stage(const Placement& at, size_t first, size_t count) {
    Placement placed;
    placed.tensors = part_of(at.tensors, first, count);
    placed.stream = at.stream;
    if (first == 0) {
      placed.workspace = at.workspace;
      placed.workspace_bytes = at.workspace_bytes;
    }
    return placed;
  }

  std::unique_ptr<LogitsCall> logits_;
  std::unique_ptr<TopkCall> topk_;
  IndexCall index_;
  std::unique_ptr<AttentionCall> attention_;
  exactk_decode_step step_{};
};

// The outputs of one stage, as its own operation judges them.
struct Stage {
  std::vector<Bytes> after;
  std::vector<Bytes> before;
  Stage(const Launched& l, size_t first, size_t count)
      : after(part_of(l.after, first, count)), before(part_of(l.before, first, count)) {}
  Launched launched(const Launched& l, std::shared_ptr<const StepInputs> inputs,
                    std::shared_ptr<const StepInputs> first_inputs, const Call& call) const {
    return {
        l.step, l.variant, std::move(inputs), l.replayed, std::move(first_inputs), after, before,
        {},     call};
  }
};

std::shared_ptr<const TopkInputs> with_logits(const std::shared_ptr<const TopkInputs>& drawn,
                                              const Bytes& logits, int64_t stride) {
  auto made = std::make_shared<TopkInputs>(*drawn);
  made->recorded = std::make_shared<ComputedRows>(logits, stride, drawn->windows);
  return made;
}

// The attention's inputs with the slots that it really read.
std::shared_ptr<const AttentionStep> with_slots(const AttentionStep& fed,
                                                const std::vector<Bytes>& index) {
  auto read = std::make_shared<AttentionStep>(fed);
  read->in.main.indices = words_of(index[kSlots]);
  read->in.main.indptr = words_of(index[kIndptr]);
  return read;
}

}  // namespace

// The translation reads the first entries of a row, so whatever a kernel promises, they must be a
// prefix.
StepOperation::StepOperation(const fixtures::Case& c, const KernelUnderTest& kernel)
    : Operation(c, kernel),
      logits_(c, kernel),
      topk_(c, kernel, kernel.kernel->modes | EXACTK_MODE_SET | EXACTK_MODE_PREFIX),
      index_(index_problem(c)),
      attention_(fixtures::attention_stage(c), kernel),
      tensors_(kStepTensors) {
  const auto add = [&](size_t first, const std::vector<TensorSpec>& of_stage) {
    std::copy(of_stage.begin(), of_stage.end(),
              tensors_.begin() + static_cast<std::ptrdiff_t>(first));
  };
  add(0, logits_.tensors());
  add(kTopkFirst, topk_.tensors());
  add(kIndexFirst, index_tensors(index_));
  add(kAttentionFirst, attention_.tensors());
  tensors_[kTopkFirst + kLogits].bytes = 0;
  for (const size_t tensor : {kMainIndices, kMainLens, kMainIndptr})
    tensors_[kAttentionFirst + tensor].bytes = 0;
  tensors_[kIndexFirst + kSlots].misalign_bytes = 0;  // the key is about logits and output here
}

std::shared_ptr<const StepInputs> StepOperation::make_inputs(int64_t step, LogitsFrom from) const {
  auto made = std::make_shared<DecodeStep>();
  made->logits = logits_.make_inputs(step, from);
  made->topk = std::static_pointer_cast<const TopkInputs>(topk_.make_inputs(step, from));
  made->index.in = fixtures::index_inputs(case_, step);
  made->attention =
      attention_step(attention_.problem(), fixtures::step_attention_inputs(case_, step));
  return made;
}

Bytes StepOperation::poison(int64_t step, int variant, size_t tensor) const {
  const Place at = place_of(tensor);
  if (at.stage == 0) return logits_.poison(step, variant, at.tensor);
  if (at.stage == 1) return topk_.poison(step, variant, at.tensor);
  return at.stage == 2 ? index_poison(index_, step, variant, at.tensor)
                       : attention_.poison(step, variant, at.tensor);
}

std::unique_ptr<Call> StepOperation::call(std::optional<int64_t> launch) const {
  const AttentionProblem& p = attention_.problem();
  return std::make_unique<StepCall>(
      std::make_unique<LogitsCall>(logits_.problem(), logits_.length_hint(launch)),
      std::make_unique<TopkCall>(topk_.problem(), topk_.length_hint(launch)), index_,
      std::make_unique<AttentionCall>(p, fixtures::LongestLists{p.shape.main.k, 0}));
}

Findings StepOperation::judge(const Launched& l) const {
  const DecodeStep& in = step_of(*l.inputs);
  const DecodeStep& first = step_of(*l.first_inputs);
  const auto& call = static_cast<const StepCall&>(l.call);
  const Stage logits(l, 0, kLogitsTensors);
  const Stage topk(l, kTopkFirst, kTopkTensors);
  const Stage index(l, kIndexFirst, kIndexTensors);
  const Stage attention(l, kAttentionFirst, kAttentionTensors);
  const auto of_logits = [&] {
    return logits_.judge(logits.launched(l, in.logits, first.logits, l.call));
  };
  const auto of_topk = [&] {
    const int64_t stride = logits_.problem().shape.out_stride;
    return topk_.judge(topk.launched(l, with_logits(in.topk, logits.after[kMqaLogits], stride),
                                     first.topk, call.topk()));
  };
  const auto of_index = [&] {
    const std::vector<int32_t> local = words_of(topk.after[kIndices]);
    return judge_index(index_, in.index.in, local, l, index.after, index.before);
  };
  const auto of_attention = [&] {
    const auto read = with_slots(in.attention, index.after);
    return attention_.judge(attention.launched(l, read, read, call.attention()));
  };
  const std::pair<const char*, std::function<Findings()>> stages[] = {{"logits", of_logits},
                                                                      {"top-k", of_topk},
                                                                      {"translation", of_index},
                                                                      {"attention", of_attention}};
  Findings all;
  for (const auto& [name, judge_stage] : stages) {
    Findings found = judge_stage();
    found.elements += all.elements;
    found.rows_cut += all.rows_cut;
    if (found.path.empty()) found.path = all.path;
    all = std::move(found);
    if (all.ok()) continue;
    all.why = fmt::format("the {} stage: {}", name, all.why);
    return all;
  }
  return all;
}

// Public tests look at the last output alone.
bool StepOperation::loosely_right(Judge judge, const Launched& l, const Findings& found) const {
  if (found.ok()) return true;
  const Stage index(l, kIndexFirst, kIndexTensors);
  const Stage attention(l, kAttentionFirst, kAttentionTensors);
  const auto read = with_slots(step_of(*l.inputs).attention, index.after);
  const auto& call = static_cast<const StepCall&>(l.call);
  return attention_.loosely_right(judge, attention.launched(l, read, read, call.attention()), {});
}

}  // namespace exactk::props
