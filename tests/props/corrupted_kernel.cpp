#include "tests/props/corrupted_kernel.h"

#include <gtest/gtest.h>

#include <optional>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "props/kernel_under_test.h"
#include "props/runner.h"

namespace exactk::tests {
namespace {

// The ABI carries no user pointer, so there is one at a time.
struct Corruption {
  const exactk_kernel* base = nullptr;
  kernels::Device* device = nullptr;
  std::function<void(const void*)> change;
} current;

exactk_status launch(const void* descriptor, char* message, size_t bytes) {
  const exactk_status status = current.base->launch(descriptor, message, bytes);
  if (status != EXACTK_OK || !current.change) return status;
  EXPECT_TRUE(current.device->synchronize(current.device->stream(0)).has_value());
  current.change(descriptor);
  return status;
}

}  // namespace

props::Outcome run_corrupted(const std::string& line, std::string_view shipped,
                             std::function<void(const void*)> corrupt) {
  auto c = fixtures::parse_case(line);
  EXPECT_TRUE(c.has_value()) << c.error();
  auto device = kernels::open_device("host");
  EXPECT_TRUE(device.has_value()) << device.error();
  current = {props::select_kernels("host", shipped)->front().kernel, device->get(),
             std::move(corrupt)};
  exactk_kernel kernel = *current.base;
  kernel.name = "corrupted";
  kernel.launch = launch;
  props::Runner runner(**device);
  return runner.run(*c, {&kernel, std::nullopt, false}, props::RunnerOptions{});
}

props::Outcome run_unchanged(const std::string& line, std::string_view shipped) {
  return run_corrupted(line, shipped, nullptr);
}

}  // namespace exactk::tests
