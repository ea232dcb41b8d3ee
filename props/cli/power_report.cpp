#include "props/cli/power_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "props/build_info.h"

namespace exactk::props::cli {
namespace {

using nlohmann::json;

enum class Cell { kKilled, kAlive, kUntried, kUnreachable };

Cell cell_of(const FaultPower& fault, size_t tier, size_t column) {
  if (!fault.reachable) return Cell::kUnreachable;
  const FaultPower::InTier& in = fault.tiers[tier];
  if (in.columns[column].killed) return Cell::kKilled;
  return column == kWhole || in.columns[kWhole].killed ? Cell::kAlive : Cell::kUntried;
}

// Columns under which a fault that the whole suite kills stays alive.
std::string needs(const FaultPower& fault, size_t tier) {
  std::string text;
  for (size_t column = 1; column < power_columns().size(); ++column) {
    const bool ingredient = power_columns()[column].name.rfind("no ", 0) == 0;
    if (!ingredient || cell_of(fault, tier, column) != Cell::kAlive) continue;
    if (!fault.tiers[tier].columns[kWhole].killed) continue;
    text += (text.empty() ? "" : ", ") + power_columns()[column].name.substr(3);
  }
  return text;
}

std::string fault_line(const FaultPower& fault, size_t tier) {
  const Kill& whole = fault.tiers[tier].columns[kWhole];
  const std::string head = fmt::format("  {:<34} {}  ", fault.fault.name, fault.fault.kind);
  if (!fault.reachable) return head + "UNREACHABLE: its own case does not fail\n";
  if (!whole.killed) return head + fmt::format("ALIVE after {} runs\n", whole.runs);
  const std::string only = needs(fault, tier);
  return head + fmt::format("killed by run {:<4} {:7.3f} s{}\n", whole.runs, whole.seconds,
                            only.empty() ? "" : "   needs: " + only);
}

std::string list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string tier_text(const PowerReport& report, size_t tier) {
  const TierPower power = tier_power(report.faults, report.tiers, tier);
  std::string text =
      fmt::format("tier {}: {} cases\n", power.name, report.tiers[tier].cases.size());
  for (const FaultPower& fault : report.faults) text += fault_line(fault, tier);
  text += fmt::format(
      "  killed {} of {} reachable faults, {} unreachable; median {:.3f} s and {:g} runs to the "
      "kill\n",
      power.killed[kWhole], power.reachable, power.unreachable, power.median_seconds,
      power.median_runs);
  if (!power.survivors.empty()) text += fmt::format("  alive: {}\n", list(power.survivors));
  for (size_t column = 1; column < power_columns().size(); ++column) {
    const auto& alive = power.alive_without[column];
    text += fmt::format("  {:<24} killed {:>3}{}{}\n", power_columns()[column].name,
                        power.killed[column], alive.empty() ? "" : "   alive: ", list(alive));
  }
  for (const std::string& same : power.same_vectors)
    text += fmt::format("  warning: killed by the same runs: {}\n", same);
  return text;
}

json kill_json(const Kill& kill) {
  return {{"killed", kill.killed},
          {"runs", kill.runs},
          {"seconds", kill.seconds},
          {"by", kill.by},
          {"why", kill.why}};
}

json fault_json(const PowerReport& report, const FaultPower& fault) {
  json tiers = json::object();
  for (size_t tier = 0; tier < report.tiers.size(); ++tier) {
    json columns = json::object();
    for (size_t column = 0; column < power_columns().size(); ++column) {
      if (cell_of(fault, tier, column) == Cell::kUntried) continue;
      columns[power_columns()[column].name] = kill_json(fault.tiers[tier].columns[column]);
    }
    tiers[report.tiers[tier].name] = {
        {"columns", columns}, {"runs", fault.tiers[tier].runs}, {"kills", fault.tiers[tier].kills}};
  }
  return {{"name", fault.fault.name},
          {"kind", fault.fault.kind},
          {"base", fault.fault.base},
          {"reachable", fault.reachable},
          {"reached_by", fixtures::print_case(fault.fault.reaching)},
          {"tiers", tiers}};
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

constexpr std::string_view kStyle = R"(
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #fff; padding: 2px 6px; text-align: left; font-weight: normal; }
thead th { vertical-align: bottom; }
thead th div { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap; }
td { width: 1.6em; text-align: center; }
.killed { background: #2e7d32; color: #fff; }
.alive { background: #c62828; color: #fff; }
.untried { background: #ddd; }
.unreachable { background: #f9a825; }
)";

std::string_view class_of(Cell cell) {
  switch (cell) {
    case Cell::kKilled:
      return "killed";
    case Cell::kAlive:
      return "alive";
    case Cell::kUntried:
      return "untried";
    case Cell::kUnreachable:
      return "unreachable";
  }
  return "";
}

std::string cell_html(const FaultPower& fault, size_t tier, size_t column) {
  const Cell cell = cell_of(fault, tier, column);
  const Kill& kill = fault.tiers[tier].columns[column];
  const std::string hint = kill.killed ? fmt::format("run {}, {:.3f} s: {}: {}", kill.runs,
                                                     kill.seconds, kill.by, kill.why)
                                       : std::string(class_of(cell));
  // The letter says it to those who see no colours.
  const char letter = cell == Cell::kKilled ? 'x' : cell == Cell::kAlive ? 'o' : ' ';
  return fmt::format("<td class=\"{}\" title=\"{}\">{}</td>", class_of(cell), escaped(hint),
                     letter);
}

std::string tier_html(const PowerReport& report, size_t tier) {
  const TierPower power = tier_power(report.faults, report.tiers, tier);
  std::string html = fmt::format(
      "<h2>{}</h2>\n<p>{} cases; killed {} of {} reachable faults; median {:.3f} s to the "
      "kill.</p>\n"
      "<table>\n<thead><tr><th>fault</th><th>kind</th>",
      escaped(power.name), report.tiers[tier].cases.size(), power.killed[kWhole], power.reachable,
      power.median_seconds);
  for (const PowerColumn& column : power_columns())
    html += fmt::format("<th><div>{}</div></th>", escaped(column.name));
  html += "</tr></thead>\n<tbody>\n";
  for (const FaultPower& fault : report.faults) {
    html += fmt::format("<tr><th title=\"{}\">{}</th><th>{}</th>",
                        escaped(fixtures::print_case(fault.fault.reaching)),
                        escaped(fault.fault.name), escaped(fault.fault.kind));
    for (size_t column = 0; column < power_columns().size(); ++column)
      html += cell_html(fault, tier, column);
    html += "</tr>\n";
  }
  html += "<tr><th>killed</th><th></th>";
  for (const int64_t killed : power.killed) html += fmt::format("<td>{}</td>", killed);
  return html + "</tr>\n</tbody>\n</table>\n";
}

// Which bins of the input space the unmodified kernels were judged in, against those that a stored
// tier of this name requires.
std::string coverage_html(const PowerReport& report, size_t tier) {
  if (report.visited.empty()) return "<p>Input space: the unmodified kernels were not run.</p>\n";
  const std::vector<BinCount> rows =
      report.visited[tier].against(required_bins(report.tiers[tier].name));
  int64_t visited = 0, required = 0, missing = 0;
  std::string body;
  for (const BinCount& row : rows) {
    visited += row.count > 0 ? 1 : 0;
    required += row.required ? 1 : 0;
    missing += row.missing() ? 1 : 0;
    body += fmt::format("<tr{}><th>{}</th><th>{}</th><th>{}</th><td>{}</td><th>{}</th></tr>\n",
                        row.missing() ? " class=\"alive\"" : "", fixtures::name(row.bin.op),
                        escaped(row.bin.axis), escaped(row.bin.name), row.count,
                        row.missing()  ? "MISSING"
                        : row.required ? "required"
                                       : "");
  }
  return fmt::format(
      "<details{}>\n<summary>Input space: {} bins visited, {} required, {} missing.</summary>\n"
      "<table>\n<thead><tr><th>operation</th><th>axis</th><th>bin</th><th>runs</th><th></th></tr>"
      "</thead>\n<tbody>\n{}</tbody>\n</table>\n</details>\n",
      missing > 0 ? " open" : "", visited, required, missing, body);
}

std::string built() {
  return fmt::format("commit {}, {}", build_commit(), build_compiler());
}

}  // namespace

std::string power_text(const PowerReport& report) {
  std::string text;
  for (size_t tier = 0; tier < report.tiers.size(); ++tier) text += tier_text(report, tier);
  return text + fmt::format("{} faults on {}, {} silent runs of unmodified kernels, {:.0f} s; {}\n",
                            report.faults.size(), report.device, report.baseline_runs,
                            report.seconds, built());
}

std::string power_json(const PowerReport& report) {
  json faults = json::array(), tiers = json::array();
  for (const FaultPower& fault : report.faults) faults.push_back(fault_json(report, fault));
  for (size_t tier = 0; tier < report.tiers.size(); ++tier) {
    const TierPower power = tier_power(report.faults, report.tiers, tier);
    json killed = json::object();
    for (size_t column = 0; column < power_columns().size(); ++column)
      killed[power_columns()[column].name] = power.killed[column];
    tiers.push_back({{"name", power.name},
                     {"cases", report.tiers[tier].cases.size()},
                     {"reachable", power.reachable},
                     {"unreachable", power.unreachable},
                     {"killed", killed},
                     {"survivors", power.survivors},
                     {"median_seconds", power.median_seconds},
                     {"median_runs", power.median_runs},
                     {"same_vectors", power.same_vectors}});
  }
  const json document = {{"exactk", {{"commit", build_commit()}, {"compiler", build_compiler()}}},
                         {"device", report.device},
                         {"baseline_runs", report.baseline_runs},
                         {"seconds", report.seconds},
                         {"tiers", tiers},
                         {"faults", faults}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string power_html(const PowerReport& report) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>exactk: "
      "planted "
      "faults</title>\n<style>{}</style>\n</head>\n<body>\n<h1>Planted faults</h1>\n"
      "<p>{} faults on {}; {} silent runs of unmodified kernels before; {:.0f} s; {}.</p>\n"
      "<p>x, green: killed. o, red: alive. Grey: not tried, as the whole suite does not kill it. "
      "Yellow: its own case does not fail. \"no ...\": the suite without one ingredient. \"only "
      "...\": a comparator of public tests, one poison, no guards, direct launches. A cell's hint "
      "is the case and the reason.</p>\n",
      kStyle, report.faults.size(), escaped(report.device), report.baseline_runs, report.seconds,
      built());
  for (size_t tier = 0; tier < report.tiers.size(); ++tier)
    html += tier_html(report, tier) + coverage_html(report, tier);
  return html + "</body>\n</html>\n";
}

}  // namespace exactk::props::cli
