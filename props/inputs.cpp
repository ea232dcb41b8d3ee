#include "props/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <thread>

#include "fixtures/checksum.h"
#include "fixtures/lengths.h"
#include "fixtures/materialize.h"
#include "oracle/row_length.h"
#include "props/internal_error.h"

namespace exactk::props {
namespace {

constexpr int64_t kKeptElemsMax = int64_t{1} << 30;  // 4 GiB

std::vector<uint64_t> row_checksums(const fixtures::Case& c, std::span<const uint32_t> logits) {
  std::vector<uint64_t> sums(static_cast<size_t>(c.rows));
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const int64_t parts = std::clamp<int64_t>(std::ssize(logits) >> 19, 1, std::min(cores, c.rows));
  const auto sum = [&](int64_t part) {
    for (int64_t row = c.rows * part / parts; row < c.rows * (part + 1) / parts; ++row) {
      sums[static_cast<size_t>(row)] = fixtures::checksum(
          logits.data() + row * fixtures::row_stride_elems(c), c.width, c.column_stride);
    }
  };
  std::vector<std::thread> others;
  for (int64_t part = 1; part < parts; ++part) others.emplace_back(sum, part);
  sum(0);
  for (std::thread& other : others) other.join();
  return sums;
}

}  // namespace

StepInputs make_inputs(const fixtures::Case& c, int64_t step, LogitsFrom from) {
  StepInputs inputs;
  inputs.step = step;
  inputs.seq_lens = fixtures::seq_lens(c, step);
  inputs.row_lengths = oracle::row_lengths({c.rows, c.next_n, c.lens_dim}, inputs.seq_lens);
  if (inputs.row_lengths != fixtures::row_lengths(c, step)) {
    throw InternalError(
        fmt::format("generator and oracle disagree about the row lengths of launch {} of: {}", step,
                    fixtures::print_case(c)));
  }
  const int64_t elements = fixtures::logits_elems(c);
  if (from == LogitsFrom::kDevice && elements > kKeptElemsMax) return inputs;
  inputs.logits.resize(static_cast<size_t>(elements));
  fixtures::logits_tensor(c, step, inputs.row_lengths, inputs.logits);
  if (from == LogitsFrom::kDevice) inputs.row_checksums = row_checksums(c, inputs.logits);
  return inputs;
}

std::shared_ptr<const StepInputs> InputCache::get(const fixtures::Case& c, int64_t step,
                                                  LogitsFrom from) {
  // How the case is launched does not change its data.
  fixtures::Case data = c;
  const fixtures::Case defaults;
  data.launch = defaults.launch;
  data.poison = defaults.poison;
  data.workspace = defaults.workspace;
  data.out_stride = defaults.out_stride;
  data.repeats = defaults.repeats;
  data.schedule = defaults.schedule;
  const std::string key =
      fmt::format("{} {} {}", step, static_cast<int>(from), fixtures::print_case(data));
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->key != key) continue;
    entries_.splice(entries_.begin(), entries_, it);
    return entries_.front().inputs;
  }
  auto made = std::make_shared<const StepInputs>(make_inputs(c, step, from));
  const int64_t bytes = static_cast<int64_t>(made->logits.size() * sizeof(uint32_t));
  if (bytes > bytes_max_) return made;
  bytes_ += bytes;
  entries_.push_front({key, made, bytes});
  while (bytes_ > bytes_max_) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return made;
}

}  // namespace exactk::props
