// What a case feeds to a kernel at each launch, made once and shared by the kernels and wave widths
// that run the case.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/case.h"

namespace exactk::props {

struct StepInputs {
  int64_t step = 0;
  std::vector<int32_t> seq_lens;     // as the kernel gets them
  std::vector<int64_t> row_lengths;  // [rows], by the oracle
  // The tensor as laid out in memory, gaps included; empty where the device fills a tensor that is
  // too big to be kept here, and then each row is made again when it is looked at.
  std::vector<uint32_t> logits;
  // fixtures::checksum() of each row's columns [0, width), where the device fills the tensor and it
  // is kept here.
  std::vector<uint64_t> row_checksums;
};

enum class LogitsFrom { kHost, kDevice };

// The data of launch `step`. Throws InternalError if generator and oracle disagree about a row
// length.
StepInputs make_inputs(const fixtures::Case& c, int64_t step, LogitsFrom from = LogitsFrom::kHost);

// Keeps recent launches' data up to `bytes_max`.
class InputCache {
 public:
  explicit InputCache(int64_t bytes_max) : bytes_max_(bytes_max) {}
  std::shared_ptr<const StepInputs> get(const fixtures::Case& c, int64_t step, LogitsFrom from);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const StepInputs> inputs;
    int64_t bytes;
  };
  int64_t bytes_max_;
  int64_t bytes_ = 0;
  std::list<Entry> entries_;  // newest first
};

}  // namespace exactk::props
