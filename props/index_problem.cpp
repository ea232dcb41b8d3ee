#include "props/index_problem.h"

#include <cstring>

#include "fixtures/session.h"
#include "oracle/block_table.h"
#include "oracle/combine_indices.h"
#include "oracle/swa_window.h"
#include "props/internal_error.h"

namespace exactk::props {
namespace {

using fixtures::Op;
using fixtures::Variant;

IndexOp index_op(Op op) {
  switch (op) {
    case Op::kCombine:
    case Op::kChainPrefill:
      return IndexOp::kCombine;
    case Op::kSwa:
      return IndexOp::kSwa;
    default:
      return IndexOp::kTranslate;
  }
}

oracle::CombineVariant combine_variant(Variant variant) {
  switch (variant) {
    case Variant::kCommon:
      return oracle::CombineVariant::kCommon;
    case Variant::kGathered:
      return oracle::CombineVariant::kGathered;
    case Variant::kChecked:
      return oracle::CombineVariant::kChecked;
    case Variant::kVision:
      return oracle::CombineVariant::kVision;
    case Variant::kRagged:
      return oracle::CombineVariant::kRagged;
    default:
      throw InternalError("a case of the index combine has a variant of another operation");
  }
}

oracle::TranslateVariant translate_variant(Variant variant) {
  switch (variant) {
    case Variant::kPositional:
      return oracle::TranslateVariant::kPositional;
    case Variant::kCompact:
      return oracle::TranslateVariant::kCompact;
    case Variant::kRagged:
      return oracle::TranslateVariant::kRagged;
    case Variant::kPack:
      return oracle::TranslateVariant::kPack;
    case Variant::kFlat:
      return oracle::TranslateVariant::kFlat;
    case Variant::kCapped:
      return oracle::TranslateVariant::kCapped;
    default:
      throw InternalError("a case of the index translation has a variant of another operation");
  }
}

int64_t matrix_elems(int64_t rows, int64_t stride, int64_t columns) {
  return (rows - 1) * stride + columns;
}

// Bytes of the inputs that only some operations and variants take.
struct Sizes {
  const IndexProblem& p;
  int64_t per_token(bool taken) const { return taken ? p.shape.tokens * 4 : 0; }
  int64_t per_request(bool taken) const { return taken ? p.shape.requests * 4 : 0; }
};

oracle::BlockTable block_table(const IndexProblem& p, const fixtures::IndexInputs& in) {
  return {in.block_table, p.shape.requests, p.shape.table_blocks, p.shape.table_stride,
          p.c.block_size};
}

std::vector<oracle::ExpectedTensor> expected_tensors(const IndexProblem& p,
                                                     const fixtures::IndexInputs& in,
                                                     std::span<const int32_t> local) {
  const fixtures::IndexShape& s = p.shape;
  const fixtures::Case& c = p.c;
  switch (p.op) {
    case IndexOp::kCombine: {
      const oracle::CombineShape shape{combine_variant(c.variant),
                                       s.tokens,
                                       s.requests,
                                       c.k,
                                       s.index_width,
                                       s.index_stride,
                                       c.window,
                                       c.ratio,
                                       s.workspace_rows,
                                       s.compressed_rows,
                                       s.columns,
                                       s.out_stride,
                                       c.images};
      return oracle::expected_combine(shape, {local, in.query_start_loc, in.seq_lens,
                                              in.gather_lens, in.left_visible, in.right_visible});
    }
    case IndexOp::kTranslate: {
      const oracle::TranslateShape shape{translate_variant(c.variant),
                                         s.tokens,
                                         c.k,
                                         s.index_stride,
                                         s.out_stride,
                                         c.ratio,
                                         pack_bound(p)};
      return oracle::expected_translate(
          shape,
          {local, in.token_to_req, in.token_valid, in.lengths, in.cu_seqlens, in.positions, in.cap},
          block_table(p, in));
    }
    case IndexOp::kSwa:
      return oracle::expected_swa(
          {s.tokens, c.window, s.columns, s.out_stride},
          {in.positions, in.token_to_req, in.token_valid, in.left_visible, in.right_visible},
          block_table(p, in));
  }
  return {};
}

IndexTensor tensor_of(std::string_view name) {
  if (name == "lens") return kLens;
  return name == "indptr" ? kIndptr : kSlots;
}

}  // namespace

IndexProblem index_problem(const fixtures::Case& c) {
  IndexProblem p;
  p.c = c;
  p.op = index_op(c.op);
  p.shape = fixtures::index_shape(c);
  p.local_from_topk = !fixtures::reads(c.op, "indices") && p.op != IndexOp::kSwa;
  if (p.local_from_topk) p.shape.index_width = p.shape.index_stride = c.k;
  p.slot_bytes = c.slots == fixtures::SlotType::kInt64 ? 8 : 4;
  p.flat =
      c.variant == Variant::kRagged || c.variant == Variant::kPack || c.variant == Variant::kFlat;
  const int64_t widest = p.op == IndexOp::kCombine ? c.k + c.window : c.k;
  p.slots = p.flat ? p.shape.tokens * widest
                   : matrix_elems(p.shape.tokens, p.shape.out_stride, p.shape.columns);
  return p;
}

int64_t pack_bound(const IndexProblem& p) {
  return p.shape.table_blocks * p.c.block_size;
}

std::vector<TensorSpec> index_tensors(const IndexProblem& p) {
  const bool combine = p.op == IndexOp::kCombine;
  const bool translate = p.op == IndexOp::kTranslate;
  const bool swa = p.op == IndexOp::kSwa;
  const Variant v = p.c.variant;
  const bool pack = translate && v == Variant::kPack;
  const bool capped = translate && v == Variant::kCapped;
  const bool flat = translate && v == Variant::kFlat;
  const bool ragged = v == Variant::kRagged && !swa;
  const bool images = (combine && v == Variant::kVision) || (swa && p.c.images > 0);
  const bool local = !p.local_from_topk && !swa && !capped && p.shape.index_width > 0;
  const fixtures::IndexShape& s = p.shape;
  const Sizes size{p};
  const int64_t indptr = (s.tokens + 1) * 4;
  std::vector<TensorSpec> t(kIndexTensors);
  t[kLocalIndices] = {combine ? "topk_indices" : "indices", Role::kInput,
                      local ? matrix_elems(s.tokens, s.index_stride, s.index_width) * 4 : 0};
  t[kQueryStartLoc] = {"query_start_loc", Role::kInput, combine ? (s.requests + 1) * 4 : 0};
  t[kRequestSeqLens] = {"seq_lens", Role::kInput, size.per_request(combine)};
  t[kGatherLens] = {"gather_lens", Role::kInput, size.per_request(combine)};
  t[kLeftVisible] = {"left_visible", Role::kInput, size.per_token(images)};
  t[kRightVisible] = {"right_visible", Role::kInput, size.per_token(images)};
  t[kTokenToReq] = {"token_to_req", Role::kInput, size.per_token(!combine && !pack)};
  t[kTokenValid] = {"token_valid", Role::kInput, combine || pack || flat ? 0 : s.tokens};
  t[kPositions] = {"positions", Role::kInput, size.per_token(swa || capped)};
  t[kBlockTable] = {
      "block_table", Role::kInput,
      combine || pack ? 0 : matrix_elems(s.requests, s.table_stride, s.table_blocks) * 4};
  t[kLengths] = {"lengths", Role::kInput, size.per_token(pack)};
  t[kCuSeqlens] = {"cu_seqlens", Role::kInput, flat ? indptr : 0};
  t[kCap] = {"cap", Role::kInput, capped ? 4 : 0};
  t[kSlots] = {combine ? "indices" : "slots", Role::kOutput, p.slots * p.slot_bytes,
               p.c.misalign * p.slot_bytes};
  t[kLens] = {"lens", Role::kOutput, p.flat ? 0 : s.tokens * 4};
  t[kIndptr] = {"indptr", Role::kOutput, ragged || pack ? indptr : 0};
  return t;
}

std::span<const std::byte> IndexStep::bytes(size_t tensor) const {
  const auto of = [](const auto& values) { return std::as_bytes(std::span(values)); };
  switch (tensor) {
    case kLocalIndices:
      return of(in.indices);
    case kQueryStartLoc:
      return of(in.query_start_loc);
    case kRequestSeqLens:
      return of(in.seq_lens);
    case kGatherLens:
      return of(in.gather_lens);
    case kLeftVisible:
      return of(in.left_visible);
    case kRightVisible:
      return of(in.right_visible);
    case kTokenToReq:
      return of(in.token_to_req);
    case kTokenValid:
      return of(in.token_valid);
    case kPositions:
      return of(in.positions);
    case kBlockTable:
      return of(in.block_table);
    case kLengths:
      return of(in.lengths);
    case kCuSeqlens:
      return of(in.cu_seqlens);
    case kCap:
      return std::as_bytes(std::span(&in.cap, 1));
    default:
      return {};
  }
}

int64_t IndexStep::kept_bytes() const {
  int64_t bytes = 0;
  for (size_t tensor = 0; tensor < kIndexTensors; ++tensor)
    bytes += static_cast<int64_t>(this->bytes(tensor).size());
  return bytes;
}

std::vector<IndexExpected> expected_of(const IndexProblem& p, const fixtures::IndexInputs& in,
                                       std::span<const int32_t> local) {
  std::vector<IndexExpected> expected;
  for (oracle::ExpectedTensor& want : expected_tensors(p, in, local)) {
    const IndexTensor tensor = tensor_of(want.name);
    expected.push_back({tensor, std::move(want)});
  }
  return expected;
}

int64_t indices_at_stake(const oracle::ExpectedTensor& want) {
  int64_t count = 0;
  for (size_t i = 0; i < want.wants.size(); ++i) {
    if (want.wants[i] == oracle::Want::kValue && want.values[i] >= 0) ++count;
  }
  return count;
}

bool anything_at_stake(const IndexProblem& p) {
  for (int64_t step = 0; step < fixtures::launch_count(p.c); ++step) {
    const fixtures::IndexInputs in = fixtures::index_inputs(p.c, step);
    for (const IndexExpected& expected : expected_of(p, in, in.indices)) {
      if (expected.tensor == kSlots && indices_at_stake(expected.want) > 0) return true;
    }
  }
  return false;
}

std::vector<int64_t> elements_of(const IndexProblem& p, IndexTensor tensor, const Bytes& bytes) {
  const size_t size = tensor == kSlots ? static_cast<size_t>(p.slot_bytes) : 4;
  std::vector<int64_t> elements(bytes.size() / size);
  for (size_t i = 0; i < elements.size(); ++i) {
    if (size == 8) {
      std::memcpy(&elements[i], bytes.data() + i * size, size);
      continue;
    }
    int32_t narrow = 0;
    std::memcpy(&narrow, bytes.data() + i * size, size);
    elements[i] = narrow;
  }
  return elements;
}

}  // namespace exactk::props
