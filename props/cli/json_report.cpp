#include "props/cli/json_report.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "props/build_info.h"
#include "props/outcome_json.h"
#include "props/report.h"

namespace exactk::props::cli {
namespace {

using nlohmann::json;

json run_json(const Outcome& o) {
  json run = json::parse(outcome_to_json(o));
  run["verdict"] = oracle::name(o.verdict);
  run["replay"] = replay_line(o);
  if (o.verdict == oracle::Verdict::kPassed) run.erase("report");
  return run;
}

json bins_json(const Coverage& coverage, const std::vector<Bin>& required) {
  json bins = json::array();
  const std::set<Bin> wanted(required.begin(), required.end());
  std::set<Bin> all = wanted;
  for (const auto& [bin, count] : coverage.counts()) all.insert(bin);
  for (const Bin& bin : all) {
    bins.push_back({{"operation", fixtures::name(bin.op)},
                    {"axis", bin.axis},
                    {"bin", bin.name},
                    {"runs", coverage.count(bin)},
                    {"required", wanted.count(bin) > 0}});
  }
  return bins;
}

}  // namespace

std::string write_json(const std::string& file, const std::vector<Outcome>& outcomes,
                       const Ledger& ledger, const Coverage& coverage,
                       const std::vector<Bin>& required, int exit_code) {
  json runs = json::array();
  for (const Outcome& outcome : outcomes) runs.push_back(run_json(outcome));
  json totals = json::object();
  for (int v = 0; v <= static_cast<int>(oracle::Verdict::kInvalid); ++v) {
    const auto verdict = static_cast<oracle::Verdict>(v);
    totals[std::string(oracle::name(verdict))] = ledger.count(verdict);
  }
  const json document = {{"exactk", {{"commit", build_commit()}, {"compiler", build_compiler()}}},
                         {"runs", runs},
                         {"coverage", ledger.axes()},
                         {"bins", bins_json(coverage, required)},
                         {"totals", totals},
                         {"exit_code", exit_code}};
  return write_report(file, document.dump(1) + "\n");
}

std::string unwritable(const std::string& file) {
  if (file.empty() || std::ofstream(file)) return "";
  return fmt::format("can't write to --json '{}'; check the folder", file);
}

std::string write_report(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.close();
  return out ? ""
             : fmt::format("can't write the report to '{}'; check the folder and the space", file);
}

}  // namespace exactk::props::cli
