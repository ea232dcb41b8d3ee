// Operations that share one workspace, as the layers of a serving step do: whatever the others left
// in its bytes, each result is the one of the contract. The program is a sequence of operations
// whose outputs and scratch are views of one buffer; nothing is cleared in between.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <array>
#include <optional>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "kernels/device/workspace.h"
#include "oracle/combine_indices.h"
#include "oracle/workspace_plan.h"
#include "props/operation.h"

namespace exactk::tests {
namespace {

using props::Bytes;
using props::Role;
using props::TensorSpec;

struct Step {
  const char* line;
  const char* kernel;
};

// Long and short rows, wide and narrow ones, of every kernel with a workspace or an output that a
// caller supplies.
constexpr std::array<Step, 8> kSteps = {{
    {"topk.decode rows=4 width=3000 k=512 lens=const:3000 pattern=normal "
     "tune=split_width:1000,radix_width:500",
     "topk.split_merge"},
    {"topk.decode rows=3 width=300 k=8 lens=list:0:5:300", "topk.stable"},
    {"index.combine requests=2 query_lens=const:5 lens=const:200 context=200 k=64 window=96",
     "combine.fused"},
    {"index.combine requests=3 query_lens=list:1:0:2 lens=list:9:2:30 context=100 k=16 window=32 "
     "extra=2 skip=1",
     "combine.fused"},
    {"index.combine variant=ragged requests=2 query_lens=const:5 lens=const:200 context=200 k=64 "
     "window=96",
     "combine.fused"},
    {"index.translate variant=ragged requests=2 query_lens=const:6 lens=const:90 context=100 k=33 "
     "slots=int64",
     "translate.rows"},
    {"index.translate variant=compact requests=2 query_lens=const:2 lens=const:90 context=100 "
     "k=200 "
     "indices=interior:300",
     "translate.rows"},
    {"chain.decode rows=3 width=500 k=16 lens=list:10:500:70", "chain.decode_auto"},
}};

std::unique_ptr<props::Operation> operation_of(const Step& step) {
  return props::make_operation(*fixtures::parse_case(step.line),
                               props::select_kernels("host", step.kernel)->front());
}

// Views in the order of the tensors, then the kernel's own scratch.
std::vector<int64_t> sizes_of(const props::Operation& operation) {
  std::vector<int64_t> sizes;
  for (const TensorSpec& tensor : operation.tensors()) sizes.push_back(tensor.bytes);
  sizes.push_back(
      operation.kernel().kernel->workspace_bytes(operation.call(std::nullopt)->descriptor()));
  return sizes;
}

// Runs the step in views of the workspace and judges it; empty: right. The outputs are not
// poisoned: they hold what stood there.
std::string run_step(kernels::Device& device, kernels::Workspace& workspace, const Step& step) {
  const auto operation = operation_of(step);
  const std::vector<TensorSpec>& tensors = operation->tensors();
  const auto views = workspace.get_simultaneous(sizes_of(*operation));
  if (!views) return "no room: " + views.error();
  const auto inputs = operation->make_inputs(0, props::LogitsFrom::kHost);
  std::vector<Bytes> before(tensors.size()), after(tensors.size());
  props::Placement at;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::byte* view = (*views)[i];
    at.tensors.push_back(tensors[i].bytes > 0 ? view : nullptr);
    if (tensors[i].bytes == 0) continue;
    if (tensors[i].role == Role::kInput) {
      EXPECT_TRUE(device.upload(view, inputs->bytes(i).data(), tensors[i].bytes));
      continue;
    }
    before[i].resize(static_cast<size_t>(tensors[i].bytes));
    EXPECT_TRUE(device.download(before[i].data(), view, tensors[i].bytes));
  }
  at.workspace = views->back();
  at.workspace_bytes = sizes_of(*operation).back();
  at.stream = device.stream(0);
  const auto call = operation->call(0);
  call->place(at);
  std::array<char, 256> message{};
  const exactk_status status =
      operation->kernel().kernel->launch(call->descriptor(), message.data(), message.size());
  if (status != EXACTK_OK) return message.data();
  if (auto r = device.synchronize(at.stream); !r) return r.error();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (before[i].empty()) continue;
    after[i].resize(before[i].size());
    EXPECT_TRUE(device.download(after[i].data(), (*views)[i], tensors[i].bytes));
  }
  return operation->judge({0, 0, inputs, false, inputs, after, before, {}, *call}).why;
}

struct Session {
  std::unique_ptr<kernels::Device> device = std::move(*kernels::open_device("host"));
  kernels::Workspace workspace{*device};
};

using oracle::WorkspaceModel;
using Command = rc::state::Command<WorkspaceModel, Session>;

struct Launch : Command {
  size_t step = *rc::gen::inRange<size_t>(0, kSteps.size());

  void apply(WorkspaceModel& model) const override {
    static_cast<void>(model.get_simultaneous(sizes_of(*operation_of(kSteps[step]))));
  }
  void run(const WorkspaceModel& before, Session& session) const override {
    WorkspaceModel after = before;
    const bool fits = after.get_simultaneous(sizes_of(*operation_of(kSteps[step]))).has_value();
    const std::string why = run_step(*session.device, session.workspace, kSteps[step]);
    if (fits ? !why.empty() : !why.starts_with("no room")) RC_FAIL(why);
  }
  void show(std::ostream& out) const override {
    out << kSteps[step].kernel << " '" << kSteps[step].line << "'";
  }
};

struct Lock : Command {
  void apply(WorkspaceModel& model) const override { model.lock(); }
  void run(const WorkspaceModel&, Session& session) const override { session.workspace.lock(); }
  void show(std::ostream& out) const override { out << "lock"; }
};

TEST(SharedWorkspace, NeverShowsInAResultWhatItHeldBefore) {
  constexpr int kCommandsMax = 12;
  EXPECT_TRUE(rc::check("operations in any order over one workspace", [] {
    const auto commands = *rc::gen::resize(
        kCommandsMax,
        rc::state::gen::commands(
            WorkspaceModel{}, rc::state::gen::execOneOfWithArgs<Launch, Launch, Launch, Lock>()));
    Session session;
    rc::state::runAll(commands, WorkspaceModel{}, session);
  }));
}

// The first step whose result is wrong, or -1.
int first_wrong(const std::vector<Step>& program) {
  Session session;
  for (size_t i = 0; i < program.size(); ++i) {
    if (!run_step(*session.device, session.workspace, program[i]).empty())
      return static_cast<int>(i);
  }
  return -1;
}

TEST(SharedWorkspace, ShowsAnUnwrittenTailAfterAnotherOperation) {
  const Step other = kSteps[0];
  EXPECT_EQ(-1, first_wrong({other, kSteps[2], kSteps[3]}));
  EXPECT_EQ(1, first_wrong({other, {kSteps[2].line, "mutant.combine_tail_kept"}}));
}

TEST(SharedWorkspace, ShowsACounterThatTheCallBeforeLeft) {
  const Step faulty{kSteps[5].line, "mutant.sum_not_reset"};
  EXPECT_NE(-1, first_wrong({faulty, faulty}));
  EXPECT_EQ(-1, first_wrong({kSteps[5], kSteps[5]}));
}

// Warm-up takes the widest index and length tensors in one call; then the lock, then every step.
TEST(SharedWorkspace, HoldsEveryCombineAfterTheWarmUpReservation) {
  Session session;
  const int64_t columns = oracle::combine_columns(512, 128, 0);
  const std::array<int64_t, 1> reserved = {oracle::combine_workspace_bytes(64, columns)};
  ASSERT_TRUE(session.workspace.get_simultaneous(reserved));
  session.workspace.lock();
  const auto views_of = [&](int64_t tokens, int64_t width) {
    return session.workspace.get_simultaneous(
        std::array<int64_t, 2>{tokens * width * 4, tokens * 4});
  };
  EXPECT_TRUE(views_of(64, columns));
  EXPECT_TRUE(views_of(1, columns));
  EXPECT_TRUE(views_of(64, 128));
  EXPECT_FALSE(views_of(65, columns));
}

}  // namespace
}  // namespace exactk::tests
