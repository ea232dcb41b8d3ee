#include "props/kernel_timer.h"

#include <chrono>
#include <vector>

namespace exactk::props {

constexpr int kCallsPerWait = 60;  // about as many as a model has layers

kernels::Result<std::unique_ptr<KernelTimer>> KernelTimer::open(kernels::Device& device,
                                                                const fixtures::Case& c,
                                                                const KernelUnderTest& kernel,
                                                                const RunnerOptions& options) {
  const bool host = device.info().kind == "host";
  if (host) {
    const auto set = device.configure({options.wave_width, c.schedule, options.workers});
    if (!set) return tl::unexpected(set.error());
  }
  auto timer = std::make_unique<KernelTimer>();
  timer->calls_ = host ? 1 : kCallsPerWait;
  timer->operation_ = make_operation(c, kernel);
  const Operation& operation = *timer->operation_;
  const auto inputs = operation.make_inputs(0, options.logits_from);
  const auto bytes = workspace_bytes(operation);
  if (!bytes) return tl::unexpected(bytes.error());
  auto session = LaunchSession::open(device, operation, *bytes, options.logits_from);
  if (!session) return tl::unexpected(session.error());
  timer->session_ = std::move(*session);
  std::vector<Bytes> before;
  for (const TensorSpec& tensor : operation.tensors()) {
    before.emplace_back(tensor.role == Role::kOutput ? static_cast<size_t>(tensor.bytes) : 0);
  }
  const std::vector<std::byte> workspace(static_cast<size_t>(*bytes));
  if (auto fed = timer->session_->feed(*inputs, before, workspace, 0); !fed)
    return tl::unexpected(fed.error());
  if (auto warm = timer->call_s(); !warm) return tl::unexpected(warm.error());
  return timer;
}

kernels::Result<double> KernelTimer::call_s() {
  const auto start = std::chrono::steady_clock::now();
  if (auto called = session_->call_unchecked(operation_->value().launch, calls_); !called)
    return tl::unexpected(called.error());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count() / calls_;
}

}  // namespace exactk::props
