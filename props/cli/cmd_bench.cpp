#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>

#include "fixtures/materialize.h"
#include "oracle/logit_order.h"
#include "oracle/topk.h"
#include "oracle/topk_contract.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/kernel_timer.h"
#include "props/report.h"
#include "props/runner.h"
#include "props/topk_problem.h"

namespace exactk::props::cli {
namespace {

using fixtures::Case;

struct BenchCommand {
  DeviceOptions device;
  std::vector<std::string> lines;
  int repeats = 5;
};

struct Times {
  double min_s = 0;
  double median_s = 0;
};

using Timed = std::function<void()>;

Times times_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2]};
}

Times time(int repeats, const Timed& body) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return times_of(std::move(seconds));
}

// The compiler must not drop a pass whose result nobody prints.
volatile uint64_t sink;

// The least that reading a row can cost: a sum in the width of the data, so that it vectorises.
uint64_t plain_read(std::span<const uint32_t> data) {
  constexpr size_t kLanes = 32;  // enough independent sums to keep the loads in flight
  std::array<uint32_t, kLanes> sums{};
  size_t at = 0;
  for (; at + kLanes <= data.size(); at += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += data[at + lane];
  }
  uint32_t sum = std::accumulate(sums.begin(), sums.end(), 0u);
  for (; at < data.size(); ++at) sum += data[at];
  return sum;
}

// `ratio_to_read` 0: not measured.
void print_row(std::string_view what, const Times& times, double elements, double ratio_to_read) {
  fmt::print("{:<34} {:>10.3f} ms (min {:>8.3f})  {:>9.1f} M elements/s  {:>7.2f} GB/s", what,
             times.median_s * 1e3, times.min_s * 1e3, elements / times.median_s / 1e6,
             elements * 4 / times.median_s / 1e9);
  if (ratio_to_read > 0) fmt::print("  {:>6.3f} of read", ratio_to_read);
  fmt::print("\n");
}

// CPU work on the case's own data, one thread: the physical limit, the judging pass and the usual
// peers.
double bench_cpu(const TopkProblem& problem, const TopkInputs& inputs, int repeats) {
  double elements = 0;
  std::vector<std::vector<uint32_t>> rows;
  std::vector<std::vector<int32_t>> answers;
  std::vector<uint32_t> scratch;
  for (int64_t row = 0; row < problem.rows; ++row) {
    const auto view = visible_row(problem, inputs, row, scratch);
    elements += static_cast<double>(view.size());
    rows.emplace_back(view.begin(), view.end());
    answers.push_back(oracle::topk_reference(view, problem.k));
  }
  const auto each = [&](const auto& body) {
    return time(repeats, [&] {
      for (size_t row = 0; row < rows.size(); ++row) body(row);
    });
  };
  const Times read = each([&](size_t row) { sink = plain_read(rows[row]); });
  const auto ratio = [&](const Times& times) { return read.median_s / times.median_s; };
  print_row("cpu: plain read", read, elements, 1);
  oracle::TopkJudge judge(problem.width);
  const Times judged = each([&](size_t row) {
    sink = judge.judge({rows[row], answers[row], {}}, oracle::kPrefix | oracle::kSet).ok();
  });
  print_row("cpu: judging pass", judged, elements, ratio(judged));
  std::vector<uint32_t> keys;
  const auto select = [&](size_t row, bool sorted) {
    keys.resize(rows[row].size());
    std::transform(rows[row].begin(), rows[row].end(), keys.begin(), oracle::order_key);
    const auto middle =
        keys.begin() + std::min<int64_t>(problem.k, static_cast<int64_t>(keys.size()));
    if (sorted) std::partial_sort(keys.begin(), middle, keys.end(), std::greater<>());
    if (!sorted && middle != keys.end())
      std::nth_element(keys.begin(), middle, keys.end(), std::greater<>());
    sink = keys.empty() ? 0 : keys.front();
  };
  const Times partial = each([&](size_t row) { select(row, true); });
  print_row("cpu: std::partial_sort of keys", partial, elements, ratio(partial));
  const Times nth = each([&](size_t row) { select(row, false); });
  print_row("cpu: std::nth_element of keys", nth, elements, ratio(nth));
  return read.median_s;
}

// What is benched, opened in this process: a child's answers would be part of the time.
struct Benched {
  std::unique_ptr<kernels::Device> device;
  std::vector<KernelUnderTest> kernels;
  std::vector<int> waves;
};

bool is_topk(const Case& c) {
  return c.op == fixtures::Op::kTopkDecode || c.op == fixtures::Op::kTopkPrefill;
}

// Of one kernel that was judged right. The error is one sentence.
kernels::Result<Times> time_kernel(const Case& c, const KernelUnderTest& kernel, Benched& bench,
                                   const RunnerOptions& options, int repeats) {
  auto timer = KernelTimer::open(*bench.device, c, kernel, options);
  if (!timer) return tl::unexpected(timer.error());
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto call = (*timer)->call_s();
    if (!call) return tl::unexpected(call.error());
    seconds.push_back(*call);
  }
  return times_of(std::move(seconds));
}

int bench_case(const Case& c, Benched& bench, const BenchCommand& command) {
  fmt::print("case    {}\n", fixtures::print_case(c));
  Runner runner(*bench.device);
  double read_s = 0;
  int timed = 0;
  for (const int wave : bench.waves) {
    for (const KernelUnderTest& kernel : bench.kernels) {
      if (!is_of(kernel, c)) continue;
      // Nothing is timed before it is known to be right.
      RunnerOptions options;
      options.wave_width = wave;
      options.logits_from = logits_from(bench.device->info());
      const Outcome outcome = runner.run(c, kernel, options);
      if (outcome.verdict == oracle::Verdict::kSkipped) {
        fmt::print("{:<34} skipped: {}\n", kernel.name(), outcome.reason);
        continue;
      }
      if (outcome.verdict != oracle::Verdict::kPassed &&
          outcome.verdict != oracle::Verdict::kWeak) {
        fmt::print("{}\n", report_text(outcome));
        return kKernelFailed;
      }
      if (timed == 0 && is_topk(c) && bench.device->info().kind == "host") {
        const TopkProblem problem = topk_problem(c);
        read_s = bench_cpu(problem, make_topk_inputs(problem, 0), command.repeats);
      }
      const auto times = time_kernel(c, kernel, bench, options, command.repeats);
      if (!times) return complain(kNoDevice, times.error());
      ++timed;
      // Each launch of the correctness pass had as many elements in view.
      const double elements = static_cast<double>(outcome.elements / outcome.launches);
      print_row(fmt::format("{} {} wave={}", kernel.name(), outcome.device.kind, wave), *times,
                elements, read_s / times->median_s);
    }
  }
  return timed == 0 ? complain(kNothingJudged, "no selected kernel takes the case") : kAllPassed;
}

int bench(const BenchCommand& command) {
  auto device = kernels::open_device(command.device.device);
  if (!device) return complain(kNoDevice, device.error());
  const Plugins plugins = load_plugins(command.device.plugins, **device);
  Ledger ledger;
  report_refused(refused_of(command.device, (*device)->info(), plugins), ledger);
  if (ledger.any_failure()) return kKernelFailed;
  auto kernels = kernels_of(command.device, (*device)->info(), plugins);
  if (std::holds_alternative<int>(kernels)) return std::get<int>(kernels);
  Benched benched{std::move(*device), std::get<0>(std::move(kernels)), {}};
  benched.waves = waves_of(command.device, benched.device->info());
  for (const std::string& line : command.lines) {
    auto cases = fixtures::read_case_text(line, "command line");
    if (!cases) return complain(kUsage, cases.error());
    for (const fixtures::FileCase& c : *cases) {
      if (const int code = bench_case(c.value, benched, command); code != kAllPassed) return code;
    }
  }
  return kAllPassed;
}

}  // namespace

void add_bench(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "bench", "time kernels and the judging pass on a case, after one correctness pass");
  auto options = std::make_shared<BenchCommand>();
  command->add_option("case", options->lines, "case lines, quoted")->required();
  command->add_option("--repeats", options->repeats, "timed launches; the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_device_options(*command, options->device);
  command->callback([&chosen, options] { chosen = [options] { return bench(*options); }; });
}

}  // namespace exactk::props::cli
