#include "oracle/verdict.h"

namespace exactk::oracle {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kWeak:
      return "weak";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kSkipped:
      return "skipped";
    case Verdict::kUnsupported:
      return "unsupported";
    case Verdict::kInvalid:
      return "invalid";
  }
  return "unknown";
}

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::kMissingWinner:
      return "missing winner";
    case FaultKind::kIntruder:
      return "intruder";
    case FaultKind::kDuplicate:
      return "duplicate";
    case FaultKind::kOutOfRange:
      return "out of range";
    case FaultKind::kSentinelInside:
      return "sentinel inside";
    case FaultKind::kSentinelMissing:
      return "sentinel missing";
    case FaultKind::kNeverWritten:
      return "never written";
    case FaultKind::kGuardBroken:
      return "guard broken";
    case FaultKind::kOrder:
      return "order";
    case FaultKind::kUnstable:
      return "unstable";
    case FaultKind::kWrongValue:
      return "wrong value";
  }
  return "unknown";
}

}  // namespace exactk::oracle
