#include "props/device_fill.h"

#include <fmt/format.h>

#include "fixtures/materialize.h"
#include "kernels/registry.h"

namespace exactk::props {

using kernels::GuardedBuffer;
using kernels::Result;

Result<std::unique_ptr<DeviceFill>> DeviceFill::make(kernels::Device& device,
                                                     const TopkProblem& problem) {
  std::unique_ptr<DeviceFill> made(new DeviceFill(device, problem));
  const std::string kind = device.info().kind;
  const kernels::TargetKernels* target = kernels::target_kernels(kind);
  if (target == nullptr) {
    return tl::unexpected(fmt::format("no kernels for devices of kind '{}' are built in", kind));
  }
  made->functions_ = target->fill;
  const auto place = [&](std::unique_ptr<GuardedBuffer>& slot, int64_t count) -> Result<void> {
    auto buffer = GuardedBuffer::make(device, count * 8);
    if (!buffer) return tl::unexpected(buffer.error());
    slot = std::make_unique<GuardedBuffer>(std::move(*buffer));
    return {};
  };
  for (auto* per_row : {&made->row_starts_, &made->row_lengths_, &made->row_sums_}) {
    if (auto r = place(*per_row, problem.rows); !r) return tl::unexpected(r.error());
  }
  if (auto r = place(made->word_sum_, 1); !r) return tl::unexpected(r.error());
  made->row_checksums_.resize(static_cast<size_t>(problem.rows));
  return made;
}

Result<void> DeviceFill::upload_overrides(GuardedBuffer& logits) {
  const fixtures::Case& c = problem_.c;
  for (int32_t i = 0; i < c.override_count; ++i) {
    const fixtures::Override& o = c.overrides[static_cast<size_t>(i)];
    const int64_t at = o.row * problem_.row_stride + o.column * c.column_stride;
    if (auto r = device_.upload(logits.data() + at * 4, &o.bits, 4); !r) return r;
  }
  return {};
}

Result<void> DeviceFill::fill(const StepInputs& fed, GuardedBuffer& logits, void* stream) {
  const auto& inputs = static_cast<const TopkInputs&>(fed.of_logits());
  std::vector<int64_t> starts, lengths;
  for (const fixtures::RowWindow& window : inputs.windows) {
    starts.push_back(window.start);
    lengths.push_back(window.length);
  }
  if (auto r = row_starts_->upload(std::as_bytes(std::span(starts))); !r) return r;
  if (auto r = row_lengths_->upload(std::as_bytes(std::span(lengths))); !r) return r;
  const kernels::LogitsLayout layout{problem_.rows, problem_.width, problem_.row_stride,
                                     problem_.c.column_stride};
  auto* words = reinterpret_cast<uint32_t*>(logits.data());
  const std::string refused = functions_.logits(
      fixtures::pattern_spec(problem_.c, inputs.step), layout,
      reinterpret_cast<const int64_t*>(row_lengths_->data()),
      problem_.prefill ? reinterpret_cast<const int64_t*>(row_starts_->data()) : nullptr, words,
      stream);
  if (!refused.empty()) return tl::unexpected(refused);
  if (auto r = device_.synchronize(stream); !r) return r;
  if (auto r = upload_overrides(logits); !r) return r;
  const std::string not_summed = functions_.row_checksums(
      layout, words, reinterpret_cast<uint64_t*>(row_sums_->data()), stream);
  if (!not_summed.empty()) return tl::unexpected(not_summed);
  if (auto r = device_.synchronize(stream); !r) return r;
  if (auto r = row_sums_->download(std::as_writable_bytes(std::span(row_checksums_))); !r) return r;
  auto sum = checksum_of(words, logits.bytes() / 4, stream);
  if (!sum) return tl::unexpected(sum.error());
  tensor_checksum_ = *sum;
  return {};
}

Result<bool> DeviceFill::unchanged(const GuardedBuffer& logits, void* stream) {
  auto sum = checksum_of(logits.data(), logits.bytes() / 4, stream);
  if (!sum) return tl::unexpected(sum.error());
  return *sum == tensor_checksum_;
}

Result<uint64_t> DeviceFill::checksum_of(const void* words, int64_t count, void* stream) {
  const std::string refused = functions_.words_checksum(
      words, count, reinterpret_cast<uint64_t*>(word_sum_->data()), stream);
  if (!refused.empty()) return tl::unexpected(refused);
  if (auto r = device_.synchronize(stream); !r) return tl::unexpected(r.error());
  uint64_t sum = 0;
  if (auto r = word_sum_->download(std::as_writable_bytes(std::span(&sum, 1))); !r) {
    return tl::unexpected(r.error());
  }
  return sum;
}

}  // namespace exactk::props
