#include "oracle/expected.h"

#include <optional>
#include <utility>

#include "oracle/findings.h"

namespace exactk::oracle {
namespace {

constexpr int64_t kSentinel = -1;

struct Element {
  int64_t want = 0;
  int64_t got = 0;
  int64_t before = 0;
};

// nullopt: nothing is wrong.
std::optional<FaultKind> fault_of(Want want, const Element& element) {
  if (want == Want::kAny) {
    return std::nullopt;
  }
  if (want == Want::kUntouched) {
    return element.got == element.before ? std::nullopt : std::optional(FaultKind::kGuardBroken);
  }
  if (element.got == element.want) {
    return std::nullopt;
  }
  if (element.got == element.before) {
    return FaultKind::kNeverWritten;
  }
  if (element.want == kSentinel) {
    return FaultKind::kSentinelMissing;
  }
  return element.got == kSentinel ? FaultKind::kSentinelInside : FaultKind::kWrongValue;
}

}  // namespace

void ExpectedTensor::set(int64_t position, int64_t value) {
  values[static_cast<size_t>(position)] = value;
  wants[static_cast<size_t>(position)] = Want::kValue;
}

ExpectedTensor untouched_matrix(std::string name, const MatrixShape& shape) {
  const int64_t elements = shape.rows > 0 ? (shape.rows - 1) * shape.stride + shape.columns : 0;
  ExpectedTensor tensor{.name = std::move(name),
                        .values = std::vector<int64_t>(static_cast<size_t>(elements), 0),
                        .wants = std::vector<Want>(static_cast<size_t>(elements), Want::kUntouched),
                        .row_begins = {}};
  for (int64_t row = 0; row < shape.rows; ++row) {
    tensor.row_begins.push_back(row * shape.stride);
  }
  tensor.row_begins.push_back(elements);
  return tensor;
}

ExpectedTensor untouched_vector(std::string name, int64_t elements) {
  return untouched_matrix(std::move(name), {.rows = elements, .columns = 1, .stride = 1});
}

TensorJudgement judge_exact(const ExpectedTensor& want, std::span<const int64_t> got,
                            std::span<const int64_t> before) {
  TensorJudgement judgement;
  const int64_t last_row = std::ssize(want.row_begins) - 2;
  int64_t row = 0;
  for (int64_t position = 0; position < std::ssize(want.values); ++position) {
    while (row < last_row && want.row_begins[static_cast<size_t>(row + 1)] <= position) {
      ++row;
    }
    const auto at = static_cast<size_t>(position);
    const auto fault =
        fault_of(want.wants[at], {.want = want.values[at], .got = got[at], .before = before[at]});
    if (fault) {
      add_finding(judgement,
                  BadElement{.position = position,
                             .row = row,
                             .slot = position - want.row_begins[static_cast<size_t>(row)],
                             .kind = *fault,
                             .want = want.wants[at] == Want::kValue ? want.values[at] : before[at],
                             .got = got[at]});
    }
  }
  return judgement;
}

}  // namespace exactk::oracle
