// What this program was built from, for reports.
#pragma once

#include <string>

namespace exactk::props {

std::string
build_commit();  // "1a2b3c4", "1a2b3c4+" with uncommitted changes, "unknown" outside a checkout
std::string build_commit_id();  // all 40 digits; empty outside a checkout
std::string build_compiler();   // "g++ 12.2"

}  // namespace exactk::props
