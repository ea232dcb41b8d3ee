#include "props/runner.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "fixtures/materialize.h"
#include "fixtures/session.h"
#include "oracle/topk_contract.h"
#include "props/declared.h"
#include "props/kernel_call.h"
#include "props/launch_session.h"
#include "props/operation.h"

namespace exactk::props {
namespace {

using fixtures::ActionKind;
using fixtures::Case;
using fixtures::LaunchMode;
using oracle::Verdict;

constexpr int kVariants = 2;  // poisons under which every case is run

bool has(const Trial& trial, Ingredient ingredient) {
  return (trial.without & ingredient) == 0;
}

// Everything of one run that the steps below share.
struct Run {
  const Case& c;
  const KernelUnderTest& kernel;
  kernels::Device& device;
  InputCache& cache;
  const RunnerOptions& options;
  Outcome& outcome;
  bool deterministic;  // the device gives the same bytes again: a difference proves an undefined
                       // read
  std::unique_ptr<Operation> operation;
  // Outputs under variant 0, by step, for the poison differential.
  std::vector<std::vector<Bytes>> first_outputs;
  int64_t rows_selected = 0;
  int64_t workspace_bytes = 0;
};

void decide(Run& run, Verdict verdict, std::string reason) {
  run.outcome.verdict = verdict;
  run.outcome.reason = std::move(reason);
}

std::shared_ptr<const StepInputs> inputs_of(const Run& run, int64_t step) {
  return run.cache.get(*run.operation, step, run.options.logits_from);
}

bool promises_repeatable(const Run& run) {
  return (run.outcome.promised & oracle::kRepeatable) != 0;
}

// Whether a launch of the case holds NaN that the kernel declares not to take.
bool holds_untaken_nan(const Run& run) {
  if (run.kernel.kernel->nan_policy != EXACTK_NAN_NOT_TAKEN) return false;
  for (int64_t step = 0; step < fixtures::launch_count(run.c); ++step) {
    if (run.operation->holds_nan(*inputs_of(run, step))) return true;
  }
  return false;
}

// Whether the case can be run at all; sets the verdict if not.
bool admit(Run& run) {
  if (const fixtures::Error error = fixtures::validate(run.c); !error.empty()) {
    decide(run, Verdict::kInvalid, error);
    return false;
  }
  if (run.kernel.kernel->op != fixtures::name(run.c.op)) {
    decide(run, Verdict::kSkipped, fmt::format("is a kernel of {}", run.kernel.kernel->op));
    return false;
  }
  run.operation = make_operation(run.c, run.kernel);
  if (std::string why = beyond_limits(run.kernel.kernel->limits, run.c); !why.empty())
    return decide(run, Verdict::kSkipped, std::move(why)), false;
  const std::unique_ptr<Call> call = run.operation->call(std::nullopt);
  const auto asked = ask_supports(*run.kernel.kernel, call->descriptor());
  if (!asked) return decide(run, Verdict::kFailed, asked.error()), false;
  const auto& [status, said] = *asked;
  const bool expected = run.operation->policy_takes();
  if (status != EXACTK_OK && run.kernel.method && expected) {
    decide(run, Verdict::kUnsupported,
           fmt::format("the published policy takes this shape; the kernel says: {}", said));
    return false;
  }
  if (status != EXACTK_OK && said.empty()) {
    decide(run, Verdict::kUnsupported, "the kernel declines the case without a reason");
    return false;
  }
  if (status != EXACTK_OK) {
    decide(run, Verdict::kSkipped, said);
    return false;
  }
  if (!expected) {
    decide(run, Verdict::kFailed, "the kernel takes a shape that its policy declines");
    return false;
  }
  const auto workspace = workspace_bytes(*run.operation);
  if (!workspace) return decide(run, Verdict::kFailed, workspace.error()), false;
  run.workspace_bytes = *workspace;
  // The host device lives in the host's memory, beside the host's own copies: the inputs, and each
  // output before the launch, after it, and under the first poison.
  const bool shared_memory = run.device.info().kind == "host";
  int64_t need = device_bytes(*run.operation, *workspace);
  for (const TensorSpec& tensor : run.operation->tensors()) {
    if (shared_memory) need += tensor.bytes * (tensor.role == Role::kInput ? 1 : 4);
  }
  const int64_t free = run.device.info().memory_free_bytes;
  if (need > free) {
    decide(run, Verdict::kSkipped,
           fmt::format("needs {}, {} free", bytes_text(need), bytes_text(free)));
    return false;
  }
  if (holds_untaken_nan(run)) {
    decide(run, Verdict::kSkipped, "takes no NaN among the logits in view; got some");
    return false;
  }
  return true;
}

// What a captured launch consists of, against the promise that it is kernels alone. An empty text:
// kept, or not promised, or not captured.
std::string graph_difference(const Run& run, const kernels::Device::GraphNodes& nodes) {
  const bool promised = (run.outcome.promised & oracle::kKernelsOnly) != 0;
  if (!promised || nodes.all() == nodes.kernels) return "";
  return fmt::format(
      "the captured graph holds {} memset and {} memcpy nodes and {} of other kinds; kernels alone "
      "are promised",
      nodes.memsets, nodes.memcpys, nodes.others);
}

// How far the actions of the case have come under one of its poisons.
struct Course {
  LaunchSession& session;
  int variant = 0;
  int64_t launch = 0;  // the next one
  int stream = 0;
  bool refill = true;       // the workspace, before the next launch
  int64_t captured_at = 0;  // the launch that captured the graph
};

void count(Run& run, const Findings& found, const kernels::Device::GraphNodes& nodes) {
  Outcome& outcome = run.outcome;
  ++outcome.launches;
  outcome.rows_judged += found.rows;
  outcome.rows_cut += found.rows_cut;
  outcome.elements += found.elements;
  outcome.path = found.path;
  run.rows_selected += found.rows_selected;
  if (nodes.all() > 0) {
    outcome.graph = fmt::format("{} kernels, {} memsets, {} memcpys", nodes.kernels, nodes.memsets,
                                nodes.memcpys);
  }
}

// Judges one launch; false if the case is decided.
bool judge(Run& run, const Course& at, ActionKind how,
           const std::shared_ptr<const StepInputs>& inputs, const LaunchResult& result,
           const std::vector<Bytes>& before) {
  const LaunchSession& session = at.session;
  const bool replayed = how != ActionKind::kLaunch;
  const Launched launched{at.launch,
                          at.variant,
                          inputs,
                          replayed,
                          inputs_of(run, replayed ? at.captured_at : 0),
                          result.outputs,
                          before,
                          result.row_checksums,
                          session.last_call()};
  run.options.launched(launched);
  Findings found = run.operation->judge(launched);
  const Trial& trial = run.options.trial;
  if (trial.judge != Judge::kExact && !found.ok() &&
      run.operation->loosely_right(trial.judge, launched, found))
    found.why = "";
  run.options.alive();
  count(run, found, session.graph_nodes());
  const bool guarded = has(trial, kGuards);
  if (guarded && !result.damage.empty()) run.outcome.faults.add(oracle::FaultKind::kGuardBroken);
  // A kernel that writes around its buffers is wrong whatever stands in them, and the slots say
  // more about why.
  if (!found.ok()) {
    run.outcome.diagnosis = found.why;
    run.outcome.anatomy = std::move(found.anatomy);
    run.outcome.broke = std::move(found.broke);
    run.outcome.faults.merge(found.faults);
    if (found.failing_rows.size() > kRowsNamed) found.failing_rows.resize(kRowsNamed);
    run.outcome.failing_rows = std::move(found.failing_rows);
    decide(run, Verdict::kFailed, std::move(found.why));
    return false;
  }
  if (guarded && !result.damage.empty()) {
    decide(run, Verdict::kFailed, result.damage);
    return false;
  }
  if (std::string difference = graph_difference(run, session.graph_nodes());
      has(trial, kLaunchModes) && !difference.empty()) {
    decide(run, Verdict::kFailed, std::move(difference));
    return false;
  }
  return true;
}

// Of launch `step` against the first time that it was done.
bool same_bytes(Run& run, size_t step, const std::vector<Bytes>& again, std::string_view what) {
  const std::string difference =
      run.operation->launch_difference(static_cast<int64_t>(step), run.first_outputs[step], again);
  if (difference.empty()) return true;
  run.outcome.faults.add(oracle::FaultKind::kUnstable);
  decide(run, Verdict::kFailed, fmt::format("{}: {}", what, difference));
  return false;
}

bool configure_host(Run& run, uint64_t schedule_seed) {
  if (run.device.info().kind != "host") return true;
  const kernels::HostOptions host{run.options.wave_width, schedule_seed, run.options.workers};
  if (auto r = run.device.configure(host); !r)
    return decide(run, Verdict::kFailed, r.error()), false;
  return true;
}

std::vector<Bytes> poison_of(const Operation& operation, int64_t launch, int variant) {
  std::vector<Bytes> before;
  for (size_t i = 0; i < operation.tensors().size(); ++i) {
    const TensorSpec& tensor = operation.tensors()[i];
    const bool output = tensor.role == Role::kOutput && tensor.bytes > 0;
    before.push_back(output ? operation.poison(launch, variant, i) : Bytes{});
  }
  return before;
}

std::vector<std::byte> workspace_of(const Case& c, int64_t launch, int variant, int64_t bytes) {
  std::vector<std::byte> workspace(static_cast<size_t>(bytes));
  fixtures::workspace_fill(c, launch, variant, workspace);
  return workspace;
}

kernels::Result<LaunchResult> launch_by(LaunchSession& session, ActionKind how, int stream,
                                        int64_t known, const StepInputs& fed) {
  if (how == ActionKind::kReplay) return session.replay(stream, fed);
  return how == ActionKind::kCapture ? session.capture(stream, known, fed)
                                     : session.call(stream, known, fed);
}

// One launch: fed, done, judged. The result, or nothing if the case is decided.
std::optional<LaunchResult> launch(Run& run, Course& at, ActionKind how,
                                   const std::vector<std::byte>& workspace) {
  run.outcome.last_step = at.launch;
  const std::shared_ptr<const StepInputs> inputs = inputs_of(run, at.launch);
  const std::vector<Bytes> before = poison_of(*run.operation, at.launch, at.variant);
  if (auto r = at.session.feed(*inputs, before, workspace, at.stream); !r) {
    decide(run, Verdict::kFailed, r.error());
    return std::nullopt;
  }
  if (how == ActionKind::kCapture) at.captured_at = at.launch;
  auto result = launch_by(at.session, how, at.stream, at.launch, *inputs);
  if (!result) {
    decide(run, Verdict::kFailed, result.error());
    return std::nullopt;
  }
  if (!judge(run, at, how, inputs, *result, before)) return std::nullopt;
  return std::move(*result);
}

bool run_launch(Run& run, Course& at, ActionKind how) {
  const Case& c = run.c;
  // Under the case's own poison the workspace keeps what the launch before left in it, as in a
  // serving loop; under the other one it is filled anew before every launch.
  const bool refill = at.refill || at.variant == 1;
  const auto workspace =
      workspace_of(c, at.launch, at.variant, refill ? at.session.workspace_bytes() : 0);
  at.refill = false;
  for (int64_t repeat = 0; repeat < c.repeats; ++repeat) {
    // Repeats differ in nothing but the order in which the host device runs them.
    const bool ordered_anew = c.repeats > 1 && has(run.options.trial, kSchedule);
    if (ordered_anew && !configure_host(run, c.schedule + static_cast<uint64_t>(repeat)))
      return false;
    if (repeat > 0 && how == ActionKind::kCapture) how = ActionKind::kReplay;
    auto result = launch(run, at, how, workspace);
    if (!result) return false;
    const size_t step = static_cast<size_t>(at.launch);
    if (at.variant == 0 && repeat == 0) {
      run.first_outputs.push_back(std::move(result->outputs));
      continue;
    }
    if (repeat > 0 && promises_repeatable(run) &&
        !same_bytes(run, step, result->outputs, "the same launch gives other bytes")) {
      return false;
    }
    if (repeat == 0 && (run.deterministic || promises_repeatable(run)) &&
        !same_bytes(run, step, result->outputs,
                    "the answer depends on what output or workspace held before, so something "
                    "undefined is read")) {
      return false;
    }
  }
  ++at.launch;
  return true;
}

// The kernel of `run` where it is one of the operation, else the first shipped one.
std::optional<KernelUnderTest> kernel_of(const Run& run, fixtures::Op op) {
  if (op == run.c.op) return run.kernel;
  const auto shipped = select_kernels(run.device.info().kind, "*");
  if (!shipped) return std::nullopt;
  for (const KernelUnderTest& kernel : *shipped) {
    if (kernel.kernel->op == fixtures::name(op)) return kernel;
  }
  return std::nullopt;
}

// The plain case of another operation, or of the same one in another shape, in between: with
// buffers of its own, judged as well. Nothing happens where no kernel takes it.
bool run_between(Run& run, const Course& at, fixtures::Op op) {
  Case other = fixtures::default_case(op);
  other.seed = run.c.seed;
  const auto kernel = kernel_of(run, op);
  if (!kernel) return true;
  const std::unique_ptr<Operation> operation = make_operation(other, *kernel);
  const auto taken = ask_supports(*kernel->kernel, operation->call(0)->descriptor());
  if (taken && taken->status != EXACTK_OK) return true;
  const auto fail = [&](const std::string& why) {
    decide(run, Verdict::kFailed,
           fmt::format("{} in between, on '{}': {}", kernel->name(), fixtures::print_case(other),
                       why));
    return false;
  };
  if (!taken) return fail(taken.error());
  const auto bytes = workspace_bytes(*operation);
  if (!bytes) return fail(bytes.error());
  auto session = LaunchSession::open(run.device, *operation, *bytes, run.options.logits_from);
  if (!session) return decide(run, Verdict::kSkipped, session.error()), false;
  const auto inputs = run.cache.get(*operation, 0, run.options.logits_from);
  const std::vector<Bytes> before = poison_of(*operation, 0, at.variant);
  const auto workspace = workspace_of(other, 0, at.variant, (*session)->workspace_bytes());
  if (auto r = (*session)->feed(*inputs, before, workspace, at.stream); !r) return fail(r.error());
  const auto result = (*session)->call(at.stream, 0, *inputs);
  if (!result) return fail(result.error());
  const Findings found = operation->judge({0, at.variant, inputs, false, inputs, result->outputs,
                                           before, result->row_checksums, (*session)->last_call()});
  run.options.alive();
  run.outcome.faults.merge(found.faults);
  run.outcome.anatomy = found.anatomy;
  if (!found.ok()) return fail(found.why);
  return result->damage.empty() || fail(result->damage);
}

bool act(Run& run, Course& at, const fixtures::Action& action) {
  switch (action.kind) {
    case ActionKind::kStream:
      at.stream = action.value;
      return true;
    case ActionKind::kDirty:
      at.refill = true;
      return true;
    case ActionKind::kRun:
      return run_between(run, at, static_cast<fixtures::Op>(action.value));
    case ActionKind::kLaunch:
    case ActionKind::kCapture:
    case ActionKind::kReplay:
      return run_launch(run, at, action.kind);
    default:
      return true;  // what is new is counted by fixtures::version()
  }
}

// A session of the case's operation, or nothing if the case is decided.
std::unique_ptr<LaunchSession> open_session(Run& run) {
  if (!configure_host(run, run.c.schedule)) return nullptr;
  auto session =
      LaunchSession::open(run.device, *run.operation, run.workspace_bytes, run.options.logits_from);
  if (session) return std::move(*session);
  decide(run, Verdict::kSkipped, session.error());
  return nullptr;
}

bool run_variant(Run& run, int variant) {
  const std::unique_ptr<LaunchSession> session = open_session(run);
  if (!session) return false;
  Course at{*session, variant};
  for (const fixtures::Action& action : fixtures::actions(run.c)) {
    if (!act(run, at, action)) return false;
  }
  return true;
}

// The first launch again in the other launch modes: a kernel that promises the same bytes gives
// them directly, on another stream and from a graph.
bool compare_launch_modes(Run& run) {
  if (!promises_repeatable(run) || !has(run.options.trial, kLaunchModes)) return true;
  for (const LaunchMode mode : {LaunchMode::kDirect, LaunchMode::kStream, LaunchMode::kGraph}) {
    if (mode == run.c.launch && run.c.session.count == 0) continue;
    const std::unique_ptr<LaunchSession> session = open_session(run);
    if (!session) return false;
    Course at{*session};
    at.stream = mode == LaunchMode::kDirect ? 0 : 1;
    const auto result =
        launch(run, at, mode == LaunchMode::kGraph ? ActionKind::kCapture : ActionKind::kLaunch,
               workspace_of(run.c, 0, 0, session->workspace_bytes()));
    if (!result) return false;
    const std::string what =
        fmt::format("launch mode {} gives other bytes than the first launch", fixtures::name(mode));
    if (!same_bytes(run, 0, result->outputs, what)) return false;
  }
  return true;
}

}  // namespace

Outcome Runner::run(const Case& c, const KernelUnderTest& kernel, const RunnerOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.value = c;
  outcome.kernel = kernel.name();
  outcome.plugin = kernel.plugin;
  outcome.promised = kernel.kernel->modes;
  if (device_.info().kind == "host") {
    (void)device_.configure({options.wave_width, c.schedule, options.workers});
  }
  outcome.device = device_.info();
  Run run{c,       kernel, device_, inputs_, options, outcome, outcome.device.kind == "host",
          nullptr, {},     0,       0};
  if (admit(run)) {
    bool held = true;
    const int variants = has(options.trial, kPoisonDifferential) ? kVariants : 1;
    for (int variant = 0; held && variant < variants; ++variant) held = run_variant(run, variant);
    if (held) held = compare_launch_modes(run);
    if (held && run.rows_selected == 0) {
      decide(run, Verdict::kWeak,
             "no launch has an index to get right: rows are empty, tokens not valid");
    } else if (held) {
      outcome.verdict = Verdict::kPassed;
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  outcome.seconds = took.count();
  return outcome;
}

}  // namespace exactk::props
