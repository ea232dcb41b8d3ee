#include "props/logits_problem.h"

#include <fmt/format.h>

#include "fixtures/lengths.h"
#include "props/internal_error.h"

namespace exactk::props {
namespace {

using fixtures::MqaInputs;

oracle::FloatFormat format_of(fixtures::Fp8 fp8) {
  return fp8 == fixtures::Fp8::kFn ? oracle::kFp8E4m3Fn : oracle::kFp8E4m3Fnuz;
}

oracle::MqaContract contract_of(const LogitsProblem& p) {
  oracle::MqaContract contract;
  // The logits of a step are its own: it may fill them.
  contract.empty_rows_untouched = p.c.op != fixtures::Op::kDecodeStep;
  switch (p.c.outside) {
    case fixtures::OutsideKind::kAny:
      contract.outside = oracle::Outside::kAny;
      break;
    case fixtures::OutsideKind::kClean:
      contract.outside = oracle::Outside::kMinusInfinity;
      break;
    case fixtures::OutsideKind::kUntouched:
      contract.outside = oracle::Outside::kUntouched;
      break;
  }
  return contract;
}

oracle::MqaQueries queries_of(const LogitsProblem& p, const MqaInputs& in) {
  return {.bytes = in.queries,
          .weights = in.weights,
          .rows = p.shape.rows,
          .heads = p.c.index_heads,
          .dim = p.c.index_dim,
          .row_stride = p.shape.query_stride,
          .head_stride = p.shape.head_stride,
          .weight_stride = p.shape.weight_stride,
          .format = format_of(p.c.fp8)};
}

oracle::RaggedMqa ragged_of(const LogitsProblem& p, const MqaInputs& in) {
  return {.queries = queries_of(p, in),
          .key_bytes = in.keys,
          .scales = in.scales,
          .keys = p.shape.width,
          .key_stride = p.shape.key_stride,
          .key_format = format_of(p.c.fp8),
          .starts = in.starts,
          .ends = in.ends,
          .compressed = p.c.compressed};
}

oracle::PagedMqa paged_of(const LogitsProblem& p, const MqaInputs& in) {
  return {.queries = queries_of(p, in),
          .cache = in.keys,
          .blocks = p.shape.blocks,
          .block_stride = p.shape.block_stride,
          .key_format = format_of(p.c.fp8),
          .table = {in.block_table, p.shape.requests, p.shape.table_blocks, p.shape.table_stride,
                    p.c.block_size},
          .lengths = {p.shape.rows, p.c.next_n, p.c.lens_dim},
          .seq_lens = in.seq_lens};
}

}  // namespace

LogitsProblem logits_problem(const fixtures::Case& c) {
  return {
      c, fixtures::mqa_shape(c),
      fixtures::mqa_is_exact(c) ? oracle::CompareLogits::kBitwise : oracle::CompareLogits::kBound};
}

std::vector<TensorSpec> logits_tensors(const LogitsProblem& p) {
  const fixtures::MqaShape& s = p.shape;
  const int64_t heads = p.c.index_heads;
  const int64_t query = (heads - 1) * s.head_stride + p.c.index_dim;
  const int64_t keys =
      s.paged ? s.blocks * s.block_stride : (s.width - 1) * s.key_stride + p.c.index_dim;
  const int64_t table = (s.requests - 1) * s.table_stride + s.table_blocks;
  const int64_t lens = p.c.lens_dim == 1 ? s.requests : s.rows;
  const int64_t bounds = s.paged ? 0 : s.rows * 4;
  std::vector<TensorSpec> t(kLogitsTensors);
  t[kMqaQueries] = {"queries", Role::kInput, (s.rows - 1) * s.query_stride + query};
  t[kMqaWeights] = {"weights", Role::kInput, ((s.rows - 1) * s.weight_stride + heads) * 4};
  t[kMqaKeys] = {s.paged ? "cache" : "keys", Role::kInput, keys};
  t[kMqaScales] = {"scales", Role::kInput, s.paged ? 0 : s.width * 4};
  t[kMqaStarts] = {"starts", Role::kInput, bounds};
  t[kMqaEnds] = {"ends", Role::kInput, bounds};
  t[kMqaBlockTable] = {"block_table", Role::kInput, s.paged ? table * 4 : 0};
  t[kMqaSeqLens] = {"seq_lens", Role::kInput, s.paged ? lens * 4 : 0};
  t[kMqaLogits] = {"logits", Role::kOutput, ((s.rows - 1) * s.out_stride + s.width) * 4,
                   p.c.misalign * 4};
  return t;
}

std::span<const std::byte> LogitsStep::bytes(size_t tensor) const {
  const auto of = [](const auto& values) { return std::as_bytes(std::span(values)); };
  switch (tensor) {
    case kMqaQueries:
      return of(in.queries);
    case kMqaWeights:
      return of(in.weights);
    case kMqaKeys:
      return of(in.keys);
    case kMqaScales:
      return of(in.scales);
    case kMqaStarts:
      return of(in.starts);
    case kMqaEnds:
      return of(in.ends);
    case kMqaBlockTable:
      return of(in.block_table);
    case kMqaSeqLens:
      return of(in.seq_lens);
    default:
      return {};
  }
}

int64_t LogitsStep::kept_bytes() const {
  int64_t bytes = 0;
  for (size_t tensor = 0; tensor < kLogitsTensors; ++tensor)
    bytes += static_cast<int64_t>(this->bytes(tensor).size());
  return bytes;
}

std::vector<LogitsRow> logits_rows(const LogitsProblem& p, int64_t step) {
  const std::vector<int64_t> lengths = fixtures::row_lengths(p.c, step);
  const std::vector<int64_t> starts = fixtures::row_starts(p.c, step);
  std::vector<LogitsRow> rows;
  for (size_t row = 0; row < lengths.size(); ++row) {
    const int64_t begin = p.c.compressed ? 0 : starts[row];
    rows.push_back({begin, begin + lengths[row]});
  }
  return rows;
}

std::vector<oracle::ExpectedLogit> expected_logits(const LogitsProblem& p, const MqaInputs& in,
                                                   int64_t row) {
  const oracle::MqaContract contract = contract_of(p);
  return p.shape.paged ? oracle::expected_logits(paged_of(p, in), contract, row, p.shape.width)
                       : oracle::expected_logits(ragged_of(p, in), contract, row, p.shape.width);
}

oracle::LogitsJudgement judge_logits(const LogitsProblem& p, const MqaInputs& in, int64_t step,
                                     std::span<const float> after, std::span<const float> before) {
  const oracle::MqaContract contract = contract_of(p);
  const oracle::LogitsOutput out{after, before, p.shape.width, p.shape.out_stride};
  oracle::LogitsJudgement judgement =
      p.shape.paged ? oracle::judge_logits(paged_of(p, in), contract, out, p.compare)
                    : oracle::judge_logits(ragged_of(p, in), contract, out, p.compare);
  if (judgement.unjudged > 0) {
    throw InternalError(fmt::format("{} of {} logits of a case cannot be judged",
                                    judgement.unjudged, judgement.numbers));
  }
  int64_t seen = 0;
  for (const LogitsRow& row : logits_rows(p, step)) seen += row.end - row.begin;
  if (seen != judgement.numbers) {
    throw InternalError(fmt::format("rows see {} keys by the generator and {} by the oracle", seen,
                                    judgement.numbers));
  }
  return judgement;
}

}  // namespace exactk::props
