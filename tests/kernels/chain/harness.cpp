#include "tests/kernels/chain/harness.h"

#include <algorithm>

#include <fmt/format.h>

#include "oracle/block_table.h"
#include "oracle/combine_indices.h"
#include "oracle/topk.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

constexpr std::byte kPoisonByte{0xa5};
constexpr int32_t kPoison = static_cast<int32_t>(0xa5a5a5a5);
constexpr int64_t kPoison64 = static_cast<int64_t>(0xa5a5a5a5a5a5a5a5);
constexpr uint32_t kWins = 0x7fffffffu;  // the best NaN: outside the rows

std::string text(const Result<void>& result) {
  return result ? "" : result.error();
}

std::vector<int32_t> reference(const Logits& logits, int64_t row, int64_t begin, int64_t end,
                               int64_t k) {
  std::vector<uint32_t> visible;
  for (int64_t column = begin; column < end; ++column) {
    visible.push_back(logits(row, column));
  }
  return oracle::topk_reference(visible, k);
}

void put_row(std::vector<uint32_t>& matrix, int64_t width, const Logits& logits, int64_t row,
             int64_t begin, int64_t end) {
  for (int64_t column = begin; column < end; ++column) {
    matrix[static_cast<size_t>(row * width + column)] = logits(row, column);
  }
}

int64_t longest(const std::vector<int32_t>& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

// An odd multiplier permutes the columns modulo a power of two; all are finite and about 1.
Logits distinct_logits(uint64_t seed) {
  return [=](int64_t row, int64_t column) {
    const auto place = static_cast<uint32_t>(column) * 2654435761u +
                       static_cast<uint32_t>(row + static_cast<int64_t>(seed) * 77) * 40503u;
    return 0x3f000000u | (place & 0xffffffu);
  };
}

std::vector<uint8_t> DecodeProblem::validity() const {
  return valid.empty() ? std::vector<uint8_t>(lengths.size(), 1) : valid;
}

std::vector<int32_t> DecodeProblem::requests_of_rows() const {
  std::vector<int32_t> of(lengths.size());
  for (size_t row = 0; row < of.size(); ++row) {
    of[row] = static_cast<int32_t>(static_cast<int64_t>(row) % requests);
  }
  return of;
}

std::vector<int32_t> DecodeProblem::table() const {
  std::vector<int32_t> numbers(static_cast<size_t>(requests * blocks()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<int32_t>(numbers.size() - i + 5);
  }
  return numbers;
}

ChainAnswer DecodeProblem::answer() const {
  const auto oracle_variant = static_cast<oracle::TranslateVariant>(variant);
  const oracle::TranslateShape shape{oracle_variant, rows(), k, k, k};
  std::vector<int32_t> indices;
  for (int64_t row = 0; row < rows(); ++row) {
    const auto best = reference(logits, row, 0, lengths[static_cast<size_t>(row)], k);
    indices.insert(indices.end(), best.begin(), best.end());
  }
  const std::vector<int32_t> of = requests_of_rows();
  const std::vector<uint8_t> validity_of_rows = validity();
  const std::vector<int32_t> numbers = table();
  oracle::TranslateInputs in;
  in.indices = indices;
  in.token_to_req = of;
  in.token_valid = validity_of_rows;
  ChainAnswer answer{
      oracle::expected_translate(shape, in, {numbers, requests, blocks(), blocks(), block_size}),
      {}};
  const std::vector<int64_t>& counts = answer.tensors[1].values;  // lens or indptr
  for (int64_t row = 0; row < rows(); ++row) {
    const auto r = static_cast<size_t>(row);
    if (variant == EXACTK_TRANSLATE_RAGGED) {
      answer.segments.push_back({counts[r], counts[r + 1]});
    } else {  // slots of an invalid token are written all the same
      answer.segments.push_back({row * k, row * k + std::min<int64_t>(lengths[r], k)});
    }
  }
  return answer;
}

void DecodeProblem::upload_inputs(Buffers& buffers) const {
  std::vector<uint32_t> matrix(static_cast<size_t>(rows() * width), kWins);
  for (int64_t row = 0; row < rows(); ++row) {
    put_row(matrix, width, logits, row, 0, lengths[static_cast<size_t>(row)]);
  }
  buffers.upload("logits", matrix);
  buffers.upload("seq_lens", lengths);
  buffers.upload("token_to_req", requests_of_rows());
  buffers.upload("token_valid", validity());
  buffers.upload("block_table", table());
}

const exactk_chain& DecodeProblem::descriptor(const Buffers& buffers, const Place& place) {
  decode_ = {};
  decode_.struct_size = sizeof(decode_);
  decode_.seq_lens_dim = 2;
  decode_.logits = buffers.at<const float>("logits");
  decode_.seq_lens = buffers.at<const int32_t>("seq_lens");
  decode_.indices = buffers.at<int32_t>("topk");
  decode_.rows = rows();
  decode_.next_n = 1;
  decode_.width = decode_.row_stride_elems = width;
  decode_.k = decode_.out_stride_elems = k;
  decode_.column_stride_elems = 1;
  decode_.workspace = place.workspace;
  decode_.workspace_bytes = place.workspace_bytes;
  decode_.stream = place.stream;
  decode_.arch = "gfx950";
  decode_.max_seq_len_hint = longest(lengths);
  decode_.compress_ratio = 1;
  decode_.tuning = &tune;
  translate_ = {};
  translate_.struct_size = sizeof(translate_);
  translate_.variant = variant;
  translate_.slot_bytes = slot_bytes;
  translate_.indices = decode_.indices;
  translate_.token_to_req = buffers.at<const int32_t>("token_to_req");
  translate_.token_valid = buffers.at<const uint8_t>("token_valid");
  translate_.block_table = buffers.at<const int32_t>("block_table");
  translate_.slots = buffers.at<void>("slots");
  translate_.lens = buffers.at<int32_t>("lens");
  translate_.indptr = buffers.at<int32_t>("indptr");
  translate_.tokens = rows();
  translate_.k = translate_.index_stride_elems = translate_.out_stride_elems = k;
  translate_.requests = requests;
  translate_.table_blocks = translate_.table_stride_elems = blocks();
  translate_.block_size = block_size;
  translate_.slots_bound = -1;
  chain_ = {sizeof(chain_), 0, &decode_, nullptr, &translate_, nullptr};
  return chain_;
}

int64_t PrefillProblem::tokens() const {
  int64_t sum = 0;
  for (const int32_t length : query_lens) {
    sum += length;
  }
  return sum;
}

int64_t PrefillProblem::width() const {
  int64_t sum = 0;
  for (const int32_t length : seq_lens) {
    sum += length / ratio;
  }
  return std::max<int64_t>(sum, 1);
}

int64_t PrefillProblem::compressed_rows() const {
  return longest(seq_lens) / ratio;
}

int64_t PrefillProblem::workspace_rows() const {
  return compressed_rows() + longest(seq_lens);
}

int64_t PrefillProblem::columns() const {
  return oracle::combine_columns(k, window, 0);
}

PrefillProblem::Rows PrefillProblem::rows() const {
  Rows rows;
  rows.query_start_loc.push_back(0);
  rows.gather_lens = seq_lens;  // everything is gathered
  int64_t start = 0;
  for (size_t request = 0; request < query_lens.size(); ++request) {
    rows.query_start_loc.push_back(rows.query_start_loc.back() + query_lens[request]);
    for (int32_t token = 0; token < query_lens[request]; ++token) {
      const int64_t position = seq_lens[request] - query_lens[request] + token;
      rows.starts.push_back(static_cast<int32_t>(start));
      rows.ends.push_back(static_cast<int32_t>(start + (position + 1) / ratio));
    }
    start += seq_lens[request] / ratio;
  }
  return rows;
}

ChainAnswer PrefillProblem::answer() const {
  const Rows where = rows();
  std::vector<int32_t> indices;
  ChainAnswer answer;
  for (int64_t row = 0; row < tokens(); ++row) {
    const int64_t begin = where.starts[static_cast<size_t>(row)];
    const int64_t end = where.ends[static_cast<size_t>(row)];
    const auto best = reference(logits, row, begin, end, k);
    indices.insert(indices.end(), best.begin(), best.end());
    answer.segments.push_back({row * columns(), row * columns() + std::min(end - begin, k)});
  }
  oracle::CombineShape shape;
  shape.tokens = tokens();
  shape.requests = std::ssize(query_lens);
  shape.k = shape.topk_width = shape.topk_stride = k;
  shape.window = window;
  shape.ratio = ratio;
  shape.workspace_rows = workspace_rows();
  shape.compressed_rows = compressed_rows();
  shape.columns = shape.out_stride = columns();
  answer.tensors = oracle::expected_combine(
      shape, {indices, where.query_start_loc, seq_lens, where.gather_lens, {}, {}});
  return answer;
}

void PrefillProblem::upload_inputs(Buffers& buffers) const {
  const Rows where = rows();
  std::vector<uint32_t> matrix(static_cast<size_t>(tokens() * width()), kWins);
  for (int64_t row = 0; row < tokens(); ++row) {
    put_row(matrix, width(), logits, row, where.starts[static_cast<size_t>(row)],
            where.ends[static_cast<size_t>(row)]);
  }
  buffers.upload("logits", matrix);
  buffers.upload("row_starts", where.starts);
  buffers.upload("row_ends", where.ends);
  buffers.upload("query_start_loc", where.query_start_loc);
  buffers.upload("seq_lens", seq_lens);
  buffers.upload("gather_lens", where.gather_lens);
}

const exactk_chain& PrefillProblem::descriptor(const Buffers& buffers, const Place& place) {
  prefill_ = {};
  prefill_.struct_size = sizeof(prefill_);
  prefill_.logits = buffers.at<const float>("logits");
  prefill_.row_starts = buffers.at<const int32_t>("row_starts");
  prefill_.row_ends = buffers.at<const int32_t>("row_ends");
  prefill_.indices = buffers.at<int32_t>("topk");
  prefill_.rows = tokens();
  prefill_.width = prefill_.row_stride_elems = width();
  prefill_.k = prefill_.out_stride_elems = k;
  prefill_.column_stride_elems = 1;
  prefill_.workspace = place.workspace;
  prefill_.workspace_bytes = place.workspace_bytes;
  prefill_.stream = place.stream;
  prefill_.arch = "gfx950";
  prefill_.tuning = &tune;
  combine_ = {};
  combine_.struct_size = sizeof(combine_);
  combine_.variant = EXACTK_COMBINE_COMMON;
  combine_.topk_indices = prefill_.indices;
  combine_.query_start_loc = buffers.at<const int32_t>("query_start_loc");
  combine_.seq_lens = buffers.at<const int32_t>("seq_lens");
  combine_.gather_lens = buffers.at<const int32_t>("gather_lens");
  combine_.indices = buffers.at<int32_t>("indices");
  combine_.lens = buffers.at<int32_t>("lens");
  combine_.tokens = tokens();
  combine_.requests = std::ssize(query_lens);
  combine_.k = combine_.topk_width = combine_.topk_stride_elems = k;
  combine_.window = window;
  combine_.ratio = ratio;
  combine_.workspace_rows = workspace_rows();
  combine_.compressed_rows = compressed_rows();
  combine_.columns = combine_.out_stride_elems = columns();
  chain_ = {sizeof(chain_), 0, nullptr, &prefill_, nullptr, &combine_};
  return chain_;
}

ChainBench::ChainBench(const exactk_kernel& kernel, ChainProblem& problem, const Options& options)
    : kernel_(kernel), problem_(problem) {
  auto device = open_device(kDeviceKind);
  if (!device) {
    broken_ = device.error();
    return;
  }
  device_ = std::move(*device);
  if (kOnHost) {
    broken_ = text(device_->configure(
        {.wave_width = options.wave_width, .schedule_seed = options.schedule_seed, .workers = 2}));
  }
  buffers_ = std::make_unique<Buffers>(*device_);
  workspace_bytes_ = kernel_.workspace_bytes(&problem_.descriptor(*buffers_, {}));
  stream_ = device_->stream(0);
}

std::string ChainBench::prepare() {
  if (!broken_.empty()) {
    return broken_;
  }
  problem_.upload_inputs(*buffers_);
  bool first = true;
  for (const oracle::ExpectedTensor& want : problem_.answer().tensors) {
    const int64_t bytes = std::ssize(want.values) * (first ? problem_.slot_bytes : 4);
    buffers_->upload(want.name, std::vector<std::byte>(static_cast<size_t>(bytes), kPoisonByte));
    first = false;
  }
  buffers_->upload("topk",
                   std::vector<int32_t>(static_cast<size_t>(problem_.index_elems()), kPoison));
  if (workspace_bytes_ > 0) {
    buffers_->upload("workspace",
                     std::vector<uint8_t>(static_cast<size_t>(workspace_bytes_), 0x7f));
  }
  return buffers_->error();
}

std::string ChainBench::enqueue(void* stream, int64_t workspace_missing_bytes) {
  const Place place{buffers_->at<void>("workspace"), workspace_bytes_ - workspace_missing_bytes,
                    stream};
  char message[256] = "";
  const exactk_status status =
      kernel_.launch(&problem_.descriptor(*buffers_, place), message, sizeof(message));
  return status == EXACTK_OK ? "" : message;
}

std::string ChainBench::launch(int64_t workspace_missing_bytes) {
  return enqueue(stream_, workspace_missing_bytes);
}

std::string ChainBench::capture() {
  stream_ = device_->stream(1);
  std::string error = text(device_->begin_capture(stream_));
  error = error.empty() ? enqueue(stream_, 0) : error;
  return error.empty() ? text(device_->end_capture(stream_)) : error;
}

std::string ChainBench::replay() {
  return text(device_->replay(stream_));
}

std::string ChainBench::judge_tensor(oracle::ExpectedTensor want,
                                     const std::vector<Segment>& segments, bool first) {
  std::vector<int64_t> got;
  const bool wide = first && problem_.slot_bytes == 8;
  if (wide) {
    got = buffers_->download<int64_t>(want.name);
  } else {
    const std::vector<int32_t> narrow = buffers_->download<int32_t>(want.name);
    got.assign(narrow.begin(), narrow.end());
  }
  const bool any_order = first && (kernel_.modes & EXACTK_MODE_REPEATABLE) == 0;
  for (size_t i = 0; any_order && i < segments.size(); ++i) {
    std::sort(got.begin() + segments[i].begin, got.begin() + segments[i].end);
    std::sort(want.values.begin() + segments[i].begin, want.values.begin() + segments[i].end);
  }
  const std::vector<int64_t> before(got.size(), wide ? kPoison64 : kPoison);
  const oracle::TensorJudgement judgement = oracle::judge_exact(want, got, before);
  if (judgement.ok()) {
    return "";
  }
  const oracle::BadElement& bad = judgement.bad.front();
  return fmt::format("{} row {} slot {}: {}, want {}, got {}; {} bad elements", want.name, bad.row,
                     bad.slot, oracle::name(bad.kind), bad.want, bad.got, judgement.bad_elements);
}

std::string ChainBench::judge() {
  if (!broken_.empty()) {
    return broken_;
  }
  std::string error = text(device_->synchronize(stream_));
  error = error.empty() ? buffers_->check_guards() : error;
  const ChainAnswer answer = problem_.answer();
  bool first = true;
  for (const oracle::ExpectedTensor& want : answer.tensors) {
    error = error.empty() ? judge_tensor(want, answer.segments, first) : error;
    first = false;
  }
  return error.empty() ? buffers_->error() : error;
}

std::string ChainBench::run() {
  std::string error = prepare();
  error = error.empty() ? launch() : error;
  return error.empty() ? judge() : error;
}

std::string run_chain(std::string_view name, ChainProblem& problem, const Options& options) {
  return ChainBench(kernel(name), problem, options).run();
}

}  // namespace exactk::kernels::test
