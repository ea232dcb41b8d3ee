#include "props/mla_variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/mutants/metadata_mutants.h"
#include "props/kernel_under_test.h"

namespace exactk::props {

fixtures::Result<std::vector<const kernels::metadata::Variant*>> select_variants(
    std::string_view globs) {
  std::vector<const kernels::metadata::Variant*> chosen;
  const auto add_matching = [&](std::string_view glob, auto variants) {
    bool any = false;
    for (const kernels::metadata::Variant& variant : variants) {
      if (!glob_match(glob, variant.name)) continue;
      any = true;
      if (std::find(chosen.begin(), chosen.end(), &variant) == chosen.end())
        chosen.push_back(&variant);
    }
    return any;
  };
  for (const std::string_view glob : split_globs(globs)) {
    const bool planted = glob.starts_with("mutant");
    if (planted ? add_matching(glob, kernels::planted::metadata_mutants())
                : add_matching(glob, kernels::metadata::shipped_variants()))
      continue;
    return tl::unexpected(
        fmt::format("no metadata builder matches '{}'; `exactk list metadata` names them", glob));
  }
  return chosen;
}

}  // namespace exactk::props
