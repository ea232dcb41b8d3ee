// The metadata builders that this program has: the shipped ones, and those with a planted fault.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "kernels/metadata/builder.h"

namespace exactk::kernels::metadata {

struct Variant {
  std::string_view name;         // "mla.parallel", "mutant.mla_<defect>"
  std::string_view planner;      // "serial", "parallel", or that of a PlantedPlanner
  std::string_view description;  // one sentence
  Result<std::unique_ptr<MlaBuilder>> (*make)(const BuilderSetup& setup);
  // Of a planted fault alone:
  std::string_view base = {};              // the variant that it changes
  std::string_view kind = {};              // of fault, "F22"
  std::string_view reaching_program = {};  // a program at which it fails
  bool host_only = false;                  // it fails there for certain on the host device alone
};

// mla.serial and mla.parallel.
std::span<const Variant> shipped_variants();

// The planner that the variant launches on a device kind, or the shipped one where it plans on the
// host.
PlanFunction planner_of(const Variant& variant, std::string_view device_kind);

// A builder of the variant, with its planner on `stream`.
Result<std::unique_ptr<MlaBuilder>> open_builder(const Variant& variant, Device& device,
                                                 const MlaShape& shape, void* stream);

}  // namespace exactk::kernels::metadata
