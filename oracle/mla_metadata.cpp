#include "oracle/mla_metadata.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>

namespace exactk::oracle {
namespace {

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();

// Sets every element of a vector from value(position).
template <class Value>
ExpectedTensor whole_vector(std::string name, int64_t elements, Value value) {
  ExpectedTensor tensor = untouched_vector(std::move(name), elements);
  for (int64_t i = 0; i < elements; ++i) tensor.set(i, value(i));
  return tensor;
}

// paged_kv_indices with all of [0, T * k) open and 0 behind.
ExpectedTensor open_indices(const MlaLimits& limits, const std::vector<int32_t>& indptr,
                            int64_t tokens) {
  ExpectedTensor tensor = untouched_vector("paged_kv_indices", limits.tokens_max * limits.k);
  std::fill(tensor.wants.begin(), tensor.wants.end(), Want::kAny);
  for (int64_t i = tokens * limits.k; i < std::ssize(tensor.wants); ++i) tensor.set(i, 0);
  tensor.row_begins.assign(indptr.begin(), indptr.end());
  return tensor;
}

void set_slots(ExpectedTensor& tensor, const MlaLimits& limits, const MlaSlots& slots,
               const std::vector<int32_t>& requests, const std::vector<int32_t>& indptr) {
  for (int64_t t = 0; t < std::ssize(requests); ++t) {
    const auto row = static_cast<size_t>(t);
    for (int64_t j = 0; j < indptr[row + 1] - indptr[row]; ++j) {
      const int64_t entry = slots.topk_indices[static_cast<size_t>(t * limits.k + j)];
      tensor.set(indptr[row] + j, slot_of(slots.table, requests[row], entry).value_or(0));
    }
  }
}

std::string why_of(const ExpectedTensor& want, const TensorJudgement& judged) {
  const BadElement& first = judged.bad.front();
  std::string sentence = want.name + "[" + std::to_string(first.position) + "] is " +
                         std::to_string(first.got) + ", want " + std::to_string(first.want);
  if (first.kind == FaultKind::kNeverWritten) sentence += ": it is still that of the step before";
  return sentence + " (" + std::to_string(judged.bad_elements) + " of " +
         std::to_string(want.values.size()) + " elements are wrong)";
}

}  // namespace

std::string problem_of(const MlaLimits& limits, const MlaBatch& batch) {
  if (limits.tokens_max < 1 || limits.k < 1 || limits.tokens_max > kInt32Max / limits.k)
    return "token and slot limits must be at least 1 and their product at most 2147483647; got " +
           std::to_string(limits.tokens_max) + " tokens of " + std::to_string(limits.k) + " slots";
  if (batch.query_lens.size() != batch.seq_lens.size())
    return "a batch needs one query length per sequence length; got " +
           std::to_string(batch.query_lens.size()) + " and " +
           std::to_string(batch.seq_lens.size());
  for (const auto lens : {batch.query_lens, batch.seq_lens}) {
    for (const int32_t length : lens) {
      if (length < 0)
        return "a length of a batch is " + std::to_string(length) + "; use at least 0";
    }
  }
  if (mla_tokens(batch) > limits.tokens_max)
    return "a batch of " + std::to_string(mla_tokens(batch)) + " tokens exceeds the limit of " +
           std::to_string(limits.tokens_max);
  return "";
}

int64_t mla_tokens(const MlaBatch& batch) {
  return std::accumulate(batch.query_lens.begin(), batch.query_lens.end(), int64_t{0});
}

std::vector<int32_t> mla_requests(const MlaBatch& batch) {
  std::vector<int32_t> requests;
  for (size_t r = 0; r < batch.query_lens.size(); ++r)
    requests.insert(requests.end(), static_cast<size_t>(batch.query_lens[r]),
                    static_cast<int32_t>(r));
  return requests;
}

std::vector<int32_t> mla_lengths(const MlaBatch& batch, int64_t k) {
  std::vector<int32_t> lengths;
  for (size_t r = 0; r < batch.query_lens.size(); ++r) {
    const int64_t seq = batch.seq_lens[r];
    const int64_t query = batch.query_lens[r];
    for (int64_t off = 0; off < query; ++off) {
      const int64_t visible = seq == 0 ? 0 : std::max<int64_t>(seq - query + off + 1, 0);
      lengths.push_back(static_cast<int32_t>(std::min(visible, k)));
    }
  }
  return lengths;
}

std::vector<int32_t> mla_kv_indptr(const MlaBatch& batch, int64_t k) {
  std::vector<int32_t> indptr{0};
  for (const int32_t length : mla_lengths(batch, k)) indptr.push_back(indptr.back() + length);
  return indptr;
}

std::vector<ExpectedTensor> expected_mla_metadata(const MlaLimits& limits, const MlaBatch& batch,
                                                  const MlaSlots* slots) {
  const std::vector<int32_t> requests = mla_requests(batch);
  const std::vector<int32_t> indptr = mla_kv_indptr(batch, limits.k);
  const int64_t tokens = std::ssize(requests);
  const int64_t most = limits.tokens_max;
  ExpectedTensor indices = open_indices(limits, indptr, tokens);
  if (slots != nullptr) set_slots(indices, limits, *slots, requests, indptr);
  std::vector<ExpectedTensor> want;
  want.push_back(whole_vector("req_id_per_token", most, [&](int64_t t) {
    return t < tokens ? requests[static_cast<size_t>(t)] : 0;
  }));
  want.push_back(whole_vector("qo_indptr", most + 1, [](int64_t t) { return t; }));
  want.push_back(whole_vector("paged_kv_last_page_len", most, [](int64_t) { return 1; }));
  want.push_back(std::move(indices));
  want.push_back(whole_vector("paged_kv_indptr", most + 1, [&](int64_t t) {
    return indptr[static_cast<size_t>(std::min(t, tokens))];
  }));
  return want;
}

std::vector<MlaFinding> judge_mla_metadata(std::span<const ExpectedTensor> want,
                                           const MlaBuffers& got, const MlaBuffers& before) {
  const auto in_order = [](const MlaBuffers& b) {
    return std::array{b.req_id_per_token, b.qo_indptr, b.last_page_len, b.kv_indices, b.kv_indptr};
  };
  const auto got_buffers = in_order(got);
  const auto before_buffers = in_order(before);
  std::vector<MlaFinding> findings;
  for (size_t i = 0; i < want.size(); ++i) {
    const auto elements = want[i].values.size();
    if (got_buffers[i].size() != elements || before_buffers[i].size() != elements) {
      MlaFinding finding{want[i].name, {}, ""};
      finding.judgement.faults.add(FaultKind::kWrongValue);
      finding.why = want[i].name + " has " + std::to_string(got_buffers[i].size()) +
                    " elements, want " + std::to_string(elements);
      findings.push_back(std::move(finding));
      continue;
    }
    const std::vector<int64_t> now(got_buffers[i].begin(), got_buffers[i].end());
    const std::vector<int64_t> then(before_buffers[i].begin(), before_buffers[i].end());
    TensorJudgement judged = judge_exact(want[i], now, then);
    if (judged.ok()) continue;
    std::string why = why_of(want[i], judged);
    findings.push_back({want[i].name, std::move(judged), std::move(why)});
  }
  return findings;
}

}  // namespace exactk::oracle
