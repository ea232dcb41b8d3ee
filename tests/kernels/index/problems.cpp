#include "tests/kernels/index/problems.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "fixtures/counter_hash.h"

namespace exactk::kernels::test {
namespace {

// Numbers in [low, high), one after the other.
class Draw {
 public:
  explicit Draw(uint64_t seed) : seed_(seed) {}
  int32_t operator()(int64_t low, int64_t high) {
    const uint64_t hash = fixtures::hash_pair(seed_, counter_++);
    return static_cast<int32_t>(
        low + static_cast<int64_t>(fixtures::hash_below(hash, static_cast<uint64_t>(high - low))));
  }

 private:
  uint64_t seed_;
  uint64_t counter_ = 0;
};

std::vector<int32_t> drawn(uint64_t seed, int64_t count, int64_t low, int64_t high) {
  Draw draw(seed);
  std::vector<int32_t> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return draw(low, high); });
  return values;
}

int64_t matrix_elems(int64_t rows, int64_t columns, int64_t stride) {
  return (rows - 1) * stride + columns;
}

int64_t longest(const std::vector<int32_t>& lens) {
  return std::max<int64_t>(*std::max_element(lens.begin(), lens.end()), 0);
}

// Every fifth token is not valid, every seventh names a request that is none; so do padding rows.
Paged paged_tokens(const Batch& batch, int64_t block_size, int64_t stride_pad, int32_t slot_bytes) {
  Paged p;
  for (int64_t request = 0; request < batch.requests(); ++request) {
    const auto b = static_cast<size_t>(request);
    for (int32_t t = 0; t < batch.query_lens[b]; ++t) {
      const auto number = std::ssize(p.positions);
      p.positions.push_back(batch.seq_lens[b] - batch.query_lens[b] + t);
      p.token_to_req.push_back(static_cast<int32_t>(number % 7 == 6 ? batch.requests() : request));
      p.token_valid.push_back(number % 5 == 4 ? 0 : 1);
    }
  }
  const auto tokens = static_cast<size_t>(batch.tokens());
  p.positions.resize(tokens, 0);
  p.token_to_req.resize(tokens, -1);
  p.token_valid.resize(tokens, 0);

  p.table.requests = batch.requests();
  p.table.columns = std::max<int64_t>(longest(batch.seq_lens) / block_size, 1);
  p.table.stride = p.table.columns + stride_pad;
  p.table.block_size = block_size;
  // Slots of 8 bytes come from blocks all over the 31 bits.
  const int64_t blocks = slot_bytes == 8 ? std::numeric_limits<int32_t>::max()
                                         : std::numeric_limits<int32_t>::max() / block_size;
  p.block_table = drawn(batch.seed + 50,
                        matrix_elems(p.table.requests, p.table.columns, p.table.stride), 0, blocks);
  return p;
}

oracle::BlockTable bound_table(const Paged& p) {
  oracle::BlockTable table = p.table;
  table.blocks = p.block_table;
  return table;
}

void upload_paged(Buffers& buffers, const Paged& p) {
  buffers.upload("token_to_req", p.token_to_req);
  buffers.upload("token_valid", p.token_valid);
  buffers.upload("block_table", p.block_table);
}

template <class Descriptor>
void describe_paged(Descriptor& d, const Buffers& buffers, const Paged& p) {
  d.struct_size = sizeof(d);
  d.token_to_req = buffers.at<int32_t>("token_to_req");
  d.token_valid = buffers.at<uint8_t>("token_valid");
  d.positions = buffers.at<int32_t>("positions");
  d.block_table = buffers.at<int32_t>("block_table");
  d.slots = buffers.at<void>("slots");
  d.lens = buffers.at<int32_t>("lens");
  d.requests = p.table.requests;
  d.table_blocks = p.table.columns;
  d.table_stride_elems = p.table.stride;
  d.block_size = p.table.block_size;
}

template <class Descriptor>
void set_place(Descriptor& d, const Place& place) {
  d.workspace = place.workspace;
  d.workspace_bytes = place.workspace_bytes;
  d.stream = place.stream;
}

}  // namespace

int64_t Batch::covered() const {
  return std::accumulate(query_lens.begin(), query_lens.end(), int64_t{0});
}

CombineProblem combine_problem(const Batch& batch, const CombineNumbers& n) {
  CombineProblem p;
  const bool checked =
      n.variant == oracle::CombineVariant::kChecked || n.variant == oracle::CombineVariant::kVision;
  p.seq_lens = batch.seq_lens;
  p.query_start_loc = {batch.skip};
  for (size_t b = 0; b < batch.query_lens.size(); ++b) {
    const int32_t query = batch.query_lens[b];
    p.query_start_loc.push_back(p.query_start_loc.back() + query);
    const int64_t start = std::max(batch.seq_lens[b] - query, 0);
    const auto needed = static_cast<int32_t>(query + std::min(n.window - 1, start));
    p.gather_lens.push_back(n.gather_short ? needed / 2 : needed);
  }
  const int64_t compressed = n.ratio == 0 || n.k == 0 ? 0 : longest(batch.seq_lens) / n.ratio;
  p.shape = {.variant = n.variant,
             .tokens = batch.tokens(),
             .requests = batch.requests(),
             .k = n.k,
             .topk_width = n.k + n.width_pad,
             .topk_stride = n.k + n.width_pad + n.stride_pad,
             .window = n.window,
             .ratio = n.ratio,
             .workspace_rows = compressed + longest(p.gather_lens),
             .compressed_rows = compressed,
             .columns = oracle::combine_columns(n.k, n.window, n.images),
             .out_stride = oracle::combine_columns(n.k, n.window, n.images) + n.out_pad,
             .max_image_tokens = n.images};
  const int64_t indices = matrix_elems(p.shape.tokens, p.shape.topk_width, p.shape.topk_stride);
  p.topk_indices = drawn(batch.seed, indices, checked ? -2 : -1, compressed + (checked ? 3 : 1));
  if (n.variant == oracle::CombineVariant::kVision) {
    p.left_visible = drawn(batch.seed + 1, p.shape.tokens, 0, n.images + 1);
    p.right_visible = drawn(batch.seed + 2, p.shape.tokens, 0, n.images + 1);
  }
  return p;
}

std::vector<oracle::ExpectedTensor> CombineProblem::expected() const {
  return oracle::expected_combine(
      shape, {topk_indices, query_start_loc, seq_lens, gather_lens, left_visible, right_visible});
}

void CombineProblem::upload_inputs(Buffers& buffers) const {
  buffers.upload("topk_indices", topk_indices);
  buffers.upload("query_start_loc", query_start_loc);
  buffers.upload("seq_lens", seq_lens);
  buffers.upload("gather_lens", gather_lens);
  if (shape.variant == oracle::CombineVariant::kVision) {
    buffers.upload("left_visible", left_visible);
    buffers.upload("right_visible", right_visible);
  }
}

const void* CombineProblem::descriptor(const Buffers& buffers, const Place& place) {
  d_ = {};
  d_.struct_size = sizeof(d_);
  d_.variant = static_cast<int32_t>(shape.variant);
  d_.topk_indices = buffers.at<int32_t>("topk_indices");
  d_.query_start_loc = buffers.at<int32_t>("query_start_loc");
  d_.seq_lens = buffers.at<int32_t>("seq_lens");
  d_.gather_lens = buffers.at<int32_t>("gather_lens");
  d_.left_visible = buffers.at<int32_t>("left_visible");
  d_.right_visible = buffers.at<int32_t>("right_visible");
  d_.indices = buffers.at<int32_t>("indices");
  d_.lens = buffers.at<int32_t>("lens");
  d_.indptr = buffers.at<int32_t>("indptr");
  d_.tokens = shape.tokens;
  d_.requests = shape.requests;
  d_.k = shape.k;
  d_.topk_width = shape.topk_width;
  d_.topk_stride_elems = shape.topk_stride;
  d_.window = shape.window;
  d_.ratio = shape.ratio;
  d_.workspace_rows = shape.workspace_rows;
  d_.compressed_rows = shape.compressed_rows;
  d_.columns = shape.columns;
  d_.out_stride_elems = shape.out_stride;
  d_.max_image_tokens = shape.max_image_tokens;
  set_place(d_, place);
  return &d_;
}

TranslateProblem translate_problem(const Batch& batch, const TranslateNumbers& n) {
  TranslateProblem p;
  p.slot_bytes = n.slot_bytes;
  p.paged = paged_tokens(batch, n.block_size, n.table_pad, n.slot_bytes);
  p.cap = n.cap;
  p.shape = {.variant = n.variant,
             .tokens = batch.tokens(),
             .k = n.k,
             .index_stride = n.k + n.index_pad,
             .out_stride = n.k + n.out_pad,
             .ratio = n.ratio,
             .slots_bound = n.slots_bound};
  // Some below 0, some past the table.
  p.indices = drawn(batch.seed, matrix_elems(p.shape.tokens, n.k, p.shape.index_stride), -3,
                    p.paged.table.columns * n.block_size + 4);
  p.lengths = drawn(batch.seed + 3, p.shape.tokens, -3, n.k + 4);
  p.cu_seqlens = {0};
  for (const int32_t row : drawn(batch.seed + 4, p.shape.tokens, 0, n.k + 1)) {
    p.cu_seqlens.push_back(p.cu_seqlens.back() + row);
  }
  return p;
}

std::vector<oracle::ExpectedTensor> TranslateProblem::expected() const {
  return oracle::expected_translate(
      shape,
      {indices, paged.token_to_req, paged.token_valid, lengths, cu_seqlens, paged.positions, cap},
      bound_table(paged));
}

void TranslateProblem::upload_inputs(Buffers& buffers) const {
  // What a variant does not read stays null.
  if (shape.variant == oracle::TranslateVariant::kPack) {
    buffers.upload("lengths", lengths);
  } else {
    upload_paged(buffers, paged);
  }
  if (shape.variant == oracle::TranslateVariant::kCapped) {
    buffers.upload("positions", paged.positions);
    buffers.upload("cap", std::vector<int32_t>{cap});
  } else {
    buffers.upload("indices", indices);
  }
  if (shape.variant == oracle::TranslateVariant::kFlat) {
    buffers.upload("cu_seqlens", cu_seqlens);
  }
}

const void* TranslateProblem::descriptor(const Buffers& buffers, const Place& place) {
  d_ = {};
  describe_paged(d_, buffers, paged);
  d_.variant = static_cast<int32_t>(shape.variant);
  d_.slot_bytes = slot_bytes;
  d_.indices = buffers.at<int32_t>("indices");
  d_.lengths = buffers.at<int32_t>("lengths");
  d_.cu_seqlens = buffers.at<int32_t>("cu_seqlens");
  d_.cap = buffers.at<int32_t>("cap");
  d_.indptr = buffers.at<int32_t>("indptr");
  d_.tokens = shape.tokens;
  d_.k = shape.k;
  d_.index_stride_elems = shape.index_stride;
  d_.out_stride_elems = shape.out_stride;
  d_.ratio = shape.ratio;
  d_.slots_bound = shape.slots_bound;
  set_place(d_, place);
  return &d_;
}

SwaProblem swa_problem(const Batch& batch, const SwaNumbers& n) {
  SwaProblem p;
  p.slot_bytes = n.slot_bytes;
  p.paged = paged_tokens(batch, n.block_size, n.table_pad, n.slot_bytes);
  p.shape = {.tokens = batch.tokens(),
             .window = n.window,
             .columns = n.columns,
             .out_stride = n.columns + n.out_pad};
  if (n.images > 0) {
    p.left_visible = drawn(batch.seed + 1, p.shape.tokens, 0, n.window + n.images);
    p.right_visible = drawn(batch.seed + 2, p.shape.tokens, 0, n.images + 1);
  }
  return p;
}

std::vector<oracle::ExpectedTensor> SwaProblem::expected() const {
  return oracle::expected_swa(
      shape, {paged.positions, paged.token_to_req, paged.token_valid, left_visible, right_visible},
      bound_table(paged));
}

void SwaProblem::upload_inputs(Buffers& buffers) const {
  upload_paged(buffers, paged);
  buffers.upload("positions", paged.positions);
  if (!left_visible.empty()) {
    buffers.upload("left_visible", left_visible);
    buffers.upload("right_visible", right_visible);
  }
}

const void* SwaProblem::descriptor(const Buffers& buffers, const Place& place) {
  d_ = {};
  describe_paged(d_, buffers, paged);
  d_.slot_bytes = slot_bytes;
  d_.left_visible = buffers.at<int32_t>("left_visible");
  d_.right_visible = buffers.at<int32_t>("right_visible");
  d_.tokens = shape.tokens;
  d_.window = shape.window;
  d_.columns = shape.columns;
  d_.out_stride_elems = shape.out_stride;
  set_place(d_, place);
  return &d_;
}

}  // namespace exactk::kernels::test
