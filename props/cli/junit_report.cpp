#include "props/cli/junit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <map>
#include <sstream>

#include "props/report.h"

namespace exactk::props::cli {
namespace {

using boost::property_tree::ptree;
using oracle::Verdict;

enum class Kind { kPassed, kFailure, kSkipped };

Kind kind_of(Verdict verdict, bool allow_weak) {
  if (verdict == Verdict::kPassed) return Kind::kPassed;
  if (verdict == Verdict::kSkipped) return Kind::kSkipped;
  return verdict == Verdict::kWeak && allow_weak ? Kind::kPassed : Kind::kFailure;
}

// XML 1.0 can't say most control characters, and what a kernel says may be no UTF-8.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return c != '\n' && c != '\t' && (c < 0x20 || c > 0x7e); }, '?');
  return text;
}

ptree test_case(const Outcome& o, Kind kind) {
  ptree test;
  test.put("<xmlattr>.name", printable(fmt::format("{} wave={}", fixtures::print_case(o.value),
                                                   o.device.wave_width)));
  test.put("<xmlattr>.classname", printable(o.kernel));
  test.put("<xmlattr>.time", fmt::format("{:.6f}", o.seconds));
  if (kind == Kind::kPassed) return test;
  ptree& why = test.add_child(kind == Kind::kSkipped ? "skipped" : "failure", {});
  why.put("<xmlattr>.message", printable(o.reason));
  if (kind == Kind::kSkipped) return test;
  why.put("<xmlattr>.type", std::string(oracle::name(o.verdict)));
  why.put_value(printable(o.report.empty() ? report_text(o) : o.report));
  return test;
}

struct Suite {
  std::vector<ptree> tests;
  std::map<Kind, int> counts;
  double seconds = 0;
};

ptree suite_tree(const std::string& kernel, const Suite& suite) {
  ptree tree;
  tree.put("<xmlattr>.name", printable(kernel));
  tree.put("<xmlattr>.tests", suite.tests.size());
  const auto count = [&](Kind kind) {
    const auto found = suite.counts.find(kind);
    return found == suite.counts.end() ? 0 : found->second;
  };
  tree.put("<xmlattr>.failures", count(Kind::kFailure));
  tree.put("<xmlattr>.errors", 0);
  tree.put("<xmlattr>.skipped", count(Kind::kSkipped));
  tree.put("<xmlattr>.time", fmt::format("{:.6f}", suite.seconds));
  for (const ptree& test : suite.tests) tree.add_child("testcase", test);
  return tree;
}

}  // namespace

std::string junit_text(const std::vector<Outcome>& outcomes, bool allow_weak) {
  std::map<std::string, Suite> suites;
  for (const Outcome& o : outcomes) {
    const Kind kind = kind_of(o.verdict, allow_weak);
    Suite& suite = suites[o.kernel.empty() ? o.plugin : o.kernel];
    suite.tests.push_back(test_case(o, kind));
    ++suite.counts[kind];
    suite.seconds += o.seconds;
  }
  ptree root;
  ptree& all = root.add_child("testsuites", {});
  for (const auto& [kernel, suite] : suites) all.add_child("testsuite", suite_tree(kernel, suite));
  std::ostringstream text;
  boost::property_tree::write_xml(text, root,
                                  boost::property_tree::xml_writer_settings<std::string>(' ', 1));
  return text.str();
}

}  // namespace exactk::props::cli
