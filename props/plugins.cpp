#include "props/plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "props/internal_error.h"
#include "props/report.h"

namespace exactk::props {
namespace {

using kernels::Plugin;
using kernels::PluginKernel;
using nlohmann::json;

[[noreturn]] void not_in_this_process() {
  throw InternalError("a kernel of a plugin was called in a process that did not load it");
}

exactk_kernel stand_in(uint32_t modes) {
  exactk_kernel kernel{};
  kernel.struct_size = sizeof(kernel);
  kernel.modes = modes;
  kernel.supports = [](const void*, char*, size_t) -> exactk_status { not_in_this_process(); };
  kernel.workspace_bytes = [](const void*) -> int64_t { not_in_this_process(); };
  kernel.launch = [](const void*, char*, size_t) -> exactk_status { not_in_this_process(); };
  return kernel;
}

}  // namespace

std::vector<KernelUnderTest> Plugins::kernels() const {
  std::vector<KernelUnderTest> all;
  for (const Plugin& plugin : loaded) {
    for (const auto& kernel : plugin.kernels)
      all.push_back({&kernel->kernel(), std::nullopt, false, plugin.path});
  }
  return all;
}

std::vector<std::string> each_once(const std::vector<std::string>& paths) {
  std::vector<std::string> once;
  for (const std::string& path : paths) {
    if (std::find(once.begin(), once.end(), path) == once.end()) once.push_back(path);
  }
  return once;
}

Plugins load_plugins(const std::vector<std::string>& paths, const kernels::Device& device) {
  Plugins plugins;
  for (const std::string& path : each_once(paths)) {
    auto plugin = kernels::load_plugin(path, device, plugins.loaded);
    if (!plugin) {
      plugins.refused.push_back({path, "", plugin.error()});
      continue;
    }
    plugins.loaded.push_back(std::move(*plugin));
  }
  for (const Plugin& plugin : plugins.loaded)
    plugins.refused.insert(plugins.refused.end(), plugin.refused.begin(), plugin.refused.end());
  return plugins;
}

std::string plugin_to_json(const Plugin& plugin) {
  json kernels = json::array(), refused = json::array();
  for (const auto& owner : plugin.kernels) {
    const exactk_kernel& kernel = owner->kernel();
    kernels.push_back({{"name", kernel.name},
                       {"op", kernel.op},
                       {"description", kernel.description},
                       {"modes", kernel.modes}});
  }
  for (const kernels::Refusal& refusal : plugin.refused)
    refused.push_back({{"kernel", refusal.kernel}, {"why", refusal.why}});
  const json record = {{"path", plugin.path},
                       {"name", plugin.name},
                       {"version", plugin.version},
                       {"kernels", kernels},
                       {"refused", refused}};
  return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

Plugin plugin_from_json(std::string_view text) {
  try {
    const json record = json::parse(text);
    Plugin plugin{record.at("path"), record.at("name"), record.at("version"), {}, {}};
    for (const json& k : record.at("kernels")) {
      plugin.kernels.push_back(std::make_unique<const PluginKernel>(
          stand_in(k.at("modes")), k.at("name").get<std::string>(), k.at("op").get<std::string>(),
          k.at("description").get<std::string>()));
    }
    for (const json& r : record.at("refused"))
      plugin.refused.push_back({plugin.path, r.at("kernel"), r.at("why")});
    return plugin;
  } catch (const json::exception& error) {
    throw InternalError(fmt::format("a plugin came over unreadable: {}", error.what()));
  }
}

Outcome refused_outcome(const kernels::Refusal& refusal, const kernels::DeviceInfo& device) {
  Outcome outcome;
  outcome.plugin = refusal.path;
  outcome.kernel = refusal.kernel;
  outcome.at_load = true;
  outcome.device = device;
  outcome.verdict = oracle::Verdict::kFailed;
  outcome.reason = refusal.why;
  outcome.report = report_text(outcome);
  return outcome;
}

}  // namespace exactk::props
