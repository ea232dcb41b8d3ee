#include "kernels/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <string_view>

#include "kernels/registry.h"

namespace exactk::kernels {
namespace {

using Entry = exactk_status (*)(const exactk_host*, exactk_plugin*);

constexpr int kVersionsProbed = 9;  // for a sentence about plugins of a later version
constexpr int64_t kKernelsMax = 4096;
constexpr uint32_t kModesKnown = EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_ORDERED |
                                 EXACTK_MODE_STABLE | EXACTK_MODE_REPEATABLE |
                                 EXACTK_MODE_KERNELS_ONLY | EXACTK_MODE_ABSOLUTE;
constexpr uint32_t kModesOfOrder =
    EXACTK_MODE_PREFIX | EXACTK_MODE_ORDERED | EXACTK_MODE_STABLE | EXACTK_MODE_ABSOLUTE;

struct Op {
  std::string_view name;
  bool logits = false;  // selects among logits
  bool next_n = false;
  bool computes_logits = false;  // has rows and a width, and no k
};
constexpr std::array<Op, 13> kOps = {{{"topk.decode", true, true},
                                      {"topk.prefill", true},
                                      {"index.combine"},
                                      {"index.translate"},
                                      {"index.swa"},
                                      {"chain.decode", true, true},
                                      {"chain.prefill", true},
                                      {"router.grouped_topk"},
                                      {"attention.sparse_prefill"},
                                      {"attention.sparse_decode"},
                                      {"step.decode", true, true},
                                      {"logits.mqa", false, false, true},
                                      {"logits.mqa_paged", false, true, true}}};

const Op* op_named(std::string_view name) {
  const auto found =
      std::find_if(kOps.begin(), kOps.end(), [&](auto& op) { return op.name == name; });
  return found == kOps.end() ? nullptr : &*found;
}

template <class... Arguments>
tl::unexpected<Error> refusal(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return tl::unexpected(fmt::format(text, std::forward<Arguments>(arguments)...));
}

// Runs code of the library. The error says what it threw.
template <class Function>
Result<void> without_exceptions(const char* doing, Function&& function) {
  try {
    function();
    return {};
  } catch (const std::exception& thrown) {
    return refusal("it threw an exception {}: {}", doing, thrown.what());
  } catch (...) {
    return refusal("it threw an exception {}", doing);
  }
}

Result<void*> open_library(const std::string& path) {
  // Without a slash the loader would look in its own folders, and not here.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = nullptr;
  const auto opened = without_exceptions(
      "while it was loaded", [&] { library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); });
  if (!opened) return tl::unexpected(opened.error());
  if (library != nullptr) return library;
  const char* why = dlerror();
  return refusal("it can't be loaded: {}", why == nullptr ? "no reason is known" : why);
}

Result<Entry> find_entry(void* library) {
  if (void* symbol = dlsym(library, "exactk_plugin_v1")) return reinterpret_cast<Entry>(symbol);
  for (int version = 2; version <= kVersionsProbed; ++version) {
    if (dlsym(library, fmt::format("exactk_plugin_v{}", version).c_str()) == nullptr) continue;
    return refusal("it is of version {} of the plugin interface, and this program takes version {}",
                   version, EXACTK_ABI_VERSION);
  }
  return refusal(
      "it does not export exactk_plugin_v1, so it is no plugin; define the function with "
      "EXACTK_PLUGIN_EXPORT, and in C++ with extern \"C\"");
}

// What plugins are told; it has to live as long as they do.
const exactk_host* told_of(const Device& device) {
  struct Told {
    std::string kind;
    exactk_host host{};
  };
  const DeviceInfo info = device.info();
  static auto* const all_told = new std::deque<Told>;
  Told& told = all_told->emplace_back(Told{info.kind, {}});
  told.host.struct_size = sizeof(exactk_host);
  told.host.abi_version = EXACTK_ABI_VERSION;
  told.host.device_kind = told.kind.c_str();
  told.host.device_index = info.index;
  told.host.wave_width = info.kind == "host" ? 0 : info.wave_width;
  told.host.enqueue = device.host_enqueue();
  return &told.host;
}

// Room behind the struct, for a plugin whose own is longer.
struct Roomy {
  exactk_plugin plugin{};
  std::array<char, 4096> more{};
};

Result<void> check_answer(exactk_status status, const exactk_plugin& said) {
  if (said.abi_version != 0 && said.abi_version != EXACTK_ABI_VERSION) {
    return refusal("it is of version {} of the plugin interface, and this program takes version {}",
                   said.abi_version, EXACTK_ABI_VERSION);
  }
  if (status != EXACTK_OK) {
    return refusal(
        "exactk_plugin_v1() {}{}",
        status == EXACTK_DECLINED ? "declines this device" : "reports an error",
        said.message == nullptr ? ", without a reason" : fmt::format(": {}", said.message));
  }
  if (said.abi_version == 0)
    return refusal("it leaves abi_version 0; set it to EXACTK_ABI_VERSION");
  if (said.struct_size != sizeof(exactk_plugin)) {
    return refusal("its exactk_plugin has struct_size {}, and version {} has {}", said.struct_size,
                   EXACTK_ABI_VERSION, sizeof(exactk_plugin));
  }
  if (said.name == nullptr || *said.name == '\0') return refusal("it has no name");
  if (said.kernel_count < 1 || said.kernel_count > kKernelsMax) {
    return refusal("it registers {} kernels; 1 to {} can be taken", said.kernel_count, kKernelsMax);
  }
  if (said.kernels == nullptr) return refusal("its list of kernels is null");
  return {};
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  });
}

// Where the name is taken already; empty: it is free.
std::string taken_by(std::string_view name, const Plugin& plugin, std::span<const Plugin> loaded,
                     std::string_view kind) {
  const auto is_same = [&](const auto& kernel) { return name == kernel->kernel().name; };
  if (std::any_of(plugin.kernels.begin(), plugin.kernels.end(), is_same))
    return "by another one of its own";
  for (const Plugin& other : loaded) {
    if (std::any_of(other.kernels.begin(), other.kernels.end(), is_same))
      return fmt::format("by one of {}", other.path);
  }
  if (name.starts_with("mutant")) return "by the planted faults, whose names begin with mutant";
  const TargetKernels* built = target_kernels(kind);
  if (built == nullptr) return "";
  const auto is_built = [&](const exactk_kernel* kernel) { return name == kernel->name; };
  return std::any_of(built->shipped.begin(), built->shipped.end(), is_built) ? "by a built-in one"
                                                                             : "";
}

Result<void> check_struct(const exactk_kernel* kernel, int64_t at) {
  if (kernel == nullptr) return refusal("its kernel {} is null", at);
  if (kernel->struct_size != sizeof(exactk_kernel)) {
    return refusal("the exactk_kernel of its kernel {} has struct_size {}, and version {} has {}",
                   at, kernel->struct_size, EXACTK_ABI_VERSION, sizeof(exactk_kernel));
  }
  if (kernel->name == nullptr || *kernel->name == '\0')
    return refusal("its kernel {} has no name", at);
  if (!is_name(kernel->name)) {
    return refusal("the name '{}' of a kernel holds more than letters, digits, '.', '_' and '-'",
                   kernel->name);
  }
  const std::pair<const char*, bool> members[] = {
      {"op", kernel->op != nullptr},
      {"description", kernel->description != nullptr},
      {"supports", kernel->supports != nullptr},
      {"workspace_bytes", kernel->workspace_bytes != nullptr},
      {"launch", kernel->launch != nullptr}};
  for (const auto& [member, there] : members) {
    if (!there) return refusal("{} of kernel {} is null", member, kernel->name);
  }
  return {};
}

Result<void> check_modes(const exactk_kernel& kernel, const Op& op) {
  const uint32_t modes = kernel.modes;
  if ((modes & ~kModesKnown) != 0) {
    return refusal("kernel {} promises unknown modes {:#x}; known are {:#x}", kernel.name,
                   modes & ~kModesKnown, kModesKnown);
  }
  if ((modes & EXACTK_MODE_ORDERED) != 0 && (modes & EXACTK_MODE_STABLE) != 0) {
    return refusal(
        "kernel {} promises both ordered, by logits, and stable, by indices; one excludes the "
        "other",
        kernel.name);
  }
  if ((modes & EXACTK_MODE_ABSOLUTE) != 0 && op.name != "topk.prefill") {
    return refusal("kernel {} promises absolute indices, which only topk.prefill has; it is of {}",
                   kernel.name, op.name);
  }
  if (!op.logits && (modes & kModesOfOrder) != 0) {
    return refusal(
        "kernel {} promises an order of slots, and {} fixes every element; leave repeatable and "
        "kernels_only",
        kernel.name, op.name);
  }
  return {};
}

Result<void> check_limits(const exactk_kernel& kernel, const Op& op) {
  if (kernel.nan_policy != EXACTK_NAN_ORDERED && kernel.nan_policy != EXACTK_NAN_NOT_TAKEN) {
    return refusal("kernel {} has the unknown NaN policy {}; known are {} and {}", kernel.name,
                   kernel.nan_policy, int{EXACTK_NAN_ORDERED}, int{EXACTK_NAN_NOT_TAKEN});
  }
  const exactk_limits& limits = kernel.limits;
  struct Limit {
    const char* name;
    int64_t value;
    bool known;
  };
  const Limit all[] = {{"k", limits.k, op.name != "index.swa" && !op.computes_logits},
                       {"width", limits.width, op.logits || op.computes_logits},
                       {"rows", limits.rows, op.logits || op.computes_logits},
                       {"next_n", limits.next_n, op.next_n},
                       {"column_stride", limits.column_stride, op.logits}};
  for (const Limit& limit : all) {
    if (limit.value < 0) {
      return refusal("kernel {} limits {} to {}; 0 is no limit", kernel.name, limit.name,
                     limit.value);
    }
    if (limit.value > 0 && !limit.known) {
      return refusal("kernel {} limits {}, which {} does not have", kernel.name, limit.name,
                     op.name);
    }
  }
  return {};
}

exactk_kernel with_included_modes(exactk_kernel kernel, const Op& op) {
  if (!op.logits) kernel.modes &= ~EXACTK_MODE_SET;
  if ((kernel.modes & (EXACTK_MODE_ORDERED | EXACTK_MODE_STABLE)) != 0)
    kernel.modes |= EXACTK_MODE_PREFIX;
  if (op.logits) kernel.modes |= EXACTK_MODE_SET;
  return kernel;
}

// Adds the kernel, or its refusal, to the plugin; an error refuses all of it.
Result<void> take_kernel(const exactk_kernel* kernel, int64_t at, std::span<const Plugin> loaded,
                         std::string_view kind, Plugin& plugin) {
  if (auto checked = check_struct(kernel, at); !checked) return checked;
  if (const std::string by = taken_by(kernel->name, plugin, loaded, kind); !by.empty())
    return refusal("the name {} of a kernel is taken {}", kernel->name, by);
  const Op* op = op_named(kernel->op);
  if (op == nullptr) {
    plugin.refused.push_back(
        {plugin.path, kernel->name,
         fmt::format("this version knows no operation '{}'; `exactk list kernels` names the known "
                     "ones",
                     kernel->op)});
    return {};
  }
  if (auto checked = check_modes(*kernel, *op); !checked) return checked;
  if (auto checked = check_limits(*kernel, *op); !checked) return checked;
  plugin.kernels.push_back(std::make_unique<const PluginKernel>(
      with_included_modes(*kernel, *op), kernel->name, kernel->op, kernel->description));
  return {};
}

}  // namespace

PluginKernel::PluginKernel(const exactk_kernel& kernel, std::string name, std::string op,
                           std::string description)
    : name_(std::move(name)),
      op_(std::move(op)),
      description_(std::move(description)),
      kernel_(kernel) {
  kernel_.name = name_.c_str();
  kernel_.op = op_.c_str();
  kernel_.description = description_.c_str();
}

Result<Plugin> load_plugin(const std::string& path, const Device& device,
                           std::span<const Plugin> loaded) {
  const auto library = open_library(path);
  if (!library) return tl::unexpected(library.error());
  const auto entry = find_entry(*library);
  if (!entry) return tl::unexpected(entry.error());
  Roomy said;
  exactk_status status = EXACTK_ERROR;
  const auto called = without_exceptions("in exactk_plugin_v1()",
                                         [&] { status = (*entry)(told_of(device), &said.plugin); });
  if (!called) return tl::unexpected(called.error());
  if (auto checked = check_answer(status, said.plugin); !checked)
    return tl::unexpected(checked.error());
  Plugin plugin{
      path, said.plugin.name, said.plugin.version == nullptr ? "" : said.plugin.version, {}, {}};
  const std::string kind = device.info().kind;
  for (int64_t i = 0; i < said.plugin.kernel_count; ++i) {
    auto taken = take_kernel(said.plugin.kernels[i], i, loaded, kind, plugin);
    if (!taken) return tl::unexpected(taken.error());
  }
  return plugin;
}

}  // namespace exactk::kernels
