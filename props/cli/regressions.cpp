#include "props/cli/regressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "fixtures/case_file.h"
#include "props/build_info.h"

namespace exactk::props::cli {
namespace {

namespace fs = std::filesystem;
using fixtures::Result;

bool is_slug(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

// The number that the file's name begins with; 0: none.
int number_of(const fs::path& file) {
  const std::string name = file.filename().string();
  int number = 0;
  (void)std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

// A comment is one line, whatever a kernel has said.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, ' ');
  return text;
}

std::string content(const fixtures::Case& c, const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& o : outcomes) {
    text += one_line(fmt::format("# {} on {}, wave {}, commit {}: {}{}", o.kernel, o.device.kind,
                                 o.device.wave_width, build_commit(), oracle::name(o.verdict),
                                 o.reason.empty() ? "" : ": " + o.reason)) +
            "\n";
  }
  return text + fixtures::print_case(c) + "\n";
}

}  // namespace

Result<fs::path> add_regression(const fs::path& folder, const std::string& slug,
                                const fixtures::Case& c, const std::vector<Outcome>& outcomes) {
  if (!is_slug(slug))
    return tl::unexpected(fmt::format(
        "'{}' is no name for a regression; use small letters, digits and hyphens", slug));
  std::error_code code;
  int last = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    last = std::max(last, number_of(entry.path()));
    const auto known = fixtures::read_case_file(entry.path());
    if (!known) return tl::unexpected(known.error());
    for (const fixtures::FileCase& file_case : *known) {
      if (file_case.value == c)
        return tl::unexpected(fmt::format("the case is in {} already", entry.path().string()));
    }
  }
  if (code)
    return tl::unexpected(fmt::format(
        "'{}' is no folder that can be read; name one by --regressions", folder.string()));
  const fs::path file = folder / fmt::format("{:04}-{}.cases", last + 1, slug);
  std::ofstream out(file);
  out << content(c, outcomes);
  out.close();
  if (!out) return tl::unexpected(fmt::format("can't write '{}'; check the folder", file.string()));
  return file;
}

}  // namespace exactk::props::cli
