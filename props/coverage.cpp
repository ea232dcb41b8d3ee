#include "props/coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "fixtures/lengths.h"
#include "fixtures/session.h"
#include "props/coverage_axes.h"
#include "props/topk_problem.h"

namespace exactk::props {
namespace {

using fixtures::Case;
using fixtures::Op;

const std::vector<std::span<const Axis>>& tables() {
  static const std::vector<std::span<const Axis>> all = {
      launch_axes(), logits_axes(), request_axes(), router_axes(), attention_axes()};
  return all;
}

std::vector<int64_t> lengths_of(const Case& c, int64_t step) {
  if (!fixtures::reads(c.op, "lens")) return {};
  if (fixtures::reads(c.op, "pattern")) return fixtures::row_lengths(c, step);
  const std::vector<int32_t> lengths = fixtures::seq_lens(c, step);
  return {lengths.begin(), lengths.end()};
}

std::vector<int64_t> distinct(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<SpaceLaunch> launches_of(const Case& c) {
  using fixtures::ActionKind;
  std::vector<SpaceLaunch> launches;
  int64_t captured = 0;
  for (const fixtures::Action& action : fixtures::actions(c)) {
    const bool replay = action.kind == ActionKind::kReplay;
    const bool capture = action.kind == ActionKind::kCapture;
    if (!replay && !capture && action.kind != ActionKind::kLaunch) continue;
    SpaceLaunch launch;
    launch.step = std::ssize(launches);
    if (capture) captured = launch.step;
    launch.replayed = replay;
    launch.known = replay ? captured : launch.step;
    launch.lengths = lengths_of(c, launch.step);
    launch.distinct = distinct(launch.lengths);
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace

Space::Space(const Case& value) : c(value), launches(launches_of(value)) {
  if (!fixtures::reads(c.op, "pattern")) return;
  const TopkProblem problem = topk_problem(c);
  shape = topk_shape(problem);
  if (problem.prefill) method = oracle::TopkMethod::kPrefill;
  dispatch = oracle::topk_dispatch(method, shape);
}

std::string_view beside(int64_t value, int64_t edge) {
  if (value == edge - 1) return "-1";
  if (value == edge) return "0";
  return value == edge + 1 ? "+1" : "";
}

std::string bin_text(const Bin& bin) {
  return fmt::format("{} | {} | {}", fixtures::name(bin.op), bin.axis, bin.name);
}

std::vector<AxisInfo> axis_list() {
  std::vector<AxisInfo> list;
  for (const std::span<const Axis> table : tables()) {
    for (const Axis& axis : table) list.push_back({axis.name, axis.text});
  }
  return list;
}

std::set<Bin> bins_of(const Case& c) {
  const Space space(c);
  std::set<Bin> bins;
  for (const std::span<const Axis> table : tables()) {
    for (const Axis& axis : table) {
      if ((axis.ops & op_bit(c.op)) == 0) continue;
      axis.visit(space, [&](std::string name) { bins.insert({c.op, axis.name, std::move(name)}); });
    }
  }
  return bins;
}

bool is_judged(const Outcome& o) {
  using oracle::Verdict;
  return !o.at_load && (o.verdict == Verdict::kPassed || o.verdict == Verdict::kWeak ||
                        o.verdict == Verdict::kFailed);
}

std::vector<Bin> Coverage::missing(const std::vector<Bin>& bins) const {
  std::vector<Bin> missed;
  std::copy_if(bins.begin(), bins.end(), std::back_inserter(missed),
               [&](const Bin& bin) { return count(bin) == 0; });
  return missed;
}

std::vector<BinCount> Coverage::against(const std::vector<Bin>& required) const {
  std::map<Bin, BinCount> all;
  for (const auto& [bin, count] : counts_) all[bin] = {bin, count, false};
  for (const Bin& bin : required) all[bin] = {bin, count(bin), true};
  std::vector<BinCount> list;
  for (auto& [bin, counted] : all) list.push_back(std::move(counted));
  return list;
}

std::string Coverage::table(const std::vector<Bin>& required) const {
  std::string text =
      fmt::format("{:<16} {:<20} {:<36} {:>7}\n", "operation", "axis", "bin", "runs");
  for (const BinCount& row : against(required)) {
    text += fmt::format("{:<16} {:<20} {:<36} {:>7}{}\n", fixtures::name(row.bin.op), row.bin.axis,
                        row.bin.name, row.count,
                        !row.required   ? ""
                        : row.missing() ? "  MISSING"
                                        : "  required");
  }
  return text;
}

}  // namespace exactk::props
