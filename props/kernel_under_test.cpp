#include "props/kernel_under_test.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "kernels/registry.h"

namespace exactk::props {
namespace {

using oracle::TopkMethod;

constexpr std::array<std::pair<std::string_view, TopkMethod>, 5> kMethods = {{
    {"topk.block", TopkMethod::kBlock},
    {"topk.split_merge", TopkMethod::kSplitMerge},
    {"topk.k512", TopkMethod::kK512},
    {"topk.k1024", TopkMethod::kK1024},
    {"topk.auto", TopkMethod::kAuto},
}};

std::optional<TopkMethod> method_of(std::string_view kernel) {
  for (const auto& [name, method] : kMethods) {
    if (name == kernel) return method;
  }
  return std::nullopt;
}

}  // namespace

bool glob_match(std::string_view glob, std::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob.front() == '*') {
    for (size_t skip = 0; skip <= text.size(); ++skip) {
      if (glob_match(glob.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  if (text.empty() || (glob.front() != '?' && glob.front() != text.front())) return false;
  return glob_match(glob.substr(1), text.substr(1));
}

fixtures::Result<std::vector<KernelUnderTest>> select_kernels(std::string_view device_kind,
                                                              std::string_view glob) {
  const kernels::TargetKernels* built = kernels::target_kernels(device_kind);
  if (built == nullptr) {
    return tl::unexpected(fmt::format(
        "no kernels for devices of kind '{}' are built into this program", device_kind));
  }
  std::vector<KernelUnderTest> chosen;
  for (const exactk_kernel* kernel : built->shipped) {
    if (glob_match(glob, kernel->name)) chosen.push_back({kernel, method_of(kernel->name), false});
  }
  // A planted fault must never be judged by accident: "*" does not reach it.
  if (glob.starts_with("mutant")) {
    for (const kernels::Mutant& mutant : built->mutants) {
      if (glob_match(glob, mutant.kernel->name)) {
        chosen.push_back({mutant.kernel, method_of(mutant.base), true});
      }
    }
  }
  if (chosen.empty()) {
    return tl::unexpected(fmt::format(
        "no kernel matches '{}'; `exactk list kernels` and `exactk list mutants` name them", glob));
  }
  return chosen;
}

oracle::TopkShape topk_shape(const fixtures::Case& c) {
  oracle::TopkShape shape;
  shape.rows = c.rows;
  shape.width = c.width;
  shape.k = c.k;
  shape.column_stride = c.column_stride;
  shape.arch = fixtures::name(c.arch);
  const auto set = [](auto& published, int64_t injected) {
    if (injected != 0)
      published = static_cast<std::remove_reference_t<decltype(published)>>(injected);
  };
  set(shape.tuning.radix_width, c.tune.radix_width);
  set(shape.tuning.split_width, c.tune.split_width);
  set(shape.tuning.split_blocks, c.tune.split_blocks);
  set(shape.tuning.policy_shift, c.tune.policy_shift);
  set(shape.tuning.min_chunk, c.tune.min_chunk);
  return shape;
}

}  // namespace exactk::props
