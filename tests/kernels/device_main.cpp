// main() of tests that run on a device: where it cannot be opened, each test is skipped with the
// reason. A test can't forget to ask, and none passes without its device.
#include <gtest/gtest.h>

#include <string>

#include "kernels/device/device.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

class SkipEveryTest final : public testing::EmptyTestEventListener {
 public:
  explicit SkipEveryTest(std::string reason) : reason_(std::move(reason)) {}
  // A test that is skipped before it starts is not run.
  void OnTestStart(const testing::TestInfo&) override { GTEST_SKIP() << reason_; }

 private:
  std::string reason_;
};

}  // namespace
}  // namespace exactk::kernels::test

int main(int argc, char** argv) {
  using namespace exactk::kernels;
  testing::InitGoogleTest(&argc, argv);
  // Listing the tests must not touch the device: a build machine need not have one.
  if (!GTEST_FLAG_GET(list_tests)) {
    if (const auto device = open_device(test::kDeviceKind); !device) {
      testing::UnitTest::GetInstance()->listeners().Append(new test::SkipEveryTest(device.error()));
    }
  }
  return RUN_ALL_TESTS();
}
