// An index operation as it is judged, alone or as the second stage of a chain: the layout of a
// case, what one launch is fed, and what must come out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fixtures/case.h"
#include "fixtures/index_inputs.h"
#include "oracle/expected.h"
#include "props/operation.h"

namespace exactk::props {

enum class IndexOp : int32_t { kCombine, kTranslate, kSwa };

struct IndexProblem {
  fixtures::Case c;
  IndexOp op{};
  fixtures::IndexShape shape;
  bool local_from_topk = false;  // the local indices are a top-k's output, not an input
  int64_t slot_bytes = 4;        // of an element of the slots
  bool flat = false;             // the slots are one list, not a matrix
  int64_t slots = 0;             // elements
};
IndexProblem index_problem(const fixtures::Case& c);

// Indices that a packed list may hold: what a block table of the case addresses.
int64_t pack_bound(const IndexProblem& problem);

// Tensors of the three operations in one order; a call that takes no such tensor has no bytes for
// it.
enum IndexTensor : size_t {
  kLocalIndices,
  kQueryStartLoc,
  kRequestSeqLens,
  kGatherLens,
  kLeftVisible,
  kRightVisible,
  kTokenToReq,
  kTokenValid,
  kPositions,
  kBlockTable,
  kLengths,
  kCuSeqlens,
  kCap,
  kSlots,   // out
  kLens,    // out
  kIndptr,  // out
  kIndexTensors
};
std::vector<TensorSpec> index_tensors(const IndexProblem& problem);

struct IndexStep : StepInputs {
  fixtures::IndexInputs in;
  std::span<const std::byte> bytes(size_t tensor) const override;
  int64_t kept_bytes() const override;
};

struct IndexExpected {
  IndexTensor tensor{};
  oracle::ExpectedTensor want;
};
// By the oracle. `local`: the local indices that the operation reads.
std::vector<IndexExpected> expected_of(const IndexProblem& problem, const fixtures::IndexInputs& in,
                                       std::span<const int32_t> local);

// Indices that a tensor must hold, sentinels not counted.
int64_t indices_at_stake(const oracle::ExpectedTensor& want);

// Whether any launch of the case has an index to get right: a case of sentinels alone proves
// little.
bool anything_at_stake(const IndexProblem& problem);

// An output's elements.
std::vector<int64_t> elements_of(const IndexProblem& problem, IndexTensor tensor,
                                 const Bytes& bytes);

}  // namespace exactk::props
