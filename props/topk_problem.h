// Top-k selection as it is judged, alone or as the first stage of a chain: the layout of a case,
// and what one launch is fed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fixtures/case.h"
#include "fixtures/materialize.h"
#include "oracle/dispatch_policy.h"
#include "props/operation.h"

namespace exactk::props {

// Strides in elements.
struct TopkProblem {
  fixtures::Case c;
  bool prefill = false;   // rows have bounds of their own; else lengths of requests
  bool absolute = false;  // indices are columns of the buffer, not relative to the row's start
  int64_t rows = 0;
  int64_t width = 0;
  int64_t k = 0;
  int64_t row_stride = 0;
  int64_t out_stride = 0;
};
TopkProblem topk_problem(const fixtures::Case& c, bool absolute = false);

// Whether the top-k of the operation is one of several stages.
bool is_a_stage(fixtures::Op op);

// The shape whose dispatch is predicted, with the case's tuning. `max_seq_len_hint`: the longest
// row that the host knows of at the call; the width if it knows none.
oracle::TopkShape topk_shape(const TopkProblem& problem);

// Tensors of top-k in the order of the call.
enum TopkTensor : size_t {
  kLogits,
  kSeqLens,    // decode
  kRowStarts,  // prefill
  kRowEnds,    // prefill
  kIndices,    // out
  kActiveBlocks,
  kTopkTensors
};

// Logits that were recorded, or computed by an earlier stage, instead of made from a case.
class RecordedRows {
 public:
  virtual ~RecordedRows() = default;
  // The visible logits of one row; `scratch` may hold them. Threads ask for rows going upwards.
  virtual std::span<const uint32_t> visible(int64_t row, std::vector<uint32_t>& scratch) const = 0;
};

struct TopkInputs : StepInputs {
  int64_t step = 0;
  std::vector<int32_t> seq_lens;  // decode: as the kernel gets them
  std::vector<int32_t> row_starts, row_ends;
  std::vector<fixtures::RowWindow> windows;  // [rows], visible columns by the oracle
  // The tensor as laid out in memory, gaps included; empty where the device fills a tensor that is
  // too big to be kept here, and then each row is made again when it is looked at.
  std::vector<uint32_t> logits;
  // fixtures::checksum() of each row's columns [0, width), where the device fills the tensor and it
  // is kept here.
  std::vector<uint64_t> row_checksums;
  std::shared_ptr<const RecordedRows> recorded;  // in place of `logits`, where no case makes them

  std::span<const std::byte> bytes(size_t tensor) const override;
  int64_t kept_bytes() const override { return static_cast<int64_t>(logits.size()) * 4; }
  int64_t length(int64_t row) const { return windows[static_cast<size_t>(row)].length; }
  int64_t longest() const;
};

// The data of launch `step`; without logits where an earlier stage computes them. Throws
// InternalError if generator and oracle disagree about what a row sees.
TopkInputs make_topk_inputs(const TopkProblem& problem, int64_t step,
                            LogitsFrom from = LogitsFrom::kHost);

// The visible logits of one row, [L], contiguous; `scratch` may hold them and must outlive their
// use.
std::span<const uint32_t> visible_row(const TopkProblem& problem, const TopkInputs& inputs,
                                      int64_t row, std::vector<uint32_t>& scratch);

}  // namespace exactk::props
