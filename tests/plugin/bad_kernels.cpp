// Kernels that go wrong when they run, each in its own way, and one that does not.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "tests/plugin/right_plugin.h"

namespace {

const exactk_topk_decode& decode(const void* arguments) {
  return *static_cast<const exactk_topk_decode*>(arguments);
}

template <auto Run>
exactk_status launch(const void* descriptor, char* message, size_t message_bytes) {
  return enqueue([](const void* arguments) { Run(decode(arguments)); }, descriptor, message,
                 message_bytes);
}

// After the right answer.
template <auto Spoil>
void spoilt(const exactk_topk_decode& d) {
  right_run(&d);
  Spoil(d);
}

exactk_status declines_without_a_reason(const void*, char*, size_t) {
  return EXACTK_DECLINED;
}

exactk_status message_without_an_end(const void*, char* message, size_t message_bytes) {
  std::memset(message, 'x', message_bytes);
  return EXACTK_DECLINED;
}

exactk_status at_once(const void* descriptor, char*, size_t) {
  right_run(descriptor);
  return EXACTK_OK;
}

exactk_status keeps_the_descriptor(const void* descriptor, char* message, size_t message_bytes) {
  const auto run = [](const void* kept) {
    right_run(*static_cast<const exactk_topk_decode* const*>(kept));
  };
  // A copy that is overwritten, as the caller's own is: what a kernel must not rely on.
  static std::vector<char> gone(sizeof(exactk_topk_decode));
  std::memcpy(gone.data(), descriptor, gone.size());
  const void* kept = gone.data();
  const exactk_status status = told_host->enqueue(decode(descriptor).stream, run, &kept,
                                                  sizeof(kept), message, message_bytes);
  std::memset(gone.data(), 0, gone.size());
  return status;
}

exactk_status throws_in_launch(const void*, char*, size_t) {
  throw std::runtime_error("no luck");
}

exactk_status exits_in_launch(const void*, char*, size_t) {
  std::exit(0);
}

void throws_on_the_stream(const exactk_topk_decode&) {
  throw 7;
}

void never_returns(const exactk_topk_decode&) {
  for (;;) (void)pause();
}

void crashes(const exactk_topk_decode&) {
  (void)std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit code of it
  (void)std::raise(SIGSEGV);
}

void prints(const exactk_topk_decode&) {
  std::puts("passed 1000, failed 0");
}

void past_the_end(const exactk_topk_decode& d) {
  d.indices[(d.rows - 1) * d.out_stride_elems + d.k] = 0;
}

void changes_its_input(const exactk_topk_decode& d) {
  const_cast<float*>(d.logits)[0] = 1;
}

void swaps_two(const exactk_topk_decode& d) {
  std::swap(d.indices[0], d.indices[1]);
}

void sentinel_first(const exactk_topk_decode& d) {
  if (right_length(&d, 0) < d.k) std::swap(d.indices[0], d.indices[d.k - 1]);
}

void other_bytes_each_time(const exactk_topk_decode& d) {
  static bool swap = false;
  if (swap) std::swap(d.indices[0], d.indices[1]);
  swap = !swap;
}

exactk_kernel with_launch(const char* name, decltype(exactk_kernel::launch) launch,
                          uint32_t modes = EXACTK_MODE_SET) {
  exactk_kernel kernel = right_kernel(name);
  kernel.launch = launch;
  kernel.modes = modes;
  return kernel;
}

exactk_kernel with_supports(const char* name, decltype(exactk_kernel::supports) supports) {
  exactk_kernel kernel = right_kernel(name);
  kernel.supports = supports;
  return kernel;
}

exactk_kernel with_workspace(const char* name, decltype(exactk_kernel::workspace_bytes) bytes) {
  exactk_kernel kernel = right_kernel(name);
  kernel.workspace_bytes = bytes;
  return kernel;
}

exactk_kernel with_limits(const char* name, const exactk_limits& limits, int32_t nan_policy) {
  exactk_kernel kernel = right_kernel(name);
  // What is beyond the limits is not even asked about.
  kernel.supports = declines_without_a_reason;
  kernel.limits = limits;
  kernel.nan_policy = nan_policy;
  return kernel;
}

std::vector<exactk_kernel> all_kernels() {
  exactk_kernel no_nan = right_kernel("bad.no_nan");
  no_nan.nan_policy = EXACTK_NAN_NOT_TAKEN;
  return {
      right_kernel("bad.not_at_all"),
      with_launch("bad.prints", launch<spoilt<prints>>),
      no_nan,
      with_limits("bad.limit_k", {.k = 7, .width = 0, .rows = 0, .next_n = 0, .column_stride = 0},
                  EXACTK_NAN_ORDERED),
      with_limits("bad.limit_rows",
                  {.k = 0, .width = 0, .rows = 1, .next_n = 0, .column_stride = 0},
                  EXACTK_NAN_ORDERED),
      with_launch("bad.past_the_end", launch<spoilt<past_the_end>>),
      with_launch("bad.changes_its_input", launch<spoilt<changes_its_input>>),
      with_launch("bad.never_returns", launch<never_returns>),
      with_launch("bad.crashes", launch<crashes>),
      with_launch("bad.exits", exits_in_launch),
      with_launch("bad.throws", throws_in_launch),
      with_launch("bad.throws_on_the_stream", launch<throws_on_the_stream>),
      with_launch("bad.at_once", at_once),
      with_launch("bad.keeps_the_descriptor", keeps_the_descriptor),
      with_launch("bad.not_stable", launch<spoilt<swaps_two>>, EXACTK_MODE_STABLE),
      with_launch("bad.not_ordered", right_launch, EXACTK_MODE_ORDERED),
      with_launch("bad.not_prefix", launch<spoilt<sentinel_first>>, EXACTK_MODE_PREFIX),
      with_launch("bad.not_repeatable", launch<spoilt<other_bytes_each_time>>,
                  EXACTK_MODE_REPEATABLE),
      with_supports("bad.declines_silently", declines_without_a_reason),
      with_supports("bad.endless_message", message_without_an_end),
      with_supports("bad.throws_when_asked", throws_in_launch),
      with_workspace("bad.negative_workspace", [](const void*) { return int64_t{-5}; }),
      with_workspace("bad.huge_workspace", [](const void*) { return INT64_MAX; }),
  };
}

}  // namespace

extern "C" exactk_status exactk_plugin_v1(const exactk_host* host, exactk_plugin* plugin) {
  static const std::vector<exactk_kernel> all = all_kernels();
  static std::vector<const exactk_kernel*> kernels;
  for (const exactk_kernel& kernel : all) kernels.push_back(&kernel);
  return fill_plugin(host, plugin, kernels.data(), static_cast<int64_t>(kernels.size()));
}
