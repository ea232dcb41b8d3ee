#include "props/kernel_under_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/registry.h"

namespace exactk::props {
namespace {

using oracle::TopkMethod;

// The kernels whose launches report the path that they take; of a chain, its top-k stage.
constexpr std::array<std::pair<std::string_view, TopkMethod>, 12> kMethods = {{
    {"topk.block", TopkMethod::kBlock},
    {"topk.split_merge", TopkMethod::kSplitMerge},
    {"topk.k512", TopkMethod::kK512},
    {"topk.k1024", TopkMethod::kK1024},
    {"topk.auto", TopkMethod::kAuto},
    {"topk.stable", TopkMethod::kFullRadix},
    {"topk.gated", TopkMethod::kGated},
    {"topk.prefill_block", TopkMethod::kPrefill},
    {"topk.prefill_stable", TopkMethod::kFullRadix},
    {"chain.decode_auto", TopkMethod::kAuto},
    {"chain.decode_stable", TopkMethod::kFullRadix},
    {"chain.prefill_block", TopkMethod::kPrefill},
}};

std::optional<TopkMethod> method_of(std::string_view kernel) {
  for (const auto& [name, method] : kMethods) {
    if (name == kernel) return method;
  }
  return std::nullopt;
}

std::vector<KernelUnderTest> matching_kernels(const kernels::TargetKernels& built,
                                              std::string_view glob,
                                              std::span<const KernelUnderTest> outside) {
  std::vector<KernelUnderTest> matching;
  for (const KernelUnderTest& kernel : outside) {
    if (glob_match(glob, kernel.name())) matching.push_back(kernel);
  }
  for (const exactk_kernel* kernel : built.shipped) {
    if (glob_match(glob, kernel->name))
      matching.push_back({kernel, method_of(kernel->name), false});
  }
  // A planted fault must never be judged by accident: "*" does not reach it.
  if (!glob.starts_with("mutant")) return matching;
  for (const kernels::Mutant& mutant : built.mutants) {
    if (glob_match(glob, mutant.kernel->name))
      matching.push_back({mutant.kernel, method_of(mutant.base), true});
  }
  return matching;
}

}  // namespace

std::vector<std::string_view> split_globs(std::string_view globs) {
  std::vector<std::string_view> all;
  for (size_t begin = 0; begin <= globs.size();) {
    const size_t comma = std::min(globs.find(',', begin), globs.size());
    all.push_back(globs.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return all;
}

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

bool globs_match(std::string_view globs, std::string_view text) {
  const std::vector<std::string_view> all = split_globs(globs);
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view glob) { return glob_match(glob, text); });
}

fixtures::Result<std::vector<KernelUnderTest>> select_kernels(std::string_view device_kind,
                                                              std::string_view globs,
                                                              const OutsideKernels& outside) {
  const kernels::TargetKernels* built = kernels::target_kernels(device_kind);
  if (built == nullptr) {
    return tl::unexpected(fmt::format(
        "no kernels for devices of kind '{}' are built into this program", device_kind));
  }
  std::vector<KernelUnderTest> chosen;
  for (const std::string_view glob : split_globs(globs)) {
    const std::vector<KernelUnderTest> matching = matching_kernels(*built, glob, outside.kernels);
    if (matching.empty() && outside.complete) {
      return tl::unexpected(fmt::format(
          "no kernel matches '{}'; `exactk list kernels` and `exactk list mutants` name them",
          glob));
    }
    for (const KernelUnderTest& kernel : matching) {
      const auto same = [&](const KernelUnderTest& other) { return other.kernel == kernel.kernel; };
      if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(kernel);
    }
  }
  return chosen;
}

}  // namespace exactk::props
