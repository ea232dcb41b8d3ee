// A logits operation as it is judged: the layout of a case, what one launch is fed, and what must
// come out by the oracle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fixtures/case.h"
#include "fixtures/logits_inputs.h"
#include "oracle/mqa_logits.h"
#include "props/operation.h"

namespace exactk::props {

struct LogitsProblem {
  fixtures::Case c;
  fixtures::MqaShape shape;
  // Bitwise where every sum is exact in float32, else by the derived bound.
  oracle::CompareLogits compare{};
};
LogitsProblem logits_problem(const fixtures::Case& c);

// Tensors of both operations in one order; a call that takes no such tensor has no bytes for it.
enum LogitsTensor : size_t {
  kMqaQueries,
  kMqaWeights,
  kMqaKeys,  // paged: the cache
  kMqaScales,
  kMqaStarts,
  kMqaEnds,
  kMqaBlockTable,
  kMqaSeqLens,
  kMqaLogits,  // out
  kLogitsTensors
};
std::vector<TensorSpec> logits_tensors(const LogitsProblem& problem);

struct LogitsStep : StepInputs {
  fixtures::MqaInputs in;
  std::span<const std::byte> bytes(size_t tensor) const override;
  int64_t kept_bytes() const override;
};

// Columns of a row that must hold a number at launch `step`, by the case.
struct LogitsRow {
  int64_t begin = 0;
  int64_t end = 0;
};
std::vector<LogitsRow> logits_rows(const LogitsProblem& problem, int64_t step);

// Columns [0, width) of a row, by the oracle.
std::vector<oracle::ExpectedLogit> expected_logits(const LogitsProblem& problem,
                                                   const fixtures::MqaInputs& in, int64_t row);

// A launch judged by the oracle. Throws InternalError if a number cannot be judged, or if generator
// and oracle disagree about what the rows see.
oracle::LogitsJudgement judge_logits(const LogitsProblem& problem, const fixtures::MqaInputs& in,
                                     int64_t step, std::span<const float> after,
                                     std::span<const float> before);

}  // namespace exactk::props
