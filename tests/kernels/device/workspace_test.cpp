// The workspace manager on a device: programs of get, lock and unlock, compared with the oracle's
// model, in offsets and in contents.
#include "kernels/device/workspace.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <map>
#include <optional>

#include "oracle/workspace_plan.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels {
namespace {

using oracle::WorkspaceModel;
using oracle::WorkspaceView;
using Sizes = std::vector<int64_t>;
using Bytes = std::vector<std::byte>;

std::unique_ptr<Device> open_test_device() {
  auto device = open_device(test::kDeviceKind);
  EXPECT_TRUE(device) << device.error();
  return std::move(*device);
}

Bytes download(Device& device, const std::byte* from, int64_t bytes) {
  Bytes found(static_cast<size_t>(bytes));
  EXPECT_TRUE(device.download(found.data(), from, bytes));
  return found;
}

void upload(Device& device, std::byte* to, int64_t bytes, int value) {
  const Bytes filled(static_cast<size_t>(bytes), static_cast<std::byte>(value));
  EXPECT_TRUE(device.upload(to, filled.data(), bytes));
}

class Workspaces : public testing::Test {
 protected:
  std::vector<std::byte*> get(const Sizes& bytes) {
    auto views = workspace_->get_simultaneous(bytes);
    EXPECT_TRUE(views) << views.error();
    return views ? *views : std::vector<std::byte*>(bytes.size());
  }
  // Not in the constructor, which runs even where the test is skipped for want of a device.
  void SetUp() override {
    device_ = open_test_device();
    workspace_.emplace(*device_);
  }
  std::unique_ptr<Device> device_;
  std::optional<Workspace> workspace_;
};

TEST_F(Workspaces, PutViewsOfOneCallSideBySideAt256ByteBoundaries) {
  const auto views = get({1, 256, 257, 10});
  EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(views[0]) % 256);
  EXPECT_EQ(256, views[1] - views[0]);
  EXPECT_EQ(512, views[2] - views[0]);
  EXPECT_EQ(1024, views[3] - views[0]);
  EXPECT_EQ(1280, workspace_->bytes());
}

TEST_F(Workspaces, GiveTheSameBytesToTheNextCall) {
  const auto first = get({300, 300});
  upload(*device_, first[1], 300, 7);
  const auto second = get({512, 300});
  EXPECT_EQ(first, second);
  EXPECT_EQ(Bytes(300, std::byte{7}), download(*device_, second[1], 300));
}

TEST_F(Workspaces, KeepTheMemoryOfViewsThatGrowthReplaced) {
  const auto before = get({300});
  upload(*device_, before[0], 300, 7);
  const auto after = get({513});
  EXPECT_NE(before[0], after[0]);
  upload(*device_, after[0], 513, 9);
  EXPECT_EQ(Bytes(300, std::byte{7}), download(*device_, before[0], 300));
}

TEST_F(Workspaces, AreNullWhileNoBytesWereAskedFor) {
  EXPECT_EQ((std::vector<std::byte*>{nullptr, nullptr}), get({0, 0}));
}

TEST_F(Workspaces, RefuseToGrowWhileLockedWithBothSizes) {
  get({512});
  workspace_->lock();
  const auto refused = workspace_->get_simultaneous(Sizes{512, 1});
  ASSERT_FALSE(refused);
  EXPECT_NE(std::string::npos, refused.error().find("512")) << refused.error();
  EXPECT_NE(std::string::npos, refused.error().find("768")) << refused.error();
  EXPECT_EQ(512, workspace_->bytes());
}

TEST_F(Workspaces, RefuseANegativeSize) {
  const auto refused = workspace_->get_simultaneous(Sizes{8, -1});
  ASSERT_FALSE(refused);
  EXPECT_NE(std::string::npos, refused.error().find("-1")) << refused.error();
  EXPECT_EQ(0, workspace_->bytes());
}

TEST_F(Workspaces, StayAsTheyAreWhenTheDeviceHasNoRoom) {
  const auto before = get({512});
  ASSERT_FALSE(workspace_->get_simultaneous(Sizes{int64_t{1} << 60}));
  EXPECT_EQ(512, workspace_->bytes());
  EXPECT_EQ(before, get({512}));
}

// --- programs ---

// What a buffer must hold: what was written last, nothing known where nobody wrote.
struct Shadow {
  std::byte* start = nullptr;
  std::vector<std::optional<std::byte>> bytes;
};

struct Session {
  std::unique_ptr<Device> device = open_test_device();
  Workspace workspace{*device};
  std::map<int64_t, Shadow> buffers;  // by generation
  int stamp = 0;
};

void expect_contents(Device& device, const Shadow& buffer) {
  const Bytes found = download(device, buffer.start, std::ssize(buffer.bytes));
  for (size_t i = 0; i < found.size(); ++i) {
    if (buffer.bytes[i]) RC_ASSERT(found[i] == *buffer.bytes[i]);
  }
}

void write(Session& session, Shadow& buffer, const WorkspaceView& view) {
  const int value = 1 + session.stamp++ % 255;
  upload(*session.device, buffer.start + view.offset, view.bytes, value);
  for (int64_t i = 0; i < view.bytes; ++i) {
    buffer.bytes[static_cast<size_t>(view.offset + i)] = static_cast<std::byte>(value);
  }
}

// How often a program met what it is about; a run that met nothing proves nothing.
struct Seen {
  int growths = 0;
  int refusals = 0;
  int reuses = 0;
};
Seen seen;

using Command = rc::state::Command<WorkspaceModel, Session>;

struct Get : Command {
  Sizes sizes;
  explicit Get(const WorkspaceModel& model) {
    const std::vector<int64_t> edges{0, 1, 255, 256, 257, 512, model.bytes(), model.bytes() + 1};
    const auto size = rc::gen::resize(
        rc::kNominalSize,
        rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 1100), rc::gen::elementOf(edges)));
    sizes = *rc::gen::resize(4, rc::gen::container<Sizes>(size));
  }

  void apply(WorkspaceModel& model) const override {
    static_cast<void>(model.get_simultaneous(sizes));
  }

  void run(const WorkspaceModel& before, Session& session) const override {
    WorkspaceModel after = before;
    const auto want = after.get_simultaneous(sizes);
    const auto got = session.workspace.get_simultaneous(sizes);
    RC_ASSERT(want.has_value() == got.has_value());
    RC_ASSERT(after.bytes() == session.workspace.bytes());
    RC_ASSERT(after.locked() == session.workspace.locked());
    ++(got ? after.bytes() > before.bytes() ? seen.growths : seen.reuses : seen.refusals);
    if (!got) return;
    RC_ASSERT(want->size() == got->size());
    if (after.bytes() == 0 || got->empty()) return;
    Shadow& buffer = session.buffers[after.generation()];
    if (buffer.start == nullptr) {
      buffer.start = (*got)[0];
      buffer.bytes.resize(static_cast<size_t>(after.bytes()));
    }
    for (size_t i = 0; i < got->size(); ++i) {
      RC_ASSERT((*got)[i] == buffer.start + (*want)[i].offset);
      write(session, buffer, (*want)[i]);
    }
    for (const auto& [generation, shadow] : session.buffers) {
      expect_contents(*session.device, shadow);
    }
  }

  void show(std::ostream& out) const override {
    out << "get";
    for (const int64_t size : sizes) out << ' ' << size;
  }
};

struct Lock : Command {
  void apply(WorkspaceModel& model) const override { model.lock(); }
  void run(const WorkspaceModel&, Session& session) const override { session.workspace.lock(); }
  void show(std::ostream& out) const override { out << "lock"; }
};

struct Unlock : Command {
  void apply(WorkspaceModel& model) const override { model.unlock(); }
  void run(const WorkspaceModel&, Session& session) const override { session.workspace.unlock(); }
  void show(std::ostream& out) const override { out << "unlock"; }
};

TEST(WorkspaceProgramsOnADevice, DoWhatTheModelDoes) {
  static constexpr int kCommandsMax = 12;  // one more than the size that is asked for
  seen = {};
  EXPECT_TRUE(rc::check("get, lock and unlock in any order", [] {
    const auto commands = *rc::gen::resize(
        kCommandsMax - 1,
        rc::state::gen::commands(WorkspaceModel{},
                                 rc::state::gen::execOneOfWithArgs<Get, Get, Lock, Unlock>()));
    RC_ASSERT(std::ssize(commands) <= kCommandsMax);
    Session session;
    rc::state::runAll(commands, WorkspaceModel{}, session);
  }));
  EXPECT_GT(seen.growths, 10);
  EXPECT_GT(seen.refusals, 10);
  EXPECT_GT(seen.reuses, 10);
}

}  // namespace
}  // namespace exactk::kernels
