// The axes of the input space, private to the coverage. An axis is a row of a table: its name, the
// operations that have it, and what visits its bins.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fixtures/materialize.h"
#include "oracle/dispatch_policy.h"
#include "props/coverage.h"

namespace exactk::props {

// One launch of the case.
struct SpaceLaunch {
  int64_t step = 0;
  bool replayed = false;  // the call was captured before
  int64_t known = 0;      // the step whose lengths the host knew at the call
  // Columns of each row of logits, [rows]; where there are none, the sequence lengths, [requests].
  std::vector<int64_t> lengths;
  std::vector<int64_t> distinct;  // the same, ascending, each once
};

// A case as the axes look at it.
struct Space {
  explicit Space(const fixtures::Case& value);
  fixtures::Case c;
  std::vector<SpaceLaunch> launches;
  // Of logits.
  oracle::TopkShape shape;
  oracle::TopkMethod method = oracle::TopkMethod::kAuto;  // of the published policy
  oracle::TopkDispatch dispatch;
};

using Visit = std::function<void(std::string)>;

struct Axis {
  std::string_view name;
  std::string_view text;
  uint32_t ops;  // bit 1 << Op
  void (*visit)(const Space& space, const Visit& visit);
};
constexpr uint32_t op_bit(fixtures::Op op) {
  return 1u << static_cast<uint32_t>(op);
}
inline constexpr uint32_t kOfLogits =
    op_bit(fixtures::Op::kTopkDecode) | op_bit(fixtures::Op::kTopkPrefill) |
    op_bit(fixtures::Op::kChainDecode) | op_bit(fixtures::Op::kChainPrefill);
inline constexpr uint32_t kOfAll = (1u << 13) - 1;

std::span<const Axis> launch_axes();     // how it is launched: every operation
std::span<const Axis> logits_axes();     // what a selection looks at
std::span<const Axis> request_axes();    // what an index operation looks at
std::span<const Axis> numeric_axes();    // what an operation computes from
std::span<const Axis> attention_axes();  // what attention looks at
std::span<const Axis> router_axes();     // what the router looks at

// "-1", "0" or "+1" beside the edge, else nothing.
std::string_view beside(int64_t value, int64_t edge);

}  // namespace exactk::props
