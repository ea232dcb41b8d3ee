#include "props/report.h"

#include <fmt/format.h>

#include "oracle/topk_contract.h"
#include "props/build_info.h"

namespace exactk::props {
namespace {

using oracle::Verdict;

std::string_view heading(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "PASSED";
    case Verdict::kWeak:
      return "WEAK";
    case Verdict::kFailed:
      return "FAILED";
    case Verdict::kSkipped:
      return "SKIPPED";
    case Verdict::kUnsupported:
      return "UNSUPPORTED";
    case Verdict::kInvalid:
      return "INVALID";
  }
  return "?";
}

std::string device_text(const kernels::DeviceInfo& device) {
  if (device.kind == "host") return fmt::format("host wave={}", device.wave_width);
  return fmt::format("{}:{} {} wave={}", device.kind, device.index, device.arch, device.wave_width);
}

// A word as a shell takes it.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_./+-=:,@") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string built_text() {
  return fmt::format("built   commit {}, {}\n", build_commit(), build_compiler());
}

// A plugin, or a kernel of it, that was refused.
std::string refusal_text(const Outcome& o) {
  const std::string kernel = o.kernel.empty() ? "" : fmt::format("  kernel {}", o.kernel);
  return fmt::format("{:<7} plugin {}{}  {}\nwhy     {}\nreplay  {}\n{}", heading(o.verdict),
                     o.plugin, kernel, o.device.kind, o.reason, replay_line(o), built_text());
}

}  // namespace

std::string modes_text(uint32_t modes) {
  std::string text;
  const auto add = [&](oracle::ContractMode mode) {
    if ((modes & mode) != 0)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", oracle::name(mode));
  };
  // Prefix says more than set, and the orders more than prefix.
  const bool ordered = (modes & (oracle::kOrdered | oracle::kStable)) != 0;
  if (!ordered && (modes & oracle::kPrefix) == 0) add(oracle::kSet);
  if (!ordered) add(oracle::kPrefix);
  add(oracle::kOrdered);
  add(oracle::kStable);
  add(oracle::kRepeatable);
  add(oracle::kKernelsOnly);
  return text;
}

std::string replay_line(const Outcome& o) {
  std::string line = o.at_load ? std::string("exactk list kernels")
                               : fmt::format("exactk replay '{}' --kernel {}",
                                             fixtures::print_case(o.value), o.kernel);
  if (!o.plugin.empty()) line += fmt::format(" --plugin {}", shell_word(o.plugin));
  line += fmt::format(" --device {}", o.device.kind);
  if (o.device.index > 0) line += fmt::format(":{}", o.device.index);
  if (o.device.kind == "host" && !o.at_load) line += fmt::format(" --wave {}", o.device.wave_width);
  return line;
}

std::string report_text(const Outcome& o) {
  if (o.at_load) return refusal_text(o);
  const std::string case_line = fixtures::print_case(o.value);
  std::string text =
      fmt::format("{:<7} {}  {}  contract {}\ncase    {}\n", heading(o.verdict), o.kernel,
                  device_text(o.device), modes_text(o.promised), case_line);
  text += o.anatomy;
  if (!o.broke.empty()) text += fmt::format("broke   {}\n", o.broke);
  if (!o.reason.empty()) text += fmt::format("why     {}\n", o.reason);
  text += fmt::format("replay  {}\n", replay_line(o));
  return text + built_text();
}

}  // namespace exactk::props
