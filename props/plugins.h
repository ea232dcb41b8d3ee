// Plugins as the commands see them: the kernels that they brought, and what was refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/plugin.h"
#include "props/kernel_under_test.h"
#include "props/outcome.h"

namespace exactk::props {

struct Plugins {
  std::vector<kernels::Plugin> loaded;
  std::vector<kernels::Refusal> refused;  // whole plugins, then single kernels

  // Their kernels, which live as long as this does. No dispatch is predicted for them.
  std::vector<KernelUnderTest> kernels() const;
};

// The paths without those that came before.
std::vector<std::string> each_once(const std::vector<std::string>& paths);

// Loads all of them into this process, each once.
Plugins load_plugins(const std::vector<std::string>& paths, const kernels::Device& device);

// A loaded plugin for another process, in one line of JSON, and back. There its kernels stand for
// those of the process that loaded it: they can be named and compared, and their functions throw
// InternalError.
std::string plugin_to_json(const kernels::Plugin& plugin);
kernels::Plugin plugin_from_json(std::string_view text);

// The verdict on a plugin that was refused, or on a kernel of it: failed, with a report.
Outcome refused_outcome(const kernels::Refusal& refusal, const kernels::DeviceInfo& device);

}  // namespace exactk::props
