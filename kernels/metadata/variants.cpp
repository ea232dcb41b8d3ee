#include "kernels/metadata/variants.h"

#include "kernels/registry.h"

namespace exactk::kernels::metadata {

std::span<const Variant> shipped_variants() {
  static constexpr Variant kVariants[] = {
      {"mla.serial", "serial",
       "Buffers that a step changes as little as it has to; planned on the host.",
       &MlaBuilder::make<>},
      {"mla.parallel", "parallel", "The same buffers; planned by a kernel of one block.",
       &MlaBuilder::make<>},
  };
  return kVariants;
}

PlanFunction planner_of(const Variant& variant, std::string_view device_kind) {
  const MetadataFunctions& functions = target_kernels(device_kind)->metadata;
  for (const PlantedPlanner& planted : functions.planted) {
    if (planted.name == variant.planner) return planted.plan;
  }
  return functions.plan;
}

Result<std::unique_ptr<MlaBuilder>> open_builder(const Variant& variant, Device& device,
                                                 const MlaShape& shape, void* stream) {
  if (shape.tokens_max < 1 || shape.k < 1 || shape.workers < 1 ||
      shape.tokens_max > INT32_MAX / shape.k)
    return tl::unexpected(
        "a builder needs at least one token, slot and worker, and at most 2147483647 slots; got " +
        std::to_string(shape.tokens_max) + " tokens of " + std::to_string(shape.k) + " slots and " +
        std::to_string(shape.workers) + " workers");
  const bool serial = variant.planner == "serial";
  return variant.make(
      {&device, shape, serial ? nullptr : planner_of(variant, device.info().kind), stream});
}

}  // namespace exactk::kernels::metadata
