#include "kernels/metadata/builder.h"

#include <algorithm>
#include <numeric>

namespace exactk::kernels::metadata {
namespace {

constexpr const char* kNames[] = {"req_id_per_token",  "qo_indptr",       "paged_kv_last_page_len",
                                  "paged_kv_indices",  "paged_kv_indptr", "work_indptr",
                                  "work_info",         "reduce_indptr",   "reduce_final_map",
                                  "reduce_partial_map"};

int64_t bytes_of(int64_t elements) {
  return elements * static_cast<int64_t>(sizeof(int32_t));
}

}  // namespace

int64_t MlaBuilder::elements(Buffer buffer) const {
  const MlaShape& s = setup_.shape;
  const PlanSizes plan = plan_sizes(s.tokens_max, s.workers);
  const int64_t sizes[kBuffers] = {
      s.tokens_max,          s.tokens_max + 1,       s.tokens_max,   s.tokens_max * s.k,
      s.tokens_max + 1,      plan.work_indptr,       plan.work_info, plan.reduce_indptr,
      plan.reduce_final_map, plan.reduce_partial_map};
  return sizes[buffer];
}

int32_t* MlaBuilder::data(Buffer buffer) const {
  return reinterpret_cast<int32_t*>(buffers_[buffer].data());
}

PlanArrays MlaBuilder::plan_arrays() const {
  return {data(kWorkIndptr), data(kWorkInfo), data(kReduceIndptr), data(kReduceFinalMap),
          data(kReducePartialMap)};
}

Result<void> MlaBuilder::allocate() {
  for (int i = 0; i < kBuffers; ++i) {
    const auto buffer = static_cast<Buffer>(i);
    auto made = GuardedBuffer::make(*setup_.device, bytes_of(elements(buffer)));
    if (!made) return tl::unexpected(made.error());
    buffers_.push_back(std::move(*made));
    if (Result<void> done = clear(buffer, 0, elements(buffer)); !done) return done;
    if (i >= kWorkIndptr) host_plan_.emplace_back(static_cast<size_t>(elements(buffer)), 0);
  }
  Ints queries(static_cast<size_t>(elements(kQoIndptr)));
  std::iota(queries.begin(), queries.end(), 0);
  if (Result<void> done = write(kQoIndptr, 0, queries); !done) return done;
  return write(kLastPage, 0, Ints(static_cast<size_t>(elements(kLastPage)), 1));
}

Result<void> MlaBuilder::write(Buffer buffer, int64_t first, std::span<const int32_t> values) {
  if (values.empty()) return {};
  return setup_.device->upload(data(buffer) + first, values.data(),
                               bytes_of(static_cast<int64_t>(values.size())));
}

Result<void> MlaBuilder::clear(Buffer buffer, int64_t begin, int64_t end) {
  if (begin >= end) return {};
  return write(buffer, begin, Ints(static_cast<size_t>(end - begin), 0));
}

Result<std::string> MlaBuilder::damage() const {
  for (int i = 0; i < kBuffers; ++i) {
    const auto found = buffers_[static_cast<size_t>(i)].check_guards();
    if (!found) return tl::unexpected(found.error());
    if (found->bytes > 0)
      return std::to_string(found->bytes) + " bytes beside " + kNames[i] +
             " were written, the first at offset " + std::to_string(found->first_offset);
  }
  return std::string();
}

std::string MlaBuilder::problem_of(const MlaStep& step) const {
  int64_t tokens = 0;
  for (const int32_t query_len : step.query_lens) {
    if (query_len < 0)
      return "a request has " + std::to_string(query_len) + " query tokens; use at least 0";
    tokens += query_len;
  }
  if (tokens > shape().tokens_max)
    return "a step of " + std::to_string(tokens) + " tokens exceeds the builder's " +
           std::to_string(shape().tokens_max);
  if (step.heads < 1) return "a step has " + std::to_string(step.heads) + " heads; use at least 1";
  return "";
}

// A bound fixes what the tokens of a request see if even the least possible length reaches k for
// its first token, or if there is no other length.
bool MlaBuilder::lengths_known(const MlaStep& step) const {
  const auto& host = step.host_lengths;
  if (!host || host->step != step.number || host->seq_lens.size() != step.query_lens.size())
    return false;
  for (size_t r = 0; r < step.query_lens.size(); ++r) {
    const int64_t least = host->seq_lens[r] - host->slack;
    const bool one_length = host->slack == 0 || host->seq_lens[r] <= 0;
    const bool all_see_k = least - step.query_lens[r] + 1 >= shape().k;
    if (step.query_lens[r] > 0 && !one_length && !all_see_k) return false;
  }
  return true;
}

int64_t MlaBuilder::length(const TokenPlace& token) const {
  const int64_t visible = token.seq_len - token.query_len + token.offset + 1;
  return std::clamp<int64_t>(visible, 0, shape().k);
}

std::optional<MlaBuilder::Key> MlaBuilder::key_of(const Facts& facts) const {
  if (!facts.lengths_known) return std::nullopt;
  Key key{static_cast<int64_t>(facts.lengths.size()), facts.step.heads};
  key.insert(key.end(), facts.lengths.begin(), facts.lengths.end());
  return key;
}

// Tokens of the same lengths may be of other requests.
bool MlaBuilder::writes_requests(bool) const {
  return true;
}

int64_t MlaBuilder::requests_end(int64_t, int64_t before) const {
  return before;
}

int64_t MlaBuilder::indices_end(int64_t, int64_t before) const {
  return before;
}

MlaBuilder::Ints MlaBuilder::running_sum(std::span<const int32_t> lengths) {
  Ints sums{0};
  for (const int32_t length : lengths) sums.push_back(sums.back() + length);
  return sums;
}

MlaBuilder::Ints MlaBuilder::indptr_of(std::span<const int32_t> lengths) const {
  Ints indptr = running_sum(lengths);
  indptr.resize(static_cast<size_t>(elements(kIndptr)), indptr.back());
  return indptr;
}

Result<MlaBuilder::Ints> MlaBuilder::read_seq_lens(const MlaStep& step) const {
  Ints lens(step.query_lens.size());
  if (lens.empty()) return lens;
  const auto done = setup_.device->download(lens.data(), step.seq_lens,
                                            bytes_of(static_cast<int64_t>(lens.size())));
  if (!done) return tl::unexpected(done.error());
  return lens;
}

Result<void> MlaBuilder::write_buffers(std::span<const int32_t> requests,
                                       std::span<const int32_t> lengths, bool plan_reused) {
  const auto tokens = static_cast<int64_t>(requests.size());
  const int64_t before = tokens_before_;
  tokens_before_ = std::max(tokens, before);  // as far as something may be left after an error
  if (writes_requests(plan_reused)) {
    if (auto done = write(kRequests, 0, requests); !done) return done;
  }
  if (auto done = clear(kRequests, tokens, requests_end(tokens, before)); !done) return done;
  const int64_t k = shape().k;
  if (auto done = clear(kIndices, tokens * k, indices_end(tokens, before) * k); !done) return done;
  if (auto done = write(kIndptr, 0, indptr_of(lengths)); !done) return done;
  tokens_before_ = tokens;
  return {};
}

Result<void> MlaBuilder::plan(int64_t heads, std::span<const int32_t> lengths) {
  const auto rows = static_cast<int64_t>(lengths.size());
  const PlanShape plan_shape{rows, shape().tokens_max, shape().workers, heads};
  if (setup_.plan == nullptr) return plan_on_host(plan_shape, running_sum(lengths));
  const std::string problem = setup_.plan(plan_shape, data(kIndptr), plan_arrays(), setup_.stream);
  if (!problem.empty()) return tl::unexpected(problem);
  return {};
}

Result<void> MlaBuilder::plan_on_host(const PlanShape& plan_shape,
                                      std::span<const int32_t> kv_indptr) {
  const PlanArrays arrays{host_plan_[0].data(), host_plan_[1].data(), host_plan_[2].data(),
                          host_plan_[3].data(), host_plan_[4].data()};
  const std::string problem = plan_serially(plan_shape, kv_indptr, arrays);
  if (!problem.empty()) return tl::unexpected(problem);
  for (int i = kWorkIndptr; i < kBuffers; ++i) {
    const Ints& values = host_plan_[static_cast<size_t>(i - kWorkIndptr)];
    if (auto done = write(static_cast<Buffer>(i), 0, values); !done) return done;
  }
  return {};
}

Result<MlaMetadata> MlaBuilder::build(const MlaStep& step) {
  if (std::string problem = problem_of(step); !problem.empty()) return tl::unexpected(problem);
  const bool known = lengths_known(step);
  Result<Ints> seq_lens = Ints();
  if (known) {
    seq_lens->assign(step.host_lengths->seq_lens.begin(), step.host_lengths->seq_lens.end());
  } else {
    seq_lens = read_seq_lens(step);
    if (!seq_lens) return tl::unexpected(seq_lens.error());
  }
  Ints requests;
  Ints lengths;
  for (size_t r = 0; r < step.query_lens.size(); ++r) {
    for (int64_t offset = 0; offset < step.query_lens[r]; ++offset) {
      requests.push_back(static_cast<int32_t>(r));
      lengths.push_back(static_cast<int32_t>(length({(*seq_lens)[r], step.query_lens[r], offset})));
    }
  }
  std::optional<Key> key = key_of({step, *seq_lens, lengths, known});
  const bool reused = key && key == planned_;
  auto done = write_buffers(requests, lengths, reused);
  if (done && !reused) done = plan(step.heads, lengths);
  if (!done) {
    planned_ = std::nullopt;  // it may be half a plan
    return tl::unexpected(done.error());
  }
  remember(std::move(key));
  return MlaMetadata{data(kRequests),
                     data(kQoIndptr),
                     data(kLastPage),
                     data(kIndices),
                     data(kIndptr),
                     plan_arrays(),
                     static_cast<int64_t>(requests.size()),
                     reused};
}

}  // namespace exactk::kernels::metadata
