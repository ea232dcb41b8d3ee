// Runs one top-k kernel on the device of the test program and has every row judged by the oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/abi/exactk_abi.h"
#include "kernels/device/buffer.h"
#include "kernels/device/device.h"

namespace exactk::kernels::test {

// A shipped kernel or a mutant by its name; aborts the test program on an unknown name.
const exactk_kernel& kernel(std::string_view name);

exactk_topk_tuning tuning();  // all published, struct_size set

struct Problem {
  int64_t rows = 1;
  int64_t next_n = 1;
  int64_t width = 1024;
  int64_t k = 64;
  int seq_lens_dim = 2;
  std::vector<int32_t> seq_lens;    // empty: every row as long as the width
  std::vector<int32_t> row_starts;  // topk.prefill: [rows]; empty: 0
  std::vector<int32_t> row_ends;    // topk.prefill: [rows]; empty: the width
  std::function<uint32_t(int64_t row, int64_t column)> bits;  // visible logits
  int64_t row_stride = -1;                                    // elements; -1: width * column_stride
  int64_t column_stride = 1;
  int64_t out_stride = 0;  // elements; 0: k
  int64_t misalign = 0;    // elements
  std::string arch = "gfx950";
  int64_t compress_ratio = 1;
  bool full_graph = false;
  int64_t max_seq_len_hint = -1;  // -1: the longest row
  exactk_topk_tuning tune = tuning();
};

// Of the host device; a GPU runs as it is.
struct Options {
  int wave_width = 64;
  uint64_t schedule_seed = 0;
};

// Holds the buffers of one problem, so that a captured launch can be replayed with other lengths
// and logits.
class Bench {
 public:
  Bench(const exactk_kernel& kernel, Problem problem, const Options& options);

  // Each returns an empty string, or what went wrong.
  std::string prepare();  // uploads lengths and logits, poisons output, workspace and active blocks
  std::string launch();
  std::string capture();
  std::string replay();
  std::string
  judge();  // synchronises; guards, gaps between output rows, and every row against the oracle
  std::string run();  // prepare, launch, judge

  Problem problem;
  exactk_topk_report report{};

  int64_t length(int64_t row) const;              // clamped at 0 and the width
  std::vector<int32_t> slots(int64_t row) const;  // after judge()
  std::vector<int32_t> active_blocks() const;     // after judge()

 private:
  bool prefill() const;
  int64_t start(int64_t row) const;
  std::vector<int32_t> bounds(int which) const;
  std::vector<uint32_t> logits() const;
  std::string make_buffers();
  int64_t workspace_bytes() const;
  std::string enqueue(void* stream);
  template <class Descriptor>
  std::string enqueue(Descriptor d, void* stream);
  std::string check_guards() const;
  std::string check_gaps() const;
  std::string judge_row(int64_t row) const;

  const exactk_kernel& kernel_;
  std::unique_ptr<Device> device_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<int32_t> output_;
  std::vector<int32_t> active_;
  void* stream_ = nullptr;
  std::string broken_;  // why nothing can run
};

// Prepares, launches and judges.
std::string run(std::string_view kernel_name, const Problem& problem, const Options& options = {});

}  // namespace exactk::kernels::test
