#include "kernels/device/buffer.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/device/test_kernels.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels {
namespace {

class GuardedBuffers : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_device(test::kDeviceKind);
    ASSERT_TRUE(opened) << opened.error();
    device_ = std::move(*opened);
  }
  GuardedBuffer make(int64_t bytes, int64_t misalign = 0) {
    auto made = GuardedBuffer::make(*device_, bytes, misalign);
    EXPECT_TRUE(made) << made.error();
    return std::move(*made);
  }
  // A kernel writes one byte at an offset from the payload.
  void write(const GuardedBuffer& buffer, int64_t offset, unsigned char value) {
    test::write_byte({1, 1}, reinterpret_cast<unsigned char*>(buffer.data()) + offset, value);
    ASSERT_TRUE(device_->synchronize(nullptr));
  }
  GuardDamage damage(const GuardedBuffer& buffer) {
    const auto checked = buffer.check_guards();
    EXPECT_TRUE(checked) << checked.error();
    return checked.value_or(GuardDamage{-1, -1});
  }
  std::unique_ptr<Device> device_;
};

TEST_F(GuardedBuffers, AreIntactWhenOnlyThePayloadIsWritten) {
  for (int64_t bytes : {0, 1, 3, 4, 100, 4096, 10001}) {
    for (int64_t misalign : {0, 4, 17, 255}) {
      GuardedBuffer buffer = make(bytes, misalign);
      EXPECT_EQ(static_cast<uintptr_t>(misalign), reinterpret_cast<uintptr_t>(buffer.data()) % 256);
      EXPECT_EQ(bytes, buffer.bytes());
      const std::vector<std::byte> zeros(static_cast<size_t>(bytes));
      ASSERT_TRUE(buffer.upload(zeros));
      EXPECT_EQ(0, damage(buffer).bytes) << bytes << " bytes, misaligned by " << misalign;
    }
  }
}

TEST_F(GuardedBuffers, ShowOneByteWrittenAnywhereInAGuard) {
  const int64_t payload = 1001;
  GuardedBuffer buffer = make(payload, 4);
  for (int64_t offset :
       {int64_t{-1}, int64_t{-4}, int64_t{-5}, int64_t{-4096}, -(GuardedBuffer::kGuardBytes + 4),
        payload, payload + 1, payload + 2, payload + 3, payload + GuardedBuffer::kGuardBytes - 1}) {
    for (int value : {0x00, 0xff}) {
      write(buffer, offset, static_cast<unsigned char>(value));
      EXPECT_EQ(1, damage(buffer).bytes) << "offset " << offset << ", value " << value;
      EXPECT_EQ(offset, damage(buffer).first_offset);
      ASSERT_TRUE(buffer.restore_guards());
      ASSERT_EQ(0, damage(buffer).bytes);
    }
  }
}

TEST_F(GuardedBuffers, CountDamageOnBothSidesAndNameTheFirst) {
  GuardedBuffer buffer = make(64);
  for (int64_t offset : {-8, -3, 64, 70}) write(buffer, offset, 0);
  EXPECT_EQ(4, damage(buffer).bytes);
  EXPECT_EQ(-8, damage(buffer).first_offset);
}

TEST_F(GuardedBuffers, UploadAndDownloadABeginning) {
  GuardedBuffer buffer = make(8, 1);
  const std::vector<std::byte> all(8, std::byte{1}), part(3, std::byte{2});
  ASSERT_TRUE(buffer.upload(all));
  ASSERT_TRUE(buffer.upload(part));
  std::vector<std::byte> got(8);
  ASSERT_TRUE(buffer.download(got));
  EXPECT_EQ((std::vector<std::byte>{std::byte{2}, std::byte{2}, std::byte{2}, std::byte{1},
                                    std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}}),
            got);
}

TEST_F(GuardedBuffers, RefuseMoreThanTheyHold) {
  GuardedBuffer buffer = make(8);
  std::vector<std::byte> nine(9);
  EXPECT_FALSE(buffer.upload(nine));
  EXPECT_FALSE(buffer.download(nine));
  EXPECT_FALSE(GuardedBuffer::make(*device_, -1));
  EXPECT_FALSE(GuardedBuffer::make(*device_, 8, 256));
  EXPECT_FALSE(GuardedBuffer::make(*device_, 8, -1));
  EXPECT_FALSE(GuardedBuffer::make(*device_, int64_t{1} << 55)) << "beyond the machine";
}

TEST_F(GuardedBuffers, CanBeMoved) {
  GuardedBuffer a = make(16), b = make(32);
  std::byte* const data = b.data();
  a = std::move(b);
  EXPECT_EQ(data, a.data());
  EXPECT_EQ(32, a.bytes());
  const GuardedBuffer c = std::move(a);
  EXPECT_EQ(data, c.data());
  EXPECT_EQ(0, damage(c).bytes);
}

}  // namespace
}  // namespace exactk::kernels
