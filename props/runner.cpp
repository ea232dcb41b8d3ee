#include "props/runner.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "fixtures/materialize.h"
#include "oracle/topk_contract.h"
#include "props/declared.h"
#include "props/kernel_call.h"
#include "props/launch_session.h"
#include "props/operation.h"

namespace exactk::props {
namespace {

using fixtures::Case;
using fixtures::LaunchMode;
using oracle::Verdict;

constexpr int kVariants = 2;  // poisons under which every case is run

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
  for (int64_t step = 0; step <= run.c.replays; ++step) {
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
  const std::unique_ptr<Call> call = run.operation->call(nullptr);
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
  const auto workspace = ask_workspace_bytes(*run.kernel.kernel, call->descriptor());
  if (!workspace) return decide(run, Verdict::kFailed, workspace.error()), false;
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

struct LaunchId {
  int64_t step;
  int variant;
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
bool judge(Run& run, LaunchId id, const LaunchSession& session,
           const std::shared_ptr<const StepInputs>& inputs, const LaunchResult& result,
           const std::vector<Bytes>& before) {
  const Launched launched{
      id.step, id.variant,           inputs,        inputs_of(run, 0), result.outputs,
      before,  result.row_checksums, session.call()};
  run.options.launched(launched);
  Findings found = run.operation->judge(launched);
  run.options.alive();
  count(run, found, session.graph_nodes());
  if (!result.damage.empty()) run.outcome.faults.add(oracle::FaultKind::kGuardBroken);
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
  if (!result.damage.empty()) {
    decide(run, Verdict::kFailed, result.damage);
    return false;
  }
  if (std::string difference = graph_difference(run, session.graph_nodes()); !difference.empty()) {
    decide(run, Verdict::kFailed, std::move(difference));
    return false;
  }
  return true;
}

bool same_bytes(Run& run, const std::vector<Bytes>& a, const std::vector<Bytes>& b,
                std::string_view what) {
  const std::string difference = run.operation->difference(a, b);
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

std::vector<Bytes> poison_of(const Run& run, LaunchId id) {
  std::vector<Bytes> before;
  for (size_t i = 0; i < run.operation->tensors().size(); ++i) {
    const TensorSpec& tensor = run.operation->tensors()[i];
    const bool output = tensor.role == Role::kOutput && tensor.bytes > 0;
    before.push_back(output ? run.operation->poison(id.step, id.variant, i) : Bytes{});
  }
  return before;
}

std::vector<std::byte> workspace_of(const Run& run, LaunchId id, int64_t bytes) {
  std::vector<std::byte> workspace(static_cast<size_t>(bytes));
  fixtures::workspace_fill(run.c, id.step, id.variant, workspace);
  return workspace;
}

// One launch: fed, done, judged. The result, or nothing if the case is decided.
std::optional<LaunchResult> launch(Run& run, LaunchSession& session, LaunchId id,
                                   const std::vector<std::byte>& workspace) {
  run.outcome.last_step = id.step;
  const std::shared_ptr<const StepInputs> inputs = inputs_of(run, id.step);
  const std::vector<Bytes> before = poison_of(run, id);
  if (auto r = session.feed(*inputs, before, workspace); !r) {
    decide(run, Verdict::kFailed, r.error());
    return std::nullopt;
  }
  auto result = session.launch(*inputs);
  if (!result) {
    decide(run, Verdict::kFailed, result.error());
    return std::nullopt;
  }
  if (!judge(run, id, session, inputs, *result, before)) return std::nullopt;
  return std::move(*result);
}

bool run_step(Run& run, LaunchSession& session, LaunchId id) {
  const Case& c = run.c;
  // Under the case's own poison the workspace keeps what the launch before left in it, as in a
  // serving loop; under the other one it is filled anew before every launch.
  const bool refill = id.step == 0 || id.variant == 1;
  const auto workspace = workspace_of(run, id, refill ? session.workspace_bytes() : 0);
  for (int64_t repeat = 0; repeat < c.repeats; ++repeat) {
    // Repeats differ in nothing but the order in which the host device runs them.
    if (c.repeats > 1 && !configure_host(run, c.schedule + static_cast<uint64_t>(repeat)))
      return false;
    auto result = launch(run, session, id, workspace);
    if (!result) return false;
    const size_t step = static_cast<size_t>(id.step);
    if (id.variant == 0 && repeat == 0) {
      run.first_outputs.push_back(std::move(result->outputs));
      continue;
    }
    if (repeat > 0 && promises_repeatable(run) &&
        !same_bytes(run, run.first_outputs[step], result->outputs,
                    "the same launch gives other bytes")) {
      return false;
    }
    if (repeat == 0 && (run.deterministic || promises_repeatable(run)) &&
        !same_bytes(run, run.first_outputs[step], result->outputs,
                    "the answer depends on what output or workspace held before, so something "
                    "undefined is read")) {
      return false;
    }
  }
  return true;
}

// The session of a launch mode, or nothing if the case is decided.
std::unique_ptr<LaunchSession> open_session(Run& run, LaunchMode mode) {
  if (!configure_host(run, run.c.schedule)) return nullptr;
  auto session = LaunchSession::open(run.device, *run.operation, mode, *inputs_of(run, 0),
                                     run.options.logits_from);
  if (session) return std::move(*session);
  decide(run, Verdict::kSkipped, session.error());
  return nullptr;
}

bool run_variant(Run& run, int variant) {
  const std::unique_ptr<LaunchSession> session = open_session(run, run.c.launch);
  if (!session) return false;
  for (int64_t step = 0; step <= run.c.replays; ++step) {
    if (!run_step(run, *session, {step, variant})) return false;
  }
  return true;
}

// The first launch again in the other two launch modes: a kernel that promises the same bytes gives
// them directly, on another stream and from a graph.
bool compare_launch_modes(Run& run) {
  if (!promises_repeatable(run)) return true;
  for (const LaunchMode mode : {LaunchMode::kDirect, LaunchMode::kStream, LaunchMode::kGraph}) {
    if (mode == run.c.launch) continue;
    const std::unique_ptr<LaunchSession> session = open_session(run, mode);
    if (!session) return false;
    const LaunchId first{0, 0};
    const auto result =
        launch(run, *session, first, workspace_of(run, first, session->workspace_bytes()));
    if (!result) return false;
    const std::string what = fmt::format("launch mode {} gives other bytes than {}",
                                         fixtures::name(mode), fixtures::name(run.c.launch));
    if (!same_bytes(run, run.first_outputs[0], result->outputs, what)) return false;
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
          nullptr, {},     0};
  if (admit(run)) {
    bool held = true;
    for (int variant = 0; held && variant < kVariants; ++variant) held = run_variant(run, variant);
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
