// Metadata builders by name, as kernels are selected.
#pragma once

#include <string_view>
#include <vector>

#include "fixtures/case.h"
#include "kernels/metadata/variants.h"

namespace exactk::props {

// By globs with commas between them: shipped builders, or, for a glob that starts with "mutant",
// those with a planted fault. A glob that matches nothing is an error that says where the names
// are.
fixtures::Result<std::vector<const kernels::metadata::Variant*>> select_variants(
    std::string_view globs);

}  // namespace exactk::props
