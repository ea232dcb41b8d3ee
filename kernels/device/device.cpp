#include "kernels/device/device.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "kernels/device/backend.h"

namespace exactk::kernels {
namespace {

// Every device kind that the project knows; null: not built into this program.
struct Kind {
  std::string_view name;
  const Backend* backend;
};

std::array<Kind, 3> kinds() {
  std::array<Kind, 3> all = {{{"host", nullptr}, {"hip", nullptr}, {"cuda", nullptr}}};
#if defined(EXACTK_WITH_HOST)
  all[0].backend = &host_backend();
#endif
#if defined(EXACTK_WITH_HIP)
  all[1].backend = &hip_backend();
#endif
#if defined(EXACTK_WITH_CUDA)
  all[2].backend = &cuda_backend();
#endif
  return all;
}

Result<std::unique_ptr<Device>> open_present(const Backend& backend, int index) {
  const auto present = backend.list();
  if (!present)
    return tl::unexpected(
        fmt::format("device '{}' cannot be used: {}", backend.kind, present.error()));
  if (index >= static_cast<int>(present->size())) {
    return tl::unexpected(fmt::format("there is no device '{}:{}'; {} of that kind {} present",
                                      backend.kind, index, present->size(),
                                      present->size() == 1 ? "is" : "are"));
  }
  return backend.open(index);
}

}  // namespace

std::vector<std::string_view> device_kinds() {
  std::vector<std::string_view> built;
  for (const Kind& kind : kinds()) {
    if (kind.backend) built.push_back(kind.name);
  }
  return built;
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices;
  for (const Kind& kind : kinds()) {
    if (!kind.backend) continue;
    const auto present = kind.backend->list();
    if (present) devices.insert(devices.end(), present->begin(), present->end());
  }
  return devices;
}

Result<std::unique_ptr<Device>> open_device(std::string_view spec) {
  const size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  int index = 0;
  if (colon != std::string_view::npos) {
    const std::string_view digits = spec.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || end != digits.data() + digits.size() || index < 0) {
      return tl::unexpected(
          fmt::format("device '{}': what follows the colon must be a number, as in 'hip:1'", spec));
    }
  }
  std::string known;
  for (const Kind& kind : kinds()) {
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
    if (kind.name != name) continue;
    if (kind.backend) return open_present(*kind.backend, index);
    return tl::unexpected(fmt::format(
        "device '{0}' is not built into this program; configure with --preset {0}", kind.name));
  }
  return tl::unexpected(fmt::format("unknown device '{}'; known are {}", spec, known));
}

}  // namespace exactk::kernels
