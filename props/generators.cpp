#include "props/generators.h"

#include <rapidcheck.h>

#include "fixtures/lengths.h"
#include "fixtures/session.h"
#include "props/attention_problem.h"
#include "props/draws.h"
#include "props/index_problem.h"
#include "props/router_problem.h"

namespace exactk::props {
namespace {

using namespace fixtures;

bool any_row(const Case& c) {
  for (int64_t step = 0; step < launch_count(c); ++step) {
    for (const int64_t length : row_lengths(c, step)) {
      if (length > 0) return true;
    }
  }
  return false;
}

bool any_token(const Case& c) {
  return anything_at_stake(index_problem(c));
}

// How an operation's cases are drawn, and how often where all are.
struct Drawn {
  Op op;
  int weight;
  Case (*draw)(Op op, const DrawLimits& limits);
  bool (*at_stake)(const Case& c);
};
constexpr Drawn kDrawn[] = {
    {Op::kTopkDecode, 6, draw_topk, any_row},
    {Op::kTopkPrefill, 2, draw_topk, any_row},
    {Op::kCombine, 3, draw_requests, any_token},
    {Op::kTranslate, 3, draw_requests, any_token},
    {Op::kSwa, 1, draw_requests, any_token},
    {Op::kChainDecode, 2, draw_topk, any_row},
    {Op::kChainPrefill, 2, draw_requests, any_row},
    {Op::kSparsePrefill, 1, draw_attention, attention_at_stake},
    {Op::kSparseDecode, 2, draw_attention, attention_at_stake},
    {Op::kRouter, 2, draw_router, any_choice_at_stake},
    {Op::kMqaLogits, 2, draw_mqa, any_row},
    {Op::kMqaPaged, 3, draw_mqa, any_row},
    {Op::kDecodeStep, 2, draw_step, any_row},
};

bool is_wanted(const DrawLimits& limits, Op op) {
  return limits.ops.empty() ||
         std::find(limits.ops.begin(), limits.ops.end(), op) != limits.ops.end();
}

const Drawn& draw_op(const DrawLimits& limits) {
  std::vector<const Drawn*> hat;
  for (const Drawn& drawn : kDrawn) {
    if (is_wanted(limits, drawn.op))
      hat.insert(hat.end(), static_cast<size_t>(drawn.weight), &drawn);
  }
  return *hat[static_cast<size_t>(*rc::gen::inRange<int64_t>(0, std::ssize(hat)))];
}

}  // namespace

bool anything_at_stake(const Case& c) {
  for (const Drawn& drawn : kDrawn) {
    if (drawn.op == c.op) return drawn.at_stake(c);
  }
  return true;
}

uint64_t draw_seed() {
  return *rc::gen::inRange<uint64_t>(1, 1000000000);
}

void draw_tail(Case& c) {
  c.tail = static_cast<Tail>(*rc::gen::inRange(0, static_cast<int>(Tail::kLose) + 1));
}

void draw_launch(Case& c, const DrawLimits& limits) {
  c.poison = static_cast<Poison>(*rc::gen::inRange(0, static_cast<int>(Poison::kStale) + 1));
  c.workspace = static_cast<WorkspaceState>(
      *rc::gen::inRange(0, static_cast<int>(WorkspaceState::kOnes) + 1));
  c.launch = *rc::gen::weightedElement<LaunchMode>(
      {{3, LaunchMode::kDirect}, {2, LaunchMode::kStream}, {3, LaunchMode::kGraph}});
  c.replays = *rc::gen::inRange<int64_t>(0, limits.launches_max);
  c.change = static_cast<uint32_t>(
      *rc::gen::weightedOneOf<int>({{2, rc::gen::just(static_cast<int>(kChangeAll))},
                                    {1, rc::gen::inRange(0, static_cast<int>(kChangeAll) + 1)}}));
  c.schedule = *rc::gen::weightedOneOf<uint64_t>(
      {{1, rc::gen::just<uint64_t>(0)}, {2, rc::gen::inRange<uint64_t>(1, 1000000)}});
  c.repeats = *rc::gen::weightedElement<int64_t>({{5, 1}, {1, 2}});
  if (*rc::gen::weightedElement<bool>({{4, false}, {1, true}})) {
    c.session = draw_session();
    for (const std::string_view key : {"launch", "replays", "change", "repeats"})
      c = with_default(c, key);
  }
}

Case draw_case(uint64_t seed, int64_t index, const DrawLimits& limits) {
  // Under full nominal size: smaller sizes would keep draws away from the upper edges.
  const rc::Random random(rc::Random::Key{seed, static_cast<uint64_t>(index), 0, 0});
  const auto any_case = rc::gen::exec([limits] {
    const Drawn& drawn = draw_op(limits);
    return drawn.draw(drawn.op, limits);
  });
  return any_case(random, rc::kNominalSize).value();
}

}  // namespace exactk::props
