#include "props/index_operation.h"

#include <algorithm>

#include "props/index_report.h"

namespace exactk::props {
namespace {

using fixtures::Variant;

int32_t combine_variant(Variant variant) {
  switch (variant) {
    case Variant::kGathered:
      return EXACTK_COMBINE_GATHERED;
    case Variant::kChecked:
      return EXACTK_COMBINE_CHECKED;
    case Variant::kVision:
      return EXACTK_COMBINE_VISION;
    case Variant::kRagged:
      return EXACTK_COMBINE_RAGGED;
    default:
      return EXACTK_COMBINE_COMMON;
  }
}

int32_t translate_variant(Variant variant) {
  switch (variant) {
    case Variant::kCompact:
      return EXACTK_TRANSLATE_COMPACT;
    case Variant::kRagged:
      return EXACTK_TRANSLATE_RAGGED;
    case Variant::kPack:
      return EXACTK_TRANSLATE_PACK;
    case Variant::kFlat:
      return EXACTK_TRANSLATE_FLAT;
    case Variant::kCapped:
      return EXACTK_TRANSLATE_CAPPED;
    default:
      return EXACTK_TRANSLATE_POSITIONAL;
  }
}

exactk_combine describe_combine(const IndexProblem& p) {
  exactk_combine d{};
  d.struct_size = sizeof(d);
  d.variant = combine_variant(p.c.variant);
  d.tokens = p.shape.tokens;
  d.requests = p.shape.requests;
  d.k = p.c.k;
  d.topk_width = p.shape.index_width;
  d.topk_stride_elems = p.shape.index_stride;
  d.window = p.c.window;
  d.ratio = p.c.ratio;
  d.workspace_rows = p.shape.workspace_rows;
  d.compressed_rows = p.shape.compressed_rows;
  d.columns = p.shape.columns;
  d.out_stride_elems = p.shape.out_stride;
  d.max_image_tokens = p.c.images;
  return d;
}

exactk_translate describe_translate(const IndexProblem& p) {
  exactk_translate d{};
  d.struct_size = sizeof(d);
  d.variant = translate_variant(p.c.variant);
  d.slot_bytes = static_cast<int32_t>(p.slot_bytes);
  d.tokens = p.shape.tokens;
  d.k = p.c.k;
  d.requests = p.shape.requests;
  d.table_blocks = p.shape.table_blocks;
  d.table_stride_elems = p.shape.table_stride;
  d.index_stride_elems = p.shape.index_stride;
  d.out_stride_elems = p.shape.out_stride;
  d.block_size = p.c.block_size;
  d.ratio = p.c.ratio;
  d.slots_bound = pack_bound(p);
  return d;
}

exactk_swa describe_swa(const IndexProblem& p) {
  exactk_swa d{};
  d.struct_size = sizeof(d);
  d.slot_bytes = static_cast<int32_t>(p.slot_bytes);
  d.tokens = p.shape.tokens;
  d.requests = p.shape.requests;
  d.window = p.c.window;
  d.columns = p.shape.columns;
  d.out_stride_elems = p.shape.out_stride;
  d.block_size = p.c.block_size;
  d.table_blocks = p.shape.table_blocks;
  d.table_stride_elems = p.shape.table_stride;
  return d;
}

template <class T>
T* as(const Placement& at, IndexTensor tensor) {
  return reinterpret_cast<T*>(at.tensors[tensor]);
}

// Pointers that two descriptors or more have.
template <class Descriptor>
void place_workspace(const Placement& at, Descriptor& d) {
  d.workspace = at.workspace;
  d.workspace_bytes = at.workspace_bytes;
  d.stream = at.stream;
}

template <class Descriptor>
void place_table(const Placement& at, Descriptor& d) {
  d.token_to_req = as<const int32_t>(at, kTokenToReq);
  d.token_valid = as<const uint8_t>(at, kTokenValid);
  d.positions = as<const int32_t>(at, kPositions);
  d.block_table = as<const int32_t>(at, kBlockTable);
  d.slots = as<void>(at, kSlots);
  d.lens = as<int32_t>(at, kLens);
  place_workspace(at, d);
}

}  // namespace

IndexCall::IndexCall(const IndexProblem& p)
    : op_(p.op),
      combine_(describe_combine(p)),
      translate_(describe_translate(p)),
      swa_(describe_swa(p)) {}

void IndexCall::place(const Placement& at) {
  combine_.topk_indices = as<const int32_t>(at, kLocalIndices);
  combine_.query_start_loc = as<const int32_t>(at, kQueryStartLoc);
  combine_.seq_lens = as<const int32_t>(at, kRequestSeqLens);
  combine_.gather_lens = as<const int32_t>(at, kGatherLens);
  combine_.left_visible = as<const int32_t>(at, kLeftVisible);
  combine_.right_visible = as<const int32_t>(at, kRightVisible);
  combine_.indices = as<int32_t>(at, kSlots);
  combine_.lens = as<int32_t>(at, kLens);
  combine_.indptr = as<int32_t>(at, kIndptr);
  place_workspace(at, combine_);
  translate_.indices = as<const int32_t>(at, kLocalIndices);
  translate_.lengths = as<const int32_t>(at, kLengths);
  translate_.cu_seqlens = as<const int32_t>(at, kCuSeqlens);
  translate_.cap = as<const int32_t>(at, kCap);
  translate_.indptr = as<int32_t>(at, kIndptr);
  place_table(at, translate_);
  swa_.left_visible = as<const int32_t>(at, kLeftVisible);
  swa_.right_visible = as<const int32_t>(at, kRightVisible);
  place_table(at, swa_);
}

const void* IndexCall::descriptor() const {
  switch (op_) {
    case IndexOp::kCombine:
      return &combine_;
    case IndexOp::kTranslate:
      return &translate_;
    case IndexOp::kSwa:
      return &swa_;
  }
  return nullptr;
}

Findings judge_index(const IndexProblem& p, const fixtures::IndexInputs& in,
                     std::span<const int32_t> local, const Launched& launched,
                     std::span<const Bytes> after, std::span<const Bytes> before) {
  Findings found;
  found.rows = p.shape.tokens;
  std::vector<JudgedTensor> judged;
  bool kept = true;
  for (IndexExpected& expected : expected_of(p, in, local)) {
    const IndexTensor tensor = expected.tensor;
    const auto fixed = [](oracle::Want want) { return want == oracle::Want::kValue; };
    const auto& wants = expected.want.wants;
    found.elements += std::count_if(wants.begin(), wants.end(), fixed);
    if (tensor == kSlots) found.rows_selected = indices_at_stake(expected.want);
    JudgedTensor one{std::move(expected), {}};
    one.judgement = oracle::judge_exact(one.expected.want, elements_of(p, tensor, after[tensor]),
                                        elements_of(p, tensor, before[tensor]));
    found.faults.merge(one.judgement.faults);
    kept = kept && one.judgement.ok();
    judged.push_back(std::move(one));
  }
  if (kept) return found;
  const IndexEvidence evidence{p, launched.step, launched.variant, in, judged};
  found.why = diagnose(evidence);
  found.anatomy = index_anatomy(evidence);
  found.broke = "contract of every element";
  found.failing_rows = failing_tokens(evidence);
  return found;
}

Bytes index_poison(const IndexProblem& p, int64_t step, int variant, size_t tensor) {
  const std::vector<TensorSpec> tensors = index_tensors(p);
  const int64_t bytes = tensors[tensor].bytes;
  const auto filled = [&](auto element, const fixtures::PoisonShape& shape) {
    std::vector<decltype(element)> values(static_cast<size_t>(bytes) / sizeof(element));
    fixtures::poison_fill(p.c, step, variant, shape, values);
    const auto raw = std::as_bytes(std::span(values));
    return Bytes{raw.begin(), raw.end()};
  };
  if (tensor != kSlots) return filled(int32_t{}, {1, p.shape.columns + 1, tensor});
  const int64_t believable = p.op == IndexOp::kCombine
                                 ? p.shape.requests * p.shape.workspace_rows
                                 : p.shape.requests * p.shape.table_blocks * p.c.block_size;
  const fixtures::PoisonShape shape{p.flat ? p.slots : p.shape.out_stride,
                                    std::clamp<int64_t>(believable, 1, INT32_MAX), tensor};
  return p.slot_bytes == 8 ? filled(int64_t{}, shape) : filled(int32_t{}, shape);
}

IndexOperation::IndexOperation(const fixtures::Case& c, const KernelUnderTest& kernel)
    : Operation(c, kernel), problem_(index_problem(c)), tensors_(index_tensors(problem_)) {}

std::shared_ptr<const StepInputs> IndexOperation::make_inputs(int64_t step, LogitsFrom) const {
  auto made = std::make_shared<IndexStep>();
  made->in = fixtures::index_inputs(case_, step);
  return made;
}

Bytes IndexOperation::poison(int64_t step, int variant, size_t tensor) const {
  return index_poison(problem_, step, variant, tensor);
}

std::unique_ptr<Call> IndexOperation::call(std::optional<int64_t>) const {
  return std::make_unique<IndexCall>(problem_);
}

Findings IndexOperation::judge(const Launched& l) const {
  const fixtures::IndexInputs& in = static_cast<const IndexStep&>(*l.inputs).in;
  return judge_index(problem_, in, in.indices, l, l.after, l.before);
}

}  // namespace exactk::props
