// Metadata builders with one planted fault each. They are never part of the shipped variants.
#pragma once

#include <span>

#include "kernels/metadata/variants.h"

namespace exactk::kernels::planted {

std::span<const metadata::Variant> metadata_mutants();

}  // namespace exactk::kernels::planted
