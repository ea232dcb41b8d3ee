#include "tests/kernels/router/problem.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "fixtures/counter_hash.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

// In [-half, half) in `steps` steps.
float drawn(uint64_t seed, uint64_t place, float half, uint64_t steps) {
  const auto step = fixtures::hash_below(fixtures::hash_pair(seed, place), steps);
  return half * (2 * static_cast<float>(step) / static_cast<float>(steps) - 1);
}

std::string text(const Result<void>& result) {
  return result ? "" : result.error();
}

int64_t matrix_elems(int64_t rows, int64_t stride, int64_t columns) {
  return (rows - 1) * stride + columns;
}

void upload_numbers(Buffers& buffers, const std::string& name, const std::vector<float>& values,
                    bool bf16) {
  if (!bf16) {
    buffers.upload(name, values);
    return;
  }
  std::vector<uint16_t> upper;
  for (const float value : values) {
    upper.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  }
  buffers.upload(name, upper);
}

// With gaps that would win if they were read.
std::vector<float> with_gaps(const RouterProblem& p) {
  const int64_t stride = p.n.experts + p.n.logit_pad;
  std::vector<float> all(static_cast<size_t>(matrix_elems(p.n.tokens, stride, p.n.experts)), 100);
  for (int64_t token = 0; token < p.n.tokens; ++token) {
    std::copy_n(p.logits.begin() + token * p.n.experts, p.n.experts, all.begin() + token * stride);
  }
  return all;
}

// Launches on buffers that keep their places.
class RouterBench {
 public:
  RouterBench(const exactk_kernel& kernel, const Options& options)
      : kernel_(kernel), options_(options) {
    auto device = open_device(kDeviceKind);
    if (!device) {
      error_ = device.error();
      return;
    }
    device_ = std::move(*device);
    if (kOnHost) {
      error_ = text(device_->configure({.wave_width = options.wave_width,
                                        .schedule_seed = options.schedule_seed,
                                        .workers = 2}));
    }
    buffers_ = std::make_unique<Buffers>(*device_);
    stream_ = device_->stream(1);
  }

  void prepare(const RouterProblem& p) {
    if (!error_.empty()) {
      return;
    }
    upload_numbers(*buffers_, "logits", with_gaps(p), p.n.bf16);
    if (p.n.biased) {
      upload_numbers(*buffers_, "bias", p.bias, p.n.bf16);
    }
    const int64_t elems = matrix_elems(p.n.tokens, p.n.k + p.n.out_pad, p.n.k);
    const std::vector<uint8_t> poison(static_cast<size_t>(elems) * 4, options_.output_byte);
    buffers_->upload("ids", poison);
    buffers_->upload("weights", poison);
    keep(buffers_->error());
  }

  void launch(const RouterProblem& p) {
    if (!error_.empty()) {
      return;
    }
    const exactk_router d = describe(p, *buffers_, stream_);
    char message[256] = "";
    if (kernel_.launch(&d, message, sizeof(message)) != EXACTK_OK) {
      keep(message);
    }
  }

  void capture(const RouterProblem& p) {
    if (error_.empty()) {
      keep(text(device_->begin_capture(stream_)));
      launch(p);
      keep(text(device_->end_capture(stream_)));
    }
  }

  void replay() {
    if (error_.empty()) {
      keep(text(device_->replay(stream_)));
    }
  }

  std::string judge(const RouterProblem& p) {
    if (error_.empty()) {
      keep(text(device_->synchronize(stream_)));
      keep(buffers_->check_guards());
      const auto ids = buffers_->download<int32_t>("ids");
      const auto weights = buffers_->download<float>("weights");
      for (int64_t token = 0; token < p.n.tokens; ++token) {
        keep(judge_row(p, token, ids, weights));
      }
    }
    return error_;
  }

 private:
  void keep(const std::string& error) {
    if (error_.empty()) {
      error_ = error;
    }
  }

  std::string judge_row(const RouterProblem& p, int64_t token, const std::vector<int32_t>& ids,
                        const std::vector<float>& weights) const {
    const auto k = static_cast<size_t>(p.n.k);
    const auto experts = static_cast<size_t>(p.n.experts);
    const auto row = static_cast<size_t>(token);
    const size_t begin = row * (k + static_cast<size_t>(p.n.out_pad));
    const oracle::RouterJudgement judgement = oracle::judge_router(
        p.spec(), {},
        {.logits = std::span(p.logits).subspan(row * experts, experts), .bias = p.bias},
        std::span(ids).subspan(begin, k), std::span(weights).subspan(begin, k));
    if (!judgement.ok()) {
      const oracle::BadChoice& bad = judgement.bad.front();
      return fmt::format("token {}: {}, expert {}", token, oracle::name(bad.kind), bad.expert);
    }
    int32_t poison = 0;
    std::memset(&poison, options_.output_byte, sizeof(poison));
    const size_t end = std::min(begin + k + static_cast<size_t>(p.n.out_pad), ids.size());
    for (size_t gap = begin + k; gap < end; ++gap) {
      if (ids[gap] != poison || std::bit_cast<int32_t>(weights[gap]) != poison) {
        return fmt::format("token {}: the gap behind it was written", token);
      }
    }
    return "";
  }

  const exactk_kernel& kernel_;
  Options options_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffers> buffers_;  // released before the device
  void* stream_ = nullptr;
  std::string error_;  // the first one
};

}  // namespace

oracle::RouterSpec RouterProblem::spec() const {
  return {.groups = n.groups,
          .topk_groups = n.topk_groups,
          .topk = n.k,
          .scoring = n.scoring,
          .renormalize = n.renormalize,
          .scaling = n.scaling};
}

RouterProblem router_problem(const RouterNumbers& n) {
  RouterProblem p{n, {}, {}};
  const uint64_t steps = n.bf16 ? 64 : uint64_t{1} << 23;
  for (int64_t i = 0; i < n.tokens * n.experts; ++i) {
    p.logits.push_back(drawn(n.seed, static_cast<uint64_t>(i), 4, steps));
  }
  for (int64_t i = 0; n.biased && i < n.experts; ++i) {
    p.bias.push_back(drawn(n.seed + 1000, static_cast<uint64_t>(i), 0.5, steps));
  }
  return p;
}

exactk_router describe(const RouterProblem& p, const Buffers& buffers, void* stream) {
  exactk_router d{};
  d.struct_size = sizeof(d);
  d.scoring = static_cast<int32_t>(p.n.scoring);
  d.logit_bytes = p.n.bf16 ? 2 : 4;
  d.has_bias = p.n.biased ? 1 : 0;
  d.renormalize = p.n.renormalize ? 1 : 0;
  d.scaling = static_cast<float>(p.n.scaling);
  d.logits = buffers.at<void>("logits");
  d.bias = buffers.at<void>("bias");
  d.ids = buffers.at<int32_t>("ids");
  d.weights = buffers.at<float>("weights");
  d.tokens = p.n.tokens;
  d.experts = p.n.experts;
  d.groups = p.n.groups;
  d.topk_groups = p.n.topk_groups;
  d.k = p.n.k;
  d.logit_stride_elems = p.n.experts + p.n.logit_pad;
  d.out_stride_elems = p.n.k + p.n.out_pad;
  d.stream = stream;
  return d;
}

std::string run(std::string_view kernel_name, const RouterProblem& problem,
                const Options& options) {
  RouterBench bench(kernel(kernel_name), options);
  bench.prepare(problem);
  bench.launch(problem);
  return bench.judge(problem);
}

std::string replay(std::string_view kernel_name, const std::vector<RouterProblem>& problems,
                   const Options& options) {
  RouterBench bench(kernel(kernel_name), options);
  bench.prepare(problems.front());
  bench.capture(problems.front());
  for (const RouterProblem& problem : problems) {
    bench.prepare(problem);
    bench.replay();
    if (const std::string wrong = bench.judge(problem); !wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

}  // namespace exactk::kernels::test
