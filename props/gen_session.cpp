// Sessions as programs of rc::state: commands whose preconditions keep the rules of
// fixtures/session.h, written into a case as its text.
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include "props/draws.h"

namespace exactk::props {
namespace {

using namespace fixtures;

constexpr int kCommandsMax = 12;

// What the preconditions need to know.
struct Model {
  bool on_created_stream = false;
  bool captured = false;
};

// Whatever the size that the commands are drawn at: inRange() stays near its start at a small one.
int any_below(int count) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, count));
}

using Command = rc::state::Command<Model, Session>;

struct Act : Command {
  Action action;
  Act() {
    const auto kind = *rc::gen::weightedElement<ActionKind>({{2, ActionKind::kLens},
                                                             {1, ActionKind::kMask},
                                                             {1, ActionKind::kData},
                                                             {1, ActionKind::kPoison},
                                                             {1, ActionKind::kTail},
                                                             {1, ActionKind::kTable},
                                                             {1, ActionKind::kDirty},
                                                             {2, ActionKind::kStream},
                                                             {3, ActionKind::kLaunch},
                                                             {2, ActionKind::kCapture},
                                                             {4, ActionKind::kReplay},
                                                             {1, ActionKind::kRun}});
    action.kind = kind;
    if (kind == ActionKind::kStream) action.value = any_below(3);
    if (kind == ActionKind::kRun) action.value = any_below(static_cast<int>(Op::kDecodeStep) + 1);
  }

  void checkPreconditions(const Model& model) const override {
    RC_PRE(action.kind != ActionKind::kCapture || model.on_created_stream);
    RC_PRE(action.kind != ActionKind::kReplay || model.captured);
  }

  void apply(Model& model) const override {
    if (action.kind == ActionKind::kStream) model.on_created_stream = action.value > 0;
    if (action.kind == ActionKind::kCapture) model.captured = true;
  }

  void run(const Model&, Session& session) const override {
    session.actions[static_cast<size_t>(session.count++)] = action;
  }
};

}  // namespace

Session draw_session() {
  // RapidCheck draws up to one command more than the size that it is given.
  const auto commands =
      *rc::gen::resize(kCommandsMax - 2,
                       rc::state::gen::commands(Model{}, rc::state::gen::execOneOfWithArgs<Act>()));
  Session session;
  rc::state::runAll(commands, Model{}, session);
  // The last word is a launch, so that every change before it shows.
  session.actions[static_cast<size_t>(session.count++)] = {ActionKind::kLaunch, 0};
  return session;
}

}  // namespace exactk::props
