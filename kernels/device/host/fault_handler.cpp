#include "kernels/device/host/fault_handler.h"

#include <array>
#include <mutex>

#include "kernels/device/host/block_runner.h"

namespace exactk::host_device {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t kAlternateStackBytes = 64 * 1024;
struct sigaction previous_actions[kSignals.size()];

// Leaves the handler by a jump to the worker's own context, as a lane leaves its stack for good: no
// state of the interrupted code is used again. SA_NODEFER keeps the signal unblocked.
void on_fault(int signal, siginfo_t* info, void*) {
  BlockRunner* runner = tls_runner;
  if (runner && runner->in_kernel()) {
    BlockFault fault;
    fault.signal = signal;
    fault.address = info->si_addr;
    // The CPU does not tell the address when it is not a possible one.
    fault.address_known = (signal == SIGSEGV || signal == SIGBUS) && info->si_code != SI_KERNEL;
    runner->abandon(fault);
  }
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) sigaction(signal, &previous_actions[i], nullptr);
  }
}

void on_time_limit(int, siginfo_t*, void*) {
  BlockRunner* runner = tls_runner;
  if (!runner || !runner->in_kernel()) return;
  BlockFault fault;
  fault.timed_out = true;
  runner->abandon(fault);
}

}  // namespace

void install_fault_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_fault;
    for (size_t i = 0; i < kSignals.size(); ++i)
      sigaction(kSignals[i], &action, &previous_actions[i]);
    action.sa_sigaction = on_time_limit;
    sigaction(kTimeLimitSignal, &action, nullptr);
  });
}

AlternateStack::AlternateStack() : memory_(new char[kAlternateStackBytes]) {
  stack_t stack{};
  stack.ss_sp = memory_.get();
  stack.ss_size = kAlternateStackBytes;
  sigaltstack(&stack, &previous_);
}

AlternateStack::~AlternateStack() {
  sigaltstack(&previous_, nullptr);
}

}  // namespace exactk::host_device
