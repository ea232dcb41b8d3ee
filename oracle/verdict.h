// What the suite can say about one case, and what can be wrong with one row.
#pragma once

#include <cstdint>
#include <string_view>

namespace exactk::oracle {

// The verdict on one case. Only kPassed is a pass.
enum class Verdict : int32_t {
  kPassed,       // every slot of every launch met the contract
  kWeak,         // the contract held, but nothing was at stake (see docs/CONTRACTS.md)
  kFailed,       // a kernel broke its contract
  kSkipped,      // the kernel declines the case; a reason is required
  kUnsupported,  // the kernel ought to take the case and did not: counts as a failure
  kInvalid,      // the case itself is malformed: counts as a failure
};

// The kinds of faults that a judge can name; a row can have several.
enum class FaultKind : int32_t {
  kMissingWinner,    // a column that must be selected is not
  kIntruder,         // a selected column whose logit is below the k-th value
  kDuplicate,        // a column is selected more than once
  kOutOfRange,       // an index outside [0, L) that is not the sentinel
  kSentinelInside,   // -1 in a slot that must hold an index
  kSentinelMissing,  // a slot that must hold -1 holds something else
  kNeverWritten,     // the slot still holds the poison of before the launch
  kGuardBroken,      // bytes outside the output (or an input) were changed
  kOrder,            // the set is right, its order is not the promised one
  kUnstable,         // two runs that must agree byte for byte do not
  kWrongValue,       // an element that the contract fixes holds another value
};
inline constexpr int kFaultKinds = 11;

constexpr bool is_failure(Verdict verdict) {
  return verdict == Verdict::kFailed || verdict == Verdict::kUnsupported ||
         verdict == Verdict::kInvalid;
}
inline constexpr int kVerdicts = 6;

std::string_view name(Verdict verdict);  // "passed", "weak", ...
std::string_view name(FaultKind kind);   // "missing winner", "intruder", ...

// A set of fault kinds.
class FaultSet {
 public:
  constexpr void add(FaultKind kind) { bits_ |= 1u << static_cast<int>(kind); }
  constexpr bool has(FaultKind kind) const { return (bits_ >> static_cast<int>(kind)) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr void merge(FaultSet other) { bits_ |= other.bits_; }
  friend constexpr bool operator==(FaultSet, FaultSet) = default;

 private:
  uint32_t bits_ = 0;
};

}  // namespace exactk::oracle
