/* The plugin that is right, beside which the others are judged. */
#include "tests/plugin/right_plugin.h"

exactk_status exactk_plugin_v1(const exactk_host* host, exactk_plugin* plugin) {
  static exactk_kernel kernel;
  static const exactk_kernel* const kernels[] = {&kernel};
  kernel = right_kernel("good.topk");
  return fill_plugin(host, plugin, kernels, 1);
}
