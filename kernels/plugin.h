// Kernels from outside: shared libraries that export exactk_plugin_v1().
//
// What is checked is what an honest plugin can get wrong. A plugin runs in the process that loads
// it, and can do there what it likes: props loads plugins in a child.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/abi/exactk_abi.h"
#include "kernels/device/device.h"

namespace exactk::kernels {

// A kernel with texts of its own: nothing that it says of itself changes after it was loaded.
class PluginKernel {
 public:
  PluginKernel(const exactk_kernel& kernel, std::string name, std::string op,
               std::string description);
  PluginKernel(const PluginKernel&) = delete;
  PluginKernel& operator=(const PluginKernel&) = delete;
  const exactk_kernel& kernel() const { return kernel_; }

 private:
  std::string name_, op_, description_;
  exactk_kernel kernel_;
};

// What was not taken, and one sentence that says why.
struct Refusal {
  std::string path;    // of the plugin, as it was given
  std::string kernel;  // empty: the whole plugin
  std::string why;
};

struct Plugin {
  std::string path;     // as it was given
  std::string name;     // as the plugin says
  std::string version;  // the same; may be empty
  std::vector<std::unique_ptr<const PluginKernel>> kernels;
  std::vector<Refusal> refused;  // kernels of operations that this version does not know
};

// Loads the library into this process, for good, and takes its kernels for the device. The error is
// one sentence, whatever the library throws. Refused as a whole: another version, wrong sizes, null
// pointers, names that are empty, taken (by a built-in kernel or by one of `loaded`) or hold more
// than letters, digits, '.', '_' and '-', modes and limits that are unknown or contradict each
// other. A mode that another one includes is added.
Result<Plugin> load_plugin(const std::string& path, const Device& device,
                           std::span<const Plugin> loaded = {});

}  // namespace exactk::kernels
