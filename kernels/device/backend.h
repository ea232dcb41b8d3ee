// One target behind the device layer: what runtime_device.cpp becomes when it is compiled for that
// target.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "kernels/device/device.h"

namespace exactk::kernels {

struct Backend {
  std::string_view kind;
  // What is present; an error says why nothing can be asked, for example that there is no driver.
  Result<std::vector<DeviceInfo>> (*list)();
  Result<std::unique_ptr<Device>> (*open)(int index);
};

const Backend& host_backend();
const Backend& hip_backend();
const Backend& cuda_backend();

}  // namespace exactk::kernels
