// A plugin that goes wrong before it brought its kernels, in the way that EXACTK_TEST_FAULT names.
// Without it, it is right.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/plugin/right_plugin.h"

namespace {

bool fault_is(std::string_view name) {
  const char* fault = std::getenv("EXACTK_TEST_FAULT");
  return fault != nullptr && fault == name;
}

void go_wrong(const std::string& where) {
  if (fault_is(where + "_throws")) throw std::runtime_error("no luck");
  if (fault_is(where + "_throws_a_number")) throw 7;
  if (fault_is(where + "_crashes")) {
    (void)signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit code of it
    (void)raise(SIGSEGV);
  }
  if (fault_is(where + "_exits")) std::exit(0);
  while (fault_is(where + "_hangs")) (void)pause();
}

struct AtLoad {
  AtLoad() { go_wrong("constructor"); }
} at_load;

// Kernels of which one is not as it must be.
exactk_kernel spoilt_kernel() {
  exactk_kernel k = right_kernel("load.topk");
  if (fault_is("kernel_size")) k.struct_size = 8;
  if (fault_is("name_null")) k.name = nullptr;
  if (fault_is("name_empty")) k.name = "";
  if (fault_is("name_blank")) k.name = "two words";
  if (fault_is("name_built_in")) k.name = "topk.block";
  if (fault_is("name_mutant")) k.name = "mutant.mine";
  if (fault_is("op_null")) k.op = nullptr;
  if (fault_is("description_null")) k.description = nullptr;
  if (fault_is("supports_null")) k.supports = nullptr;
  if (fault_is("workspace_null")) k.workspace_bytes = nullptr;
  if (fault_is("launch_null")) k.launch = nullptr;
  if (fault_is("modes_unknown")) k.modes = EXACTK_MODE_SET | 0x4000u;
  if (fault_is("modes_contradict")) k.modes = EXACTK_MODE_ORDERED | EXACTK_MODE_STABLE;
  if (fault_is("mode_absolute")) k.modes = EXACTK_MODE_ABSOLUTE;
  if (fault_is("mode_of_index")) k.op = "index.swa";
  if (fault_is("nan_policy")) k.nan_policy = 5;
  if (fault_is("limit_negative")) k.limits.k = -1;
  if (fault_is("limit_unknown")) {
    k.op = "topk.prefill";
    k.limits.next_n = 2;
  }
  if (fault_is("op_unknown")) k.op = "router.topk";
  return k;
}

}  // namespace

extern "C" exactk_status exactk_plugin_v1(const exactk_host* host, exactk_plugin* plugin) {
  static exactk_kernel first, second;
  static const exactk_kernel* const kernels[] = {&first, &second};
  static const exactk_kernel* const with_null[] = {&first, nullptr};
  go_wrong("entry");
  first = spoilt_kernel();
  second = right_kernel(fault_is("name_twice") ? "load.topk" : "load.second");
  exactk_status status = fill_plugin(host, plugin, kernels, 2);
  if (fault_is("version")) plugin->abi_version = 2;
  if (fault_is("version_zero")) plugin->abi_version = 0;
  if (fault_is("plugin_size")) plugin->struct_size = 12;
  if (fault_is("plugin_name")) plugin->name = nullptr;
  if (fault_is("kernels_null")) plugin->kernels = nullptr;
  if (fault_is("kernels_none")) plugin->kernel_count = 0;
  if (fault_is("kernel_null")) plugin->kernels = with_null;
  if (fault_is("declines")) status = EXACTK_DECLINED;
  if (fault_is("reports_an_error")) {
    status = EXACTK_ERROR;
    plugin->message = "it needs a licence";
  }
  return status;
}
