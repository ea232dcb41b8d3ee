// Programs of metadata steps as programs of rc::state: commands whose preconditions keep the rules
// of props/mla_program.h, and builds that change the batch before as serving engines change it.
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <algorithm>

#include "props/mla_generator.h"

namespace exactk::props {
namespace {

using Requests = std::vector<MlaRequest>;

// What preconditions and batches need to know.
struct Model {
  MlaProgram limits;  // without commands
  MlaState state;
  Requests last;
};

// Whatever the size that the commands are drawn at: inRange() stays near its start at a small one.
int64_t below(int64_t count) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<int64_t>(0, count));
}

bool chance(int64_t percent) {
  return below(100) < percent;
}

template <class T>
T one_of(const std::vector<T>& values) {
  return values[static_cast<size_t>(below(std::ssize(values)))];
}

// On both sides of k, of the query's own length, and of a unit of the planner.
MlaRequest any_request(const MlaProgram& limits) {
  const int64_t k = limits.k;
  const auto query = one_of<int64_t>({1, 1, 1, 2, 3, 4, k, k + 1});
  const auto seq = one_of<int64_t>({0, 1, query - 1, query, query + 1, k - 1, k, k + 1,
                                    k + query - 2, k + query - 1, k + query, 17, 100, 1000});
  return {static_cast<int32_t>(query), static_cast<int32_t>(std::max<int64_t>(seq, 0))};
}

Requests any_batch(const MlaProgram& limits) {
  Requests requests(static_cast<size_t>(below(5)));
  for (MlaRequest& request : requests) request = any_request(limits);
  return requests;
}

// Padded up to a number of tokens, as for a graph.
void pad(Requests& requests, int64_t tokens) {
  int64_t has = 0;
  for (const MlaRequest& request : requests) has += request.query_len;
  for (; has < tokens; ++has) requests.push_back({1, 0});
}

// All but the last of the requests in one, of as many tokens: other requests of the same lengths,
// where they reach k.
void join(Requests& requests) {
  int32_t query = 0;
  for (const MlaRequest& request : requests) query += request.query_len;
  requests = {
      {query, static_cast<int32_t>(requests.empty() ? 0 : requests.back().seq_len + query)}};
}

// The batch of the next step.
Requests changed(const Model& model) {
  Requests requests = model.last;
  switch (below(13)) {
    case 0:  // the same again
      break;
    case 1:  // a decode step, or the next chunk of each query
    case 2:
      for (MlaRequest& request : requests) request.seq_len += request.query_len;
      break;
    case 3:  // the query lengths in another order
    case 10:
      if (requests.size() > 1) std::swap(requests.front().query_len, requests.back().query_len);
      break;
    case 4:  // grows
      requests.push_back(any_request(model.limits));
      break;
    case 5:  // shrinks
      if (!requests.empty()) requests.pop_back();
      break;
    case 6:  // shrinks, and is padded up to the captured number of tokens
      if (!requests.empty()) requests.erase(requests.begin());
      pad(requests, model.state.captured_tokens);
      break;
    case 7:  // chunks that go on far behind
      for (MlaRequest& request : requests) request.seq_len += 100;
      break;
    case 8:  // one length alone
      if (!requests.empty())
        requests[static_cast<size_t>(below(std::ssize(requests)))] = any_request(model.limits);
      break;
    case 9:
      join(requests);
      break;
    default:
      return any_batch(model.limits);
  }
  return requests;
}

// Without the last requests, as far as there are too many of them or of their tokens.
void fit(Requests& requests, const MlaProgram& limits) {
  int64_t tokens = 0;
  size_t count = 0;
  for (MlaRequest& request : requests) {
    request.seq_len = std::min<int32_t>(request.seq_len, kMlaSeqLenMax);
    tokens += request.query_len;
    if (tokens > limits.tokens || std::cmp_equal(count, limits.tokens)) break;
    ++count;
  }
  requests.resize(count);
}

using Command = rc::state::Command<Model, std::vector<MlaCommand>>;

struct Act : Command {
  MlaCommand command;

  explicit Act(const Model& model) {
    command.action =
        one_of<MlaAction>({MlaAction::kBuild, MlaAction::kBuild, MlaAction::kBuild,
                           MlaAction::kBuild, MlaAction::kRun, MlaAction::kHeads,
                           MlaAction::kCapture, MlaAction::kReplay, MlaAction::kReplay});
    if (command.action == MlaAction::kHeads) command.value = one_of<int64_t>({1, 16, 17, 32, 128});
    if (command.action != MlaAction::kBuild) return;
    command.requests = changed(model);
    fit(command.requests, model.limits);
    command.host = one_of<HostKnows>({HostKnows::kExact, HostKnows::kExact, HostKnows::kExact,
                                      HostKnows::kNone, HostKnows::kBound, HostKnows::kStale});
    if (command.host == HostKnows::kBound) command.value = one_of<int64_t>({0, 1, 2, 8});
  }

  void checkPreconditions(const Model& model) const override {
    RC_PRE(problem_of(model.limits, model.state, command).empty());
  }
  void apply(Model& model) const override {
    advance(model.state, command);
    if (command.action == MlaAction::kBuild) model.last = command.requests;
  }
  void run(const Model&, std::vector<MlaCommand>& commands) const override {
    commands.push_back(command);
  }
};

MlaProgram draw_program() {
  MlaProgram program;
  program.k = one_of<int64_t>({1, 2, 4, 4, 8, 15, 16, 17, 40, 64});
  program.tokens = one_of<int64_t>({2, 4, 8, 8, 16, 16, 33});
  if (chance(2)) program.tokens = 300;  // more than the planner takes in one round
  program.workers = one_of<int64_t>({1, 2, 3, 4, 8, 8, 20, 80});
  program.heads = one_of<int64_t>({1, 16, 16, 17, 32, 128});
  if (chance(50)) program.schedule = static_cast<uint64_t>(1 + below(1000000));
  // RapidCheck draws up to one command more than the size that it is given.
  const Model model{program, first_state(program), {}};
  const auto commands =
      *rc::gen::resize(static_cast<int>(kMlaCommandsMax) - 1,
                       rc::state::gen::commands(model, rc::state::gen::execOneOfWithArgs<Act>()));
  rc::state::runAll(commands, model, program.commands);
  return program;
}

bool sees_a_key(const MlaProgram& program) {
  for (const MlaCommand& command : program.commands) {
    for (const MlaRequest& request : command.requests) {
      if (request.query_len > 0 && request.seq_len > 0) return true;
    }
  }
  return false;
}

}  // namespace

MlaProgram random_mla_program(uint64_t seed, uint64_t index) {
  // A draw without a build is followed by the next one of the same program.
  for (uint64_t draw = 0;; ++draw) {
    const rc::Random random(rc::Random::Key{seed, index, draw, 0});
    const auto any = rc::gen::exec([] { return draw_program(); });
    MlaProgram program = any(random, rc::kNominalSize).value();
    if (sees_a_key(program)) return program;
  }
}

}  // namespace exactk::props
