#include "tests/kernels/logits/problem.h"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace exactk::kernels::test {
namespace {

fixtures::Case parsed(std::string_view text) {
  const auto c = fixtures::parse_case(text);
  if (!c) {
    fmt::print(stderr, "{}\n", c.error());
    std::abort();
  }
  return *c;
}

oracle::FloatFormat format_of(const fixtures::Case& c) {
  return c.fp8 == fixtures::Fp8::kFn ? oracle::kFp8E4m3Fn : oracle::kFp8E4m3Fnuz;
}

oracle::MqaQueries queries_of(const LogitsProblem& p) {
  return {.bytes = p.in.queries,
          .weights = p.in.weights,
          .rows = p.shape.rows,
          .heads = p.c.index_heads,
          .dim = p.c.index_dim,
          .row_stride = p.shape.query_stride,
          .head_stride = p.shape.head_stride,
          .weight_stride = p.shape.weight_stride,
          .format = format_of(p.c)};
}

oracle::RaggedMqa ragged_of(const LogitsProblem& p) {
  return {.queries = queries_of(p),
          .key_bytes = p.in.keys,
          .scales = p.in.scales,
          .keys = p.shape.width,
          .key_stride = p.shape.key_stride,
          .key_format = format_of(p.c),
          .starts = p.in.starts,
          .ends = p.in.ends,
          .compressed = p.c.compressed};
}

oracle::PagedMqa paged_of(const LogitsProblem& p) {
  return {.queries = queries_of(p),
          .cache = p.in.keys,
          .blocks = p.shape.blocks,
          .block_stride = p.shape.block_stride,
          .key_format = format_of(p.c),
          .table = {p.in.block_table, p.shape.requests, p.shape.table_blocks, p.shape.table_stride,
                    p.c.block_size},
          .lengths = {p.shape.rows, p.c.next_n, p.c.lens_dim},
          .seq_lens = p.in.seq_lens};
}

template <class Descriptor>
void describe(const LogitsProblem& p, const Buffers& buffers, const Place& place, Descriptor& d) {
  d.struct_size = sizeof(d);
  d.fp8 = static_cast<int32_t>(p.c.fp8);
  d.outside = static_cast<int32_t>(p.c.outside);
  d.queries = buffers.at<const uint8_t>("queries");
  d.weights = buffers.at<const float>("weights");
  d.logits = buffers.at<float>("logits");
  d.rows = p.shape.rows;
  d.width = p.shape.width;
  d.heads = p.c.index_heads;
  d.dim = p.c.index_dim;
  d.query_stride_bytes = p.shape.query_stride;
  d.head_stride_bytes = p.shape.head_stride;
  d.weight_stride_elems = p.shape.weight_stride;
  d.out_stride_elems = p.shape.out_stride;
  d.workspace = place.workspace;
  d.workspace_bytes = place.workspace_bytes;
  d.stream = place.stream;
}

}  // namespace

LogitsProblem::LogitsProblem(std::string_view text)
    : c(parsed(text)), shape(fixtures::mqa_shape(c)), in(fixtures::mqa_inputs(c, 0)) {}

std::vector<Output> LogitsProblem::outputs() const {
  return {{"logits", ((shape.rows - 1) * shape.out_stride + shape.width) * 4, c.misalign * 4}};
}

std::string LogitsProblem::judge(Buffers& buffers, uint8_t before) const {
  const std::vector<float> got = buffers.download<float>("logits");
  std::vector<float> held(got.size());
  std::memset(held.data(), before, held.size() * 4);
  const oracle::LogitsOutput out{got, held, shape.width, shape.out_stride};
  const oracle::MqaContract contract{.outside = static_cast<oracle::Outside>(c.outside)};
  const auto compare =
      fixtures::mqa_is_exact(c) ? oracle::CompareLogits::kBitwise : oracle::CompareLogits::kBound;
  const oracle::LogitsJudgement judgement =
      shape.paged ? oracle::judge_logits(paged_of(*this), contract, out, compare)
                  : oracle::judge_logits(ragged_of(*this), contract, out, compare);
  if (judgement.unjudged > 0) {
    return fmt::format("{} of {} numbers cannot be judged", judgement.unjudged, judgement.numbers);
  }
  if (judgement.ok()) {
    return "";
  }
  const oracle::BadLogit& bad = judgement.bad.front();
  return fmt::format("logits row {} column {}: {}, want {} +- {}, got {}; {} bad elements", bad.row,
                     bad.column, oracle::name(bad.kind), bad.want, bad.bound, bad.got,
                     judgement.bad_elements);
}

void LogitsProblem::upload_inputs(Buffers& buffers) const {
  buffers.upload("queries", in.queries);
  buffers.upload("weights", in.weights);
  buffers.upload("keys", in.keys);
  if (shape.paged) {
    buffers.upload("block_table", in.block_table);
    buffers.upload("seq_lens", in.seq_lens);
  } else {
    buffers.upload("scales", in.scales);
    buffers.upload("starts", in.starts);
    buffers.upload("ends", in.ends);
  }
}

const void* LogitsProblem::descriptor(const Buffers& buffers, const Place& place) {
  describe(*this, buffers, place, ragged_);
  ragged_.compressed = c.compressed ? 1 : 0;
  ragged_.keys = buffers.at<const uint8_t>("keys");
  ragged_.scales = buffers.at<const float>("scales");
  ragged_.starts = buffers.at<const int32_t>("starts");
  ragged_.ends = buffers.at<const int32_t>("ends");
  ragged_.key_count = shape.width;
  ragged_.key_stride_bytes = shape.key_stride;
  describe(*this, buffers, place, paged_);
  paged_.seq_lens_dim = c.lens_dim;
  paged_.cache = buffers.at<const uint8_t>("keys");
  paged_.block_table = buffers.at<const int32_t>("block_table");
  paged_.seq_lens = buffers.at<const int32_t>("seq_lens");
  paged_.next_n = c.next_n;
  paged_.blocks = shape.blocks;
  paged_.block_size = c.block_size;
  paged_.block_stride_bytes = shape.block_stride;
  paged_.table_blocks = shape.table_blocks;
  paged_.table_stride_elems = shape.table_stride;
  paged_.max_seq_len_hint = in.longest_row;
  if (shape.paged) {
    return &paged_;
  }
  return &ragged_;
}

std::string_view shipped_kernel(const LogitsProblem& problem) {
  return problem.shape.paged ? "mqa.paged_tiles" : "mqa.tiles";
}

}  // namespace exactk::kernels::test
