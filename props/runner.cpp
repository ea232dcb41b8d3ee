#include "props/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "fixtures/materialize.h"
#include "oracle/dispatch_policy.h"
#include "props/diagnosis.h"
#include "props/launch_session.h"

namespace exactk::props {
namespace {

using fixtures::Case;
using oracle::FaultKind;
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
  // Outputs under variant 0, by step, for the poison differential.
  std::vector<std::vector<int32_t>> first_outputs;
  int64_t rows_selected = 0;
};

void decide(Run& run, Verdict verdict, std::string reason) {
  run.outcome.verdict = verdict;
  run.outcome.reason = std::move(reason);
}

std::shared_ptr<const StepInputs> inputs_of(const Run& run, int64_t step) {
  return run.cache.get(run.c, step, run.options.logits_from);
}

bool promises_repeatable(const Run& run) {
  return (run.outcome.promised & oracle::kRepeatable) != 0;
}

// Whether the case can be run at all; sets the verdict if not.
bool admit(Run& run) {
  const Case& c = run.c;
  if (const fixtures::Error error = fixtures::validate(c); !error.empty()) {
    decide(run, Verdict::kInvalid, error);
    return false;
  }
  const exactk_topk_tuning tuning = tuning_of(c);
  const exactk_topk_decode descriptor = descriptor_of(c, tuning);
  std::array<char, 512> message{};
  const exactk_status status =
      run.kernel.kernel->supports(&descriptor, message.data(), message.size());
  const std::string said(message.data());
  const bool expected =
      !run.kernel.method || oracle::topk_dispatch(*run.kernel.method, topk_shape(c)).accepted;
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
  const int64_t on_device = device_bytes(c, run.kernel.kernel->workspace_bytes(&descriptor));
  // The host device lives in the host's memory, beside the host's own copies.
  const bool shared_memory = run.device.info().kind == "host";
  const int64_t need =
      on_device +
      (shared_memory ? fixtures::logits_elems(c) * 4 + fixtures::output_elems(c) * 16 : 0);
  const int64_t free = run.device.info().memory_free_bytes;
  if (need > free) {
    decide(run, Verdict::kSkipped,
           fmt::format("needs {}, {} free", bytes_text(need), bytes_text(free)));
    return false;
  }
  return true;
}

// The path that the launch reports against the published policy. An empty text: they agree.
std::string path_difference(const Run& run, const LaunchSession& session, const StepInputs& inputs,
                            const LaunchResult& result) {
  if (!run.kernel.method) return "";
  const oracle::TopkShape shape = topk_shape(run.c);
  const oracle::TopkDispatch want = oracle::topk_dispatch(*run.kernel.method, shape);
  const exactk_topk_report& got = session.report();
  if (got.path == EXACTK_PATH_UNKNOWN) return "the launch did not report the path that it took";
  if (got.path != static_cast<int32_t>(want.path) || got.max_blocks != want.max_blocks) {
    return fmt::format(
        "the launch took path {} with at most {} blocks per row; the policy says {} with {}",
        oracle::name(static_cast<oracle::TopkPath>(got.path)), got.max_blocks,
        oracle::name(want.path), want.max_blocks);
  }
  for (int64_t row = 0; row < run.c.rows; ++row) {
    const int64_t length = inputs.row_lengths[static_cast<size_t>(row)];
    const int32_t blocks = result.active_blocks[static_cast<size_t>(row)];
    const int32_t expected = oracle::active_blocks(want, shape, length);
    if (blocks == expected) continue;
    const std::string seen =
        blocks == kNotReported ? "no active blocks" : fmt::format("{} active blocks", blocks);
    return fmt::format("row {} of length {} reports {}; the policy says {}", row, length, seen,
                       expected);
  }
  return "";
}

// What a captured launch consists of, against the promise that it is kernels alone. An empty text:
// kept, or not promised, or not captured.
std::string graph_difference(const Run& run, const LaunchSession& session) {
  const kernels::Device::GraphNodes nodes = session.graph_nodes();
  const bool promised = (run.outcome.promised & oracle::kKernelsOnly) != 0;
  if (!promised || nodes.memsets + nodes.memcpys == 0) return "";
  return fmt::format(
      "the captured graph holds {} memset and {} memcpy nodes; kernels alone are promised",
      nodes.memsets, nodes.memcpys);
}

struct LaunchId {
  int64_t step;
  int variant;
};

// Judges one launch; false if the case is decided.
bool judge(Run& run, LaunchId id, const LaunchSession& session,
           const std::shared_ptr<const StepInputs>& inputs, const LaunchResult& result,
           const std::vector<int32_t>& before) {
  Outcome& outcome = run.outcome;
  LaunchJudgement judgement =
      judge_launch(run.c, *inputs, result.output, before, outcome.promised, result.row_checksums);
  run.options.alive();
  ++outcome.launches;
  outcome.rows_judged += judgement.rows;
  outcome.rows_cut += judgement.rows_cut;
  run.rows_selected += judgement.rows_selected;
  for (const int64_t length : inputs->row_lengths) outcome.elements += length;
  outcome.path =
      session.report().path == EXACTK_PATH_UNKNOWN
          ? ""
          : fmt::format("{} x{}",
                        oracle::name(static_cast<oracle::TopkPath>(session.report().path)),
                        session.report().max_blocks);
  const kernels::Device::GraphNodes nodes = session.graph_nodes();
  if (nodes.kernels + nodes.memsets + nodes.memcpys > 0) {
    outcome.graph = fmt::format("{} kernels, {} memsets, {} memcpys", nodes.kernels, nodes.memsets,
                                nodes.memcpys);
  }
  if (!judgement.ok()) {
    auto evidence = std::make_shared<Evidence>();
    evidence->step = id.step;
    evidence->variant = id.variant;
    evidence->judgement = std::move(judgement);
    evidence->inputs = inputs;
    evidence->first_inputs = inputs_of(run, 0);
    evidence->output = result.output;
    evidence->before = before;
    outcome.evidence = evidence;
    outcome.diagnosis = diagnose(run.c, *evidence);
    decide(run, Verdict::kFailed, outcome.diagnosis);
    return false;
  }
  if (!result.damage.empty()) {
    decide(run, Verdict::kFailed, result.damage);
    return false;
  }
  std::string difference = path_difference(run, session, *inputs, result);
  if (difference.empty()) difference = graph_difference(run, session);
  if (!difference.empty()) {
    decide(run, Verdict::kFailed, std::move(difference));
    return false;
  }
  return true;
}

// First position at which two outputs differ, or -1.
int64_t first_difference(const Case& c, const std::vector<int32_t>& a,
                         const std::vector<int32_t>& b) {
  const int64_t stride = fixtures::out_stride_elems(c);
  for (int64_t at = 0; at < static_cast<int64_t>(a.size()); ++at) {
    if (at % stride < c.k && a[static_cast<size_t>(at)] != b[static_cast<size_t>(at)]) return at;
  }
  return -1;
}

bool same_bytes(Run& run, const std::vector<int32_t>& a, const std::vector<int32_t>& b,
                std::string_view what) {
  const int64_t at = first_difference(run.c, a, b);
  if (at < 0) return true;
  const int64_t stride = fixtures::out_stride_elems(run.c);
  decide(run, Verdict::kFailed,
         fmt::format("{}: row {} pos {} holds {} in one run and {} in the other", what, at / stride,
                     at % stride, a[static_cast<size_t>(at)], b[static_cast<size_t>(at)]));
  return false;
}

bool configure_host(Run& run, uint64_t schedule_seed) {
  if (run.device.info().kind != "host") return true;
  const kernels::HostOptions host{run.options.wave_width, schedule_seed, run.options.workers};
  if (auto r = run.device.configure(host); !r)
    return decide(run, Verdict::kFailed, r.error()), false;
  return true;
}

bool run_step(Run& run, LaunchSession& session, LaunchId id, std::vector<std::byte>& workspace) {
  const Case& c = run.c;
  const std::shared_ptr<const StepInputs> inputs = inputs_of(run, id.step);
  std::vector<int32_t> before(static_cast<size_t>(fixtures::output_elems(c)));
  fixtures::output_poison(c, id.step, id.variant, before);
  // Under the case's own poison the workspace keeps what the launch before left in it, as in a
  // serving loop; under the other one it is filled anew before every launch.
  const bool refill = id.step == 0 || id.variant == 1;
  workspace.resize(refill ? static_cast<size_t>(session.workspace_bytes()) : 0);
  if (refill) fixtures::workspace_fill(c, id.step, id.variant, workspace);

  for (int64_t repeat = 0; repeat < c.repeats; ++repeat) {
    // Repeats differ in nothing but the order in which the host device runs them.
    if (c.repeats > 1 && !configure_host(run, c.schedule + static_cast<uint64_t>(repeat)))
      return false;
    if (auto r = session.feed(*inputs, before, workspace); !r)
      return decide(run, Verdict::kFailed, r.error()), false;
    auto result = session.launch(*inputs);
    if (!result) return decide(run, Verdict::kFailed, result.error()), false;
    if (!judge(run, id, session, inputs, *result, before)) return false;
    const size_t step = static_cast<size_t>(id.step);
    if (id.variant == 0 && repeat == 0) {
      run.first_outputs.push_back(std::move(result->output));
      continue;
    }
    if (repeat > 0 && promises_repeatable(run) &&
        !same_bytes(run, run.first_outputs[step], result->output,
                    "the same launch gives other bytes")) {
      return false;
    }
    if (repeat == 0 && (run.deterministic || promises_repeatable(run)) &&
        !same_bytes(run, run.first_outputs[step], result->output,
                    "the answer depends on what output or workspace held before, so something "
                    "undefined is read")) {
      return false;
    }
  }
  return true;
}

int64_t longest_at_first(const Run& run) {
  const std::vector<int64_t>& lengths = inputs_of(run, 0)->row_lengths;
  return *std::max_element(lengths.begin(), lengths.end());
}

bool run_variant(Run& run, int variant) {
  const Case& c = run.c;
  if (!configure_host(run, c.schedule)) return false;
  auto session = LaunchSession::open(run.device, c, *run.kernel.kernel, longest_at_first(run),
                                     run.options.logits_from);
  if (!session) return decide(run, Verdict::kSkipped, session.error()), false;
  std::vector<std::byte> workspace;
  for (int64_t step = 0; step <= c.replays; ++step) {
    if (!run_step(run, **session, {step, variant}, workspace)) return false;
  }
  return true;
}

// The first launch again in the other two launch modes: a kernel that promises the same bytes gives
// them directly, on another stream and from a graph.
bool compare_launch_modes(Run& run) {
  using fixtures::LaunchMode;
  if (!promises_repeatable(run)) return true;
  for (const LaunchMode mode : {LaunchMode::kDirect, LaunchMode::kStream, LaunchMode::kGraph}) {
    if (mode == run.c.launch) continue;
    Case other = run.c;
    other.launch = mode;
    if (!configure_host(run, other.schedule)) return false;
    auto session = LaunchSession::open(run.device, other, *run.kernel.kernel, longest_at_first(run),
                                       run.options.logits_from);
    if (!session) return decide(run, Verdict::kSkipped, session.error()), false;
    const std::shared_ptr<const StepInputs> inputs = inputs_of(run, 0);
    std::vector<int32_t> before(static_cast<size_t>(fixtures::output_elems(other)));
    fixtures::output_poison(other, 0, 0, before);
    std::vector<std::byte> workspace(static_cast<size_t>((*session)->workspace_bytes()));
    fixtures::workspace_fill(other, 0, 0, workspace);
    if (auto r = (*session)->feed(*inputs, before, workspace); !r)
      return decide(run, Verdict::kFailed, r.error()), false;
    const auto result = (*session)->launch(*inputs);
    if (!result) return decide(run, Verdict::kFailed, result.error()), false;
    if (!judge(run, {0, 0}, **session, inputs, *result, before)) return false;
    const std::string what = fmt::format("launch mode {} gives other bytes than {}",
                                         fixtures::name(mode), fixtures::name(run.c.launch));
    if (!same_bytes(run, run.first_outputs[0], result->output, what)) return false;
  }
  return true;
}

}  // namespace

Outcome Runner::run(const Case& c, const KernelUnderTest& kernel, const RunnerOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.value = c;
  outcome.kernel = kernel.name();
  outcome.promised = kernel.kernel->modes;
  if (device_.info().kind == "host") {
    (void)device_.configure({options.wave_width, c.schedule, options.workers});
  }
  outcome.device = device_.info();
  Run run{c, kernel, device_, inputs_, options, outcome, outcome.device.kind == "host", {}, 0};
  if (admit(run)) {
    bool held = true;
    for (int variant = 0; held && variant < kVariants; ++variant) held = run_variant(run, variant);
    if (held) held = compare_launch_modes(run);
    if (held && run.rows_selected == 0) {
      decide(run, Verdict::kWeak,
             "every row of every launch is empty, so no index was ever selected");
    } else if (held) {
      outcome.verdict = Verdict::kPassed;
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  outcome.seconds = took.count();
  return outcome;
}

}  // namespace exactk::props
