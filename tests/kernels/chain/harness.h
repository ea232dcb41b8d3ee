// Runs one chain on the device of the test program and has every element of its outputs judged
// against the oracle's own top-k and mapping, and the bytes around all buffers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/abi/exactk_abi.h"
#include "kernels/device/device.h"
#include "oracle/expected.h"
#include "tests/kernels/index/harness.h"

namespace exactk::kernels::test {

// What a chain must leave in its outputs. A top-k without `stable` lists the indices of a row in
// any order: the elements [begin, end) of the first tensor then count as a set.
struct Segment {
  int64_t begin;
  int64_t end;
};
struct ChainAnswer {
  std::vector<oracle::ExpectedTensor> tensors;
  std::vector<Segment> segments;
};

// The inputs of one launch. Logits of a row are distinct wherever its cut can fall, so that the
// answer is one set.
class ChainProblem {
 public:
  virtual ~ChainProblem() = default;
  virtual ChainAnswer answer() const = 0;
  virtual void upload_inputs(Buffers& buffers) const = 0;
  // Valid until the next call.
  virtual const exactk_chain& descriptor(const Buffers& buffers, const Place& place) = 0;
  virtual int64_t index_elems() const = 0;  // of the indices between the stages

  int32_t slot_bytes = 4;  // of the first output; the others are int32
  exactk_topk_tuning tune{};

 protected:
  exactk_chain chain_{};
};

using Logits = std::function<uint32_t(int64_t row, int64_t column)>;
Logits distinct_logits(uint64_t seed);

struct DecodeProblem : ChainProblem {
  std::vector<int32_t> lengths;  // of the rows; row r is of request r % requests
  int64_t width = 2000;
  int64_t k = 64;
  int64_t requests = 3;
  int64_t block_size = 16;
  int32_t variant = EXACTK_TRANSLATE_POSITIONAL;  // or compact, ragged
  std::vector<uint8_t> valid;                     // [rows]; empty: all are
  Logits logits = distinct_logits(1);

  ChainAnswer answer() const override;
  void upload_inputs(Buffers& buffers) const override;
  const exactk_chain& descriptor(const Buffers& buffers, const Place& place) override;
  int64_t index_elems() const override { return rows() * k; }

 private:
  int64_t rows() const { return std::ssize(lengths); }
  int64_t blocks() const { return (width + block_size - 1) / block_size; }
  std::vector<uint8_t> validity() const;
  std::vector<int32_t> requests_of_rows() const;
  std::vector<int32_t> table() const;

  exactk_topk_decode decode_{};
  exactk_translate translate_{};
};

// Requests whose compressed keys lie one after the other in the logits.
struct PrefillProblem : ChainProblem {
  std::vector<int32_t> query_lens;
  std::vector<int32_t> seq_lens;
  int64_t k = 64;
  int64_t ratio = 4;
  int64_t window = 20;
  Logits logits = distinct_logits(1);

  ChainAnswer answer() const override;
  void upload_inputs(Buffers& buffers) const override;
  const exactk_chain& descriptor(const Buffers& buffers, const Place& place) override;
  int64_t index_elems() const override { return tokens() * k; }

 private:
  struct Rows {
    std::vector<int32_t> starts;
    std::vector<int32_t> ends;
    std::vector<int32_t> query_start_loc;
    std::vector<int32_t> gather_lens;
  };
  int64_t tokens() const;
  int64_t width() const;
  int64_t compressed_rows() const;
  int64_t workspace_rows() const;
  int64_t columns() const;
  Rows rows() const;

  exactk_topk_prefill prefill_{};
  exactk_combine combine_{};
};

class ChainBench {
 public:
  ChainBench(const exactk_kernel& kernel, ChainProblem& problem, const Options& options);

  // Each returns an empty string, or what went wrong.
  std::string prepare();  // uploads the inputs, poisons outputs, indices and workspace
  std::string launch(int64_t workspace_missing_bytes = 0);
  std::string capture();
  std::string replay();
  std::string judge();  // synchronises
  std::string run();    // prepare, launch, judge

  Device::GraphNodes captured() const { return device_->graph_nodes(); }
  int64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  std::string enqueue(void* stream, int64_t workspace_missing_bytes);
  std::string judge_tensor(oracle::ExpectedTensor want, const std::vector<Segment>& segments,
                           bool first);

  const exactk_kernel& kernel_;
  ChainProblem& problem_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffers> buffers_;  // released before the device
  int64_t workspace_bytes_ = 0;
  void* stream_ = nullptr;
  std::string broken_;  // why nothing can run
};

std::string run_chain(std::string_view name, ChainProblem& problem, const Options& options = {});

}  // namespace exactk::kernels::test
