#include "props/kernel_call.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <string_view>

#include "props/internal_error.h"

namespace exactk::props {
namespace {

using kernels::Result;

constexpr size_t kMessageBytes = 512;
constexpr int64_t kWorkspaceBytesMax =
    int64_t{1} << 50;  // past this no sum of sizes overflows, nor is a number meant

// The kernel is C, or another compiler's C++: what it throws may be of no type that is known here.
template <class Function>
auto without_exceptions(std::string_view doing, Function&& function)
    -> Result<decltype(function())> {
  try {
    return function();
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& thrown) {
    return tl::unexpected(fmt::format("{} threw an exception: {}", doing, thrown.what()));
  } catch (...) {
    return tl::unexpected(fmt::format("{} threw an exception", doing));
  }
}

// A message as the kernel left it, ended where it forgot to.
class Message {
 public:
  char* data() { return text_.data(); }
  size_t size() const { return text_.size() - 1; }
  std::string text() const { return text_.data(); }

 private:
  std::array<char, kMessageBytes + 1> text_{};
};

}  // namespace

Result<Support> ask_supports(const exactk_kernel& kernel, const void* descriptor) {
  Message message;
  const auto status = without_exceptions(
      "supports()", [&] { return kernel.supports(descriptor, message.data(), message.size()); });
  if (!status) return tl::unexpected(status.error());
  return Support{*status, message.text()};
}

Result<int64_t> ask_workspace_bytes(const exactk_kernel& kernel, const void* descriptor) {
  auto bytes =
      without_exceptions("workspace_bytes()", [&] { return kernel.workspace_bytes(descriptor); });
  if (bytes && (*bytes < 0 || *bytes > kWorkspaceBytesMax)) {
    return tl::unexpected(fmt::format("workspace_bytes() asks for {} bytes; 0 to {} can be meant",
                                      *bytes, kWorkspaceBytesMax));
  }
  return bytes;
}

Result<void> call_launch(const exactk_kernel& kernel, const void* descriptor) {
  Message message;
  const auto status = without_exceptions(
      "the launch", [&] { return kernel.launch(descriptor, message.data(), message.size()); });
  if (!status) return tl::unexpected(status.error());
  if (*status == EXACTK_OK) return {};
  return tl::unexpected(fmt::format("the launch returned {}: {}",
                                    *status == EXACTK_DECLINED ? "declined" : "an error",
                                    message.text()));
}

}  // namespace exactk::props
