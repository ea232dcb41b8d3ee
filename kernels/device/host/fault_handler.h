// Turns a fault of a kernel into an error of its launch.
#pragma once

#include <csignal>
#include <memory>

namespace exactk::host_device {

// Sent to a worker whose block has run for too long. Nothing else uses it, and it is ignored by
// default.
constexpr int kTimeLimitSignal = SIGURG;

// Once per process. A fault outside a kernel goes to whoever handled the signal before.
void install_fault_handlers();

// The stack on which the handlers of the calling thread run, because a full stack cannot hold them.
class AlternateStack {
 public:
  AlternateStack();
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
  stack_t previous_{};
};

}  // namespace exactk::host_device
