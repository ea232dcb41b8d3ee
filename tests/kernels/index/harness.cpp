#include "tests/kernels/index/harness.h"

#include <cstdlib>

#include <fmt/format.h>

#include "kernels/registry.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

std::string text(const Result<void>& result) {
  return result ? "" : result.error();
}

template <class T>
T poison(uint8_t byte) {
  T value;
  std::fill_n(reinterpret_cast<uint8_t*>(&value), sizeof(T), byte);
  return value;
}

}  // namespace

const exactk_kernel& kernel(std::string_view name) {
  const TargetKernels& built = *target_kernels(kDeviceKind);
  for (const exactk_kernel* candidate : built.shipped) {
    if (candidate->name == name) {
      return *candidate;
    }
  }
  for (const Mutant& mutant : built.mutants) {
    if (mutant.kernel->name == name) {
      return *mutant.kernel;
    }
  }
  std::abort();
}

void Buffers::keep(const Result<void>& result) {
  if (error_.empty()) {
    error_ = text(result);
  }
}

void Buffers::upload_bytes(const std::string& name, std::span<const std::byte> bytes,
                           int64_t misalign_bytes) {
  auto found = buffers_.find(name);
  if (found == buffers_.end()) {
    auto made = GuardedBuffer::make(device_, std::ssize(bytes), misalign_bytes);
    if (!made) {
      keep(tl::unexpected(made.error()));
      return;
    }
    found = buffers_.emplace(name, std::move(*made)).first;
  }
  if (found->second.bytes() != std::ssize(bytes)) {
    keep(tl::unexpected(name + " changed its size"));
    return;
  }
  keep(found->second.upload(bytes));
}

std::string Buffers::check_guards() const {
  for (const auto& [name, buffer] : buffers_) {
    const auto damage = buffer.check_guards();
    if (!damage) {
      return damage.error();
    }
    if (damage->bytes != 0) {
      return fmt::format("a guard of {} changed at offset {}", name, damage->first_offset);
    }
  }
  return "";
}

std::vector<Output> Problem::outputs() const {
  std::vector<Output> all;
  for (const oracle::ExpectedTensor& want : expected()) {
    const int64_t element_bytes = all.empty() ? slot_bytes : 4;
    all.push_back({want.name, std::ssize(want.values) * element_bytes,
                   all.empty() ? misalign * slot_bytes : 0});
  }
  return all;
}

std::vector<int64_t> Problem::widened(const oracle::ExpectedTensor& want, bool first,
                                      Buffers& buffers) const {
  if (first && slot_bytes == 8) {
    return buffers.download<int64_t>(want.name);
  }
  const std::vector<int32_t> narrow = buffers.download<int32_t>(want.name);
  return {narrow.begin(), narrow.end()};
}

std::string Problem::judge_tensor(const oracle::ExpectedTensor& want, bool first, Buffers& buffers,
                                  uint8_t before) const {
  const std::vector<int64_t> got = widened(want, first, buffers);
  const int64_t held = first && slot_bytes == 8 ? poison<int64_t>(before) : poison<int32_t>(before);
  const oracle::TensorJudgement judgement =
      oracle::judge_exact(want, got, std::vector<int64_t>(got.size(), held));
  if (judgement.ok()) {
    return "";
  }
  const oracle::BadElement& bad = judgement.bad.front();
  return fmt::format("{} row {} slot {}: {}, want {}, got {}; {} bad elements", want.name, bad.row,
                     bad.slot, oracle::name(bad.kind), bad.want, bad.got, judgement.bad_elements);
}

std::string Problem::judge(Buffers& buffers, uint8_t before) const {
  std::string error;
  bool first = true;
  for (const oracle::ExpectedTensor& want : expected()) {
    error = error.empty() ? judge_tensor(want, first, buffers, before) : error;
    first = false;
  }
  return error;
}

Bench::Bench(const exactk_kernel& kernel, Problem& problem, const Options& options)
    : kernel_(kernel), problem_(problem), options_(options) {
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
  workspace_bytes_ = kernel_.workspace_bytes(problem_.descriptor(*buffers_, {}));
  stream_ = device_->stream(0);
}

std::string Bench::prepare() {
  if (!broken_.empty()) {
    return broken_;
  }
  problem_.upload_inputs(*buffers_);
  for (const Output& output : problem_.outputs()) {
    buffers_->upload(output.name,
                     std::vector<uint8_t>(static_cast<size_t>(output.bytes), options_.output_byte),
                     output.misalign_bytes);
  }
  if (workspace_bytes_ > 0) {
    buffers_->upload("workspace", std::vector<uint8_t>(static_cast<size_t>(workspace_bytes_),
                                                       options_.workspace_byte));
  }
  return buffers_->error();
}

std::string Bench::enqueue(void* stream) {
  const Place place{buffers_->at<void>("workspace"), workspace_bytes_, stream};
  char message[256] = "";
  const exactk_status status =
      kernel_.launch(problem_.descriptor(*buffers_, place), message, sizeof(message));
  return status == EXACTK_OK ? "" : message;
}

std::string Bench::launch() {
  return enqueue(stream_);
}

std::string Bench::capture() {
  stream_ = device_->stream(1);
  std::string error = text(device_->begin_capture(stream_));
  error = error.empty() ? enqueue(stream_) : error;
  return error.empty() ? text(device_->end_capture(stream_)) : error;
}

std::string Bench::replay() {
  return text(device_->replay(stream_));
}

std::string Bench::judge() {
  if (!broken_.empty()) {
    return broken_;
  }
  std::string error = text(device_->synchronize(stream_));
  error = error.empty() ? buffers_->check_guards() : error;
  error = error.empty() ? problem_.judge(*buffers_, options_.output_byte) : error;
  return error.empty() ? buffers_->error() : error;
}

std::string Bench::run() {
  std::string error = prepare();
  error = error.empty() ? launch() : error;
  return error.empty() ? judge() : error;
}

std::string run(std::string_view kernel_name, Problem& problem, const Options& options) {
  return Bench(kernel(kernel_name), problem, options).run();
}

}  // namespace exactk::kernels::test
