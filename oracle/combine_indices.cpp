#include "oracle/combine_indices.h"

#include <algorithm>

#include "oracle/swa_window.h"

namespace exactk::oracle {
namespace {

constexpr int64_t kSentinel = -1;

// Where a token stands in its request.
struct Place {
  int64_t request = 0;
  int64_t position = 0;  // negative where the sequence is shorter than the query
};

// One row before it is laid out: what is stored, and the length that is reported, which can exceed
// it.
struct Row {
  std::vector<int64_t> entries;
  int64_t length = 0;
};

class Combiner {
 public:
  Combiner(const CombineShape& shape, const CombineInputs& in) : shape_(shape), in_(in) {}

  std::vector<ExpectedTensor> dense() const {
    ExpectedTensor indices = untouched_matrix(
        "indices", {.rows = shape_.tokens, .columns = shape_.columns, .stride = shape_.out_stride});
    ExpectedTensor lens = untouched_vector("lens", shape_.tokens);
    for_each_token([&](int64_t token, const Place& place) {
      Row row = combine(token, place);
      row.entries.resize(static_cast<size_t>(shape_.columns), kSentinel);
      set_row(indices, token * shape_.out_stride, row);
      lens.set(token, row.length);
    });
    return {std::move(indices), std::move(lens)};
  }

  std::vector<ExpectedTensor> ragged() const {
    std::vector<Row> rows(static_cast<size_t>(shape_.tokens));
    for_each_token([&](int64_t token, const Place& place) {
      rows[static_cast<size_t>(token)] = combine(token, place);
    });
    const int64_t slots = shape_.k + shape_.window;
    ExpectedTensor indices =
        untouched_matrix("indices", {.rows = shape_.tokens, .columns = slots, .stride = slots});
    ExpectedTensor indptr = untouched_vector("indptr", shape_.tokens + 1);
    int64_t begin = 0;
    for (size_t token = 0; token < rows.size(); ++token) {
      indices.row_begins[token] = begin;
      indptr.set(static_cast<int64_t>(token), begin);
      set_row(indices, begin, rows[token]);
      begin += rows[token].length;
    }
    indptr.set(shape_.tokens, begin);
    return {std::move(indices), std::move(indptr)};
  }

 private:
  // Calls visit(token, place) for every token of a request that the tensors have a row for.
  template <class Visit>
  void for_each_token(Visit visit) const {
    for (int64_t request = 0; request < shape_.requests; ++request) {
      const auto b = static_cast<size_t>(request);
      const int64_t begin = int64_t{in_.query_start_loc[b]} - in_.query_start_loc[0];
      const int64_t end = int64_t{in_.query_start_loc[b + 1]} - in_.query_start_loc[0];
      for (int64_t token = begin; token < std::min(end, shape_.tokens); ++token) {
        visit(token, Place{.request = request, .position = in_.seq_lens[b] - (end - token)});
      }
    }
  }

  Row combine(int64_t token, const Place& place) const {
    // The request's first row in the gathered workspace.
    const int64_t base = shape_.workspace_rows * place.request;
    Row row;
    const int64_t compressed = compressed_count(place.position);
    for (int64_t j = 0; j < compressed; ++j) {
      const int64_t local = in_.topk_indices[static_cast<size_t>(token * shape_.topk_stride + j)];
      const bool kept = !checks_indices() || (local >= 0 && local < shape_.compressed_rows);
      row.entries.push_back(kept ? stored(base + local) : kSentinel);
    }
    const Window seen = window_of(token, place);
    const int64_t count = std::max<int64_t>(seen.end - seen.begin, 0);
    const int64_t shown = std::min(count, shape_.window + shape_.max_image_tokens);
    for (int64_t j = 0; j < shown; ++j) {
      const int64_t gathered = seen.begin - gather_start(place.request) + j;
      row.entries.push_back(stored(base + shape_.compressed_rows + gathered));
    }
    row.length = compressed + count;
    return row;
  }

  int64_t compressed_count(int64_t position) const {
    if (position < 0 || shape_.ratio == 0) {
      return 0;
    }
    return std::min((position + 1) / shape_.ratio, shape_.k);
  }

  Window window_of(int64_t token, const Place& place) const {
    const bool vision = shape_.variant == CombineVariant::kVision;
    const int64_t left = vision ? in_.left_visible[static_cast<size_t>(token)] : 0;
    const int64_t right = vision ? in_.right_visible[static_cast<size_t>(token)] : 0;
    Window seen = swa_window(place.position, shape_.window, left, right);
    if (vision || shape_.variant == CombineVariant::kGathered) {
      seen.begin = std::max(seen.begin, gather_start(place.request));
    }
    if (vision) {
      seen.end = std::min<int64_t>(seen.end, in_.seq_lens[static_cast<size_t>(place.request)]);
    }
    return seen;
  }

  // First position that lies in the window region.
  int64_t gather_start(int64_t request) const {
    const auto b = static_cast<size_t>(request);
    return int64_t{in_.seq_lens[b]} - in_.gather_lens[b];
  }

  bool checks_indices() const {
    return shape_.variant == CombineVariant::kChecked || shape_.variant == CombineVariant::kVision;
  }

  // What an int32 tensor holds of a number.
  static int64_t stored(int64_t value) { return static_cast<int32_t>(value); }

  static void set_row(ExpectedTensor& indices, int64_t begin, const Row& row) {
    for (size_t j = 0; j < row.entries.size(); ++j) {
      indices.set(begin + static_cast<int64_t>(j), row.entries[j]);
    }
  }

  const CombineShape& shape_;
  const CombineInputs& in_;
};

}  // namespace

std::string_view name(CombineVariant variant) {
  switch (variant) {
    case CombineVariant::kCommon:
      return "common";
    case CombineVariant::kGathered:
      return "gathered";
    case CombineVariant::kChecked:
      return "checked";
    case CombineVariant::kVision:
      return "vision";
    case CombineVariant::kRagged:
      return "ragged";
  }
  return "unknown";
}

int64_t combine_columns(int64_t k, int64_t window, int64_t max_image_tokens) {
  const int64_t slots = k + window + max_image_tokens;
  return (slots + kCombineAlignment - 1) / kCombineAlignment * kCombineAlignment;
}

std::vector<ExpectedTensor> expected_combine(const CombineShape& shape, const CombineInputs& in) {
  const Combiner combiner(shape, in);
  return shape.variant == CombineVariant::kRagged ? combiner.ragged() : combiner.dense();
}

std::vector<ChunkPlan> plan_chunks(std::span<const int64_t> seq_lens,
                                   std::span<const int64_t> gather_lens, int64_t ratio, int64_t k,
                                   int64_t chunk_requests) {
  const int64_t requests = std::ssize(seq_lens);
  std::vector<ChunkPlan> chunks;
  for (int64_t first = 0; first < requests; first += chunk_requests) {
    ChunkPlan chunk{.first = first, .last = std::min(first + chunk_requests, requests)};
    int64_t gathered = 0;
    for (int64_t request = chunk.first; request < chunk.last; ++request) {
      const auto b = static_cast<size_t>(request);
      const int64_t compressed = ratio == 0 || k == 0 ? 0 : seq_lens[b] / ratio;
      chunk.compressed_rows = std::max(chunk.compressed_rows, compressed);
      gathered = std::max(gathered, gather_lens[b]);
    }
    chunk.workspace_rows = chunk.compressed_rows + gathered;
    chunks.push_back(chunk);
  }
  return chunks;
}

}  // namespace exactk::oracle
