// A shipped kernel whose result is changed after a direct launch: what a judge must notice.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "props/outcome.h"

namespace exactk::tests {

// Runs the case on the kernel, at wave width 64. `corrupt` gets the descriptor of the kernel's
// operation when the launch is done; the host device's memory is the host's.
props::Outcome run_corrupted(const std::string& line, std::string_view shipped,
                             std::function<void(const void*)> corrupt);

// The same without any change.
props::Outcome run_unchanged(const std::string& line, std::string_view shipped);

}  // namespace exactk::tests
