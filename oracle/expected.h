// What a launch must leave in an output tensor whose every element is fixed by the contract, and
// the comparison with what it did leave. Nothing here knows an operation.
//
// What it does not check: bytes outside the tensor. Whoever owns the buffer compares those.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracle/verdict.h"

namespace exactk::oracle {

enum class Want : uint8_t {
  kValue,      // exactly the value
  kUntouched,  // what it was before the launch: outside the contract's rows or slots
  kAny,        // the contract leaves it open
};

struct ExpectedTensor {
  std::string name;             // "indices", "lens", ...
  std::vector<int64_t> values;  // [elements]; meaningful where the want is kValue
  std::vector<Want> wants;      // [elements]
  // First element of each row, ascending, and the end: [rows + 1]. One row of one element each for
  // a vector. Only messages use it; elements past the end count to the last row.
  std::vector<int64_t> row_begins;

  void set(int64_t position, int64_t value);  // the contract fixes the element
};

struct MatrixShape {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;  // elements, >= columns
};

// Tensors of untouched elements, which the contract of an operation then sets. A matrix ends with
// the last slot of its last row: (rows - 1) * stride + columns elements.
ExpectedTensor untouched_matrix(std::string name, const MatrixShape& shape);
ExpectedTensor untouched_vector(std::string name, int64_t elements);

struct BadElement {
  int64_t position = 0;  // element of the tensor
  int64_t row = 0;
  int64_t slot = 0;  // within the row
  FaultKind kind{};
  int64_t want = 0;  // the value wanted; kUntouched: the value before
  int64_t got = 0;
};

struct TensorJudgement {
  FaultSet faults;
  // Ascending positions; of more than kBadElementsMax the first and the last halves are kept.
  std::vector<BadElement> bad;
  int64_t bad_elements = 0;           // all of them
  std::vector<int64_t> failing_rows;  // ascending, at most kFailingRowsKept
  int64_t failing_row_count = 0;      // all of them
  bool ok() const { return faults.empty(); }
};
inline constexpr int kBadElementsMax = 64;
inline constexpr int kFailingRowsKept = 256;

// Compares whole tensors; `got` and `before` have as many elements as `want`. Kinds: never written
// (still what it was before, and that is wrong), sentinel missing (-1 wanted), sentinel inside (-1
// where a value is wanted), wrong value, guard broken (an untouched element was written).
TensorJudgement judge_exact(const ExpectedTensor& want, std::span<const int64_t> got,
                            std::span<const int64_t> before);

}  // namespace exactk::oracle
