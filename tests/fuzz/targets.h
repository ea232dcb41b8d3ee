// What the fuzzers call with every input, and what must hold of each. A violation is an exception.
#pragma once

#include <span>
#include <string_view>

namespace exactk::tests {

// A header is refused in one sentence, or describes exactly the bytes behind it.
void fuzz_npy(std::string_view file);

// A line is refused in one sentence, or is a valid case that its printed line gives back.
void fuzz_case(std::string_view line);

// The same for the lines of a case file.
void fuzz_case_file(std::string_view text);

// A record is refused as InternalError, or is one that its own JSON gives back.
void fuzz_json(std::string_view text);

}  // namespace exactk::tests
