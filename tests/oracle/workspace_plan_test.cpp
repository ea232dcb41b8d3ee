// The model of the workspace manager: its rules one by one, then whole programs against a reference
// that keeps a list of bytes instead of computing offsets.
#include "oracle/workspace_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <algorithm>

#include "oracle/combine_indices.h"

namespace exactk::oracle {
namespace {

using Views = std::vector<WorkspaceView>;
using Sizes = std::vector<int64_t>;

tl::expected<Views, std::string> get(WorkspaceModel& workspace, const Sizes& bytes) {
  return workspace.get_simultaneous(bytes);
}

TEST(Workspace, StartsEmptyAndUnlocked) {
  const WorkspaceModel workspace;
  EXPECT_EQ(0, workspace.bytes());
  EXPECT_EQ(0, workspace.generation());
  EXPECT_FALSE(workspace.locked());
}

TEST(Workspace, PutsViewsOfOneCallSideBySideAt256ByteBoundaries) {
  WorkspaceModel workspace;
  const auto views = get(workspace, {1, 256, 257, 10});
  ASSERT_TRUE(views.has_value());
  EXPECT_EQ((Views{{0, 1, 1}, {256, 256, 1}, {512, 257, 1}, {1024, 10, 1}}), *views);
  EXPECT_EQ(1280, workspace.bytes());
}

TEST(Workspace, StartsEveryCallAtOffset0) {
  WorkspaceModel workspace;
  ASSERT_TRUE(get(workspace, {1000}).has_value());
  EXPECT_EQ((Views{{0, 300, 1}, {512, 5, 1}}), get(workspace, {300, 5}).value());
}

TEST(Workspace, GrowsByAnotherBufferAndNeverShrinks) {
  WorkspaceModel workspace;
  ASSERT_TRUE(get(workspace, {512}).has_value());
  EXPECT_EQ(2, get(workspace, {513}).value()[0].generation);
  EXPECT_EQ(768, workspace.bytes());
  EXPECT_EQ(2, get(workspace, {1}).value()[0].generation);
  EXPECT_EQ(768, workspace.bytes());
  EXPECT_EQ(2, get(workspace, {768}).value()[0].generation);
}

TEST(Workspace, ViewsOfNoBytesTakeNoRoom) {
  WorkspaceModel workspace;
  EXPECT_EQ((Views{{0, 0, 0}, {0, 0, 0}}), get(workspace, {0, 0}).value());
  EXPECT_EQ(Views{}, get(workspace, {}).value());
  EXPECT_EQ(0, workspace.bytes());
  EXPECT_EQ((Views{{0, 3, 1}, {256, 0, 1}, {256, 4, 1}}), get(workspace, {3, 0, 4}).value());
}

TEST(Workspace, ALockedOneGivesWhatFits) {
  WorkspaceModel workspace;
  ASSERT_TRUE(get(workspace, {512}).has_value());
  workspace.lock();
  EXPECT_TRUE(workspace.locked());
  EXPECT_TRUE(get(workspace, {512}).has_value());
  EXPECT_TRUE(get(workspace, {256, 200}).has_value());
}

TEST(Workspace, ALockedOneThatIsTooSmallRefusesWithBothSizesAndDoesNotChange) {
  WorkspaceModel workspace;
  ASSERT_TRUE(get(workspace, {512}).has_value());
  workspace.lock();
  const auto refused = get(workspace, {512, 1});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(std::string::npos, refused.error().find("512")) << refused.error();
  EXPECT_NE(std::string::npos, refused.error().find("768")) << refused.error();
  EXPECT_EQ(512, workspace.bytes());
  EXPECT_EQ(1, workspace.generation());
  EXPECT_TRUE(workspace.locked());
}

TEST(Workspace, GrowsAgainOnceUnlocked) {
  WorkspaceModel workspace;
  workspace.lock();
  EXPECT_FALSE(get(workspace, {1}).has_value());
  workspace.unlock();
  EXPECT_FALSE(workspace.locked());
  EXPECT_TRUE(get(workspace, {1}).has_value());
}

TEST(Workspace, RefusesANegativeSizeAndDoesNotChange) {
  WorkspaceModel workspace;
  const auto refused = get(workspace, {1000, -1});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(std::string::npos, refused.error().find("-1")) << refused.error();
  EXPECT_EQ(0, workspace.bytes());
}

// A warm-up that reserves the widest combine is enough for every narrower one.
TEST(CombineWorkspace, ReservesWhatEverySmallerCombineTakes) {
  constexpr int64_t kTokensMax = 37;
  constexpr int64_t kColumnsMax = 384;
  const auto combine = [](int64_t tokens, int64_t columns) {
    return Sizes{tokens * columns * 4, tokens * 4};
  };
  WorkspaceModel workspace;
  ASSERT_TRUE(get(workspace, {combine_workspace_bytes(kTokensMax, kColumnsMax)}).has_value());
  workspace.lock();
  for (int64_t tokens = 0; tokens <= kTokensMax; ++tokens) {
    for (int64_t columns = kCombineAlignment; columns <= kColumnsMax;
         columns += kCombineAlignment) {
      EXPECT_TRUE(get(workspace, combine(tokens, columns)).has_value())
          << "tokens " << tokens << " columns " << columns;
    }
  }
  EXPECT_FALSE(get(workspace, combine(kTokensMax + 1, kColumnsMax)).has_value());
  EXPECT_FALSE(get(workspace, combine(kTokensMax, kColumnsMax + kCombineAlignment)).has_value());
}

TEST(CombineWorkspace, ReservesNoMoreThanTheWidestCombineTakes) {
  for (const int64_t tokens : {0, 1, 63, 64, 65, 12289}) {
    WorkspaceModel workspace;
    ASSERT_TRUE(get(workspace, {tokens * 640 * 4, tokens * 4}).has_value());
    EXPECT_EQ(workspace.bytes(), combine_workspace_bytes(tokens, 640)) << tokens;
  }
}

// --- programs ---

// Lays views out byte by byte.
struct Reference {
  int64_t bytes = 0;
  int64_t buffers = 0;
  bool locked = false;

  // Where the views begin, and the end of the last one's boundary.
  static Sizes layout(const Sizes& sizes) {
    Sizes begins;
    int64_t end = 0;
    for (const int64_t size : sizes) {
      begins.push_back(end);
      end += size;
      while (end % 256 != 0) ++end;
    }
    begins.push_back(end);
    return begins;
  }

  bool takes(const Sizes& sizes) const { return !locked || layout(sizes).back() <= bytes; }

  void get(const Sizes& sizes) {
    const int64_t end = layout(sizes).back();
    if (!takes(sizes) || end <= bytes) return;
    bytes = end;
    ++buffers;
  }
};

using Command = rc::state::Command<Reference, WorkspaceModel>;

void expect_same_state(const Reference& want, const WorkspaceModel& got) {
  RC_ASSERT(want.bytes == got.bytes());
  RC_ASSERT(want.buffers == got.generation());
  RC_ASSERT(want.locked == got.locked());
}

// How often a program met what it is about; a run that met nothing proves nothing.
struct Seen {
  int growths = 0;
  int refusals = 0;
  int reuses = 0;
};
Seen seen;

struct Get : Command {
  Sizes sizes;
  explicit Get(const Reference& state) {
    // Sizes on boundaries, and around the size of the buffer.
    const std::vector<int64_t> edges{0, 1, 255, 256, 257, 512, state.bytes, state.bytes + 1};
    const auto size = rc::gen::resize(
        rc::kNominalSize,
        rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 1100), rc::gen::elementOf(edges)));
    sizes = *rc::gen::resize(4, rc::gen::container<Sizes>(size));
  }
  void apply(Reference& state) const override { state.get(sizes); }
  void run(const Reference& before, WorkspaceModel& workspace) const override {
    const auto views = workspace.get_simultaneous(sizes);
    RC_ASSERT(views.has_value() == before.takes(sizes));
    Reference after = before;
    after.get(sizes);
    expect_same_state(after, workspace);
    ++(views ? after.bytes > before.bytes ? seen.growths : seen.reuses : seen.refusals);
    if (!views) {
      RC_ASSERT(views.error().find(std::to_string(before.bytes)) != std::string::npos);
      RC_ASSERT(views.error().find(std::to_string(Reference::layout(sizes).back())) !=
                std::string::npos);
      return;
    }
    const Sizes begins = Reference::layout(sizes);
    RC_ASSERT(views->size() == sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      const WorkspaceView& view = (*views)[i];
      RC_ASSERT(view.bytes == sizes[i]);
      RC_ASSERT(view.offset == begins[i]);
      RC_ASSERT(view.offset % 256 == 0);
      RC_ASSERT(view.offset + view.bytes <= begins[i + 1]);
      RC_ASSERT(view.offset + view.bytes <= workspace.bytes());
      RC_ASSERT(view.generation == after.buffers);
    }
  }
  void show(std::ostream& out) const override {
    out << "get";
    for (const int64_t size : sizes) out << ' ' << size;
  }
};

struct Lock : Command {
  void apply(Reference& state) const override { state.locked = true; }
  void run(const Reference& before, WorkspaceModel& workspace) const override {
    workspace.lock();
    expect_same_state({before.bytes, before.buffers, true}, workspace);
  }
  void show(std::ostream& out) const override { out << "lock"; }
};

struct Unlock : Command {
  void apply(Reference& state) const override { state.locked = false; }
  void run(const Reference& before, WorkspaceModel& workspace) const override {
    workspace.unlock();
    expect_same_state({before.bytes, before.buffers, false}, workspace);
  }
  void show(std::ostream& out) const override { out << "unlock"; }
};

TEST(WorkspacePrograms, DoWhatTheReferenceDoes) {
  static constexpr int kCommandsMax = 12;  // one more than the size that is asked for
  seen = {};
  EXPECT_TRUE(rc::check("get, lock and unlock in any order", [] {
    const auto commands = *rc::gen::resize(
        kCommandsMax - 1,
        rc::state::gen::commands(Reference{},
                                 rc::state::gen::execOneOfWithArgs<Get, Get, Lock, Unlock>()));
    RC_ASSERT(std::ssize(commands) <= kCommandsMax);
    WorkspaceModel workspace;
    rc::state::runAll(commands, Reference{}, workspace);
  }));
  EXPECT_GT(seen.growths, 10);
  EXPECT_GT(seen.refusals, 10);
  EXPECT_GT(seen.reuses, 10);
}

}  // namespace
}  // namespace exactk::oracle
