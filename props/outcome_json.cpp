#include "props/outcome_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "props/internal_error.h"

namespace exactk::props {

using nlohmann::json;

namespace {

std::vector<int> fault_numbers(oracle::FaultSet faults) {
  std::vector<int> numbers;
  for (int kind = 0; kind < oracle::kFaultKinds; ++kind) {
    if (faults.has(static_cast<oracle::FaultKind>(kind))) numbers.push_back(kind);
  }
  return numbers;
}

// A number of the record, a whole one: the library would also cut any other to one.
template <class Integer>
void read_whole(const json& record, const char* key, Integer& out) {
  const json& value = record.at(key);
  if (!value.is_number_integer())
    throw InternalError(
        fmt::format("an outcome came back with '{}', which is no whole number", key));
  out = value.get<Integer>();
}

template <class Integer>
std::vector<Integer> whole_numbers(const json& record, const char* key) {
  std::vector<Integer> all;
  for (const json& value : record.at(key)) {
    if (!value.is_number_integer())
      throw InternalError(
          fmt::format("an outcome came back with '{}', which holds no whole numbers", key));
    all.push_back(value.get<Integer>());
  }
  return all;
}

}  // namespace

std::string outcome_to_json(const Outcome& o) {
  const json record = {{"case", o.at_load ? "" : fixtures::print_case(o.value)},
                       {"kernel", o.kernel},
                       {"plugin", o.plugin},
                       {"device", o.device.kind},
                       {"device_index", o.device.index},
                       {"device_name", o.device.name},
                       {"arch", o.device.arch},
                       {"wave", o.device.wave_width},
                       {"promised", o.promised},
                       {"verdict", static_cast<int>(o.verdict)},
                       {"reason", o.reason},
                       {"report", o.report},
                       {"faults", fault_numbers(o.faults)},
                       {"failing_rows", o.failing_rows},
                       {"last_step", o.last_step},
                       {"launches", o.launches},
                       {"rows", o.rows_judged},
                       {"rows_cut", o.rows_cut},
                       {"elements", o.elements},
                       {"path", o.path},
                       {"graph", o.graph},
                       {"seconds", o.seconds}};
  // A kernel's message can hold any bytes; they must not stop the report.
  return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

Outcome outcome_from_json(std::string_view text) {
  try {
    const json record = json::parse(text);
    Outcome o;
    auto parsed = fixtures::parse_case(record.at("case").get<std::string>());
    if (!parsed) throw InternalError(parsed.error());
    o.value = *parsed;
    o.kernel = record.at("kernel");
    o.plugin = record.at("plugin");
    o.device.kind = record.at("device");
    read_whole(record, "device_index", o.device.index);
    o.device.name = record.at("device_name");
    o.device.arch = record.at("arch");
    read_whole(record, "wave", o.device.wave_width);
    read_whole(record, "promised", o.promised);
    int64_t verdict = 0;
    read_whole(record, "verdict", verdict);
    if (verdict < 0 || verdict >= oracle::kVerdicts)
      throw InternalError(fmt::format("an outcome came back with the unknown verdict {}", verdict));
    o.verdict = static_cast<oracle::Verdict>(verdict);
    o.reason = record.at("reason");
    o.report = record.at("report");
    for (const int64_t kind : whole_numbers<int64_t>(record, "faults")) {
      if (kind < 0 || kind >= oracle::kFaultKinds)
        throw InternalError(fmt::format("an outcome came back with the unknown fault {}", kind));
      o.faults.add(static_cast<oracle::FaultKind>(kind));
    }
    o.failing_rows = whole_numbers<int64_t>(record, "failing_rows");
    read_whole(record, "last_step", o.last_step);
    read_whole(record, "launches", o.launches);
    read_whole(record, "rows", o.rows_judged);
    read_whole(record, "rows_cut", o.rows_cut);
    read_whole(record, "elements", o.elements);
    o.path = record.at("path");
    o.graph = record.at("graph");
    o.seconds = record.at("seconds");
    return o;
  } catch (const json::exception& error) {
    throw InternalError(fmt::format("an outcome came back unreadable: {}", error.what()));
  }
}

}  // namespace exactk::props
