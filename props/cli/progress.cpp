#include "props/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace exactk::props::cli {
namespace {

constexpr std::chrono::milliseconds kTerminalEvery{100};
constexpr std::chrono::seconds kPlainEvery{20};
constexpr size_t kTerminalCharsMax = 110;

}  // namespace

Progress::Progress(int64_t total)
    : total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      last_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
  std::fflush(stderr);
}

void Progress::step(int64_t done, int64_t failed, const std::string& now) {
  const auto time = std::chrono::steady_clock::now();
  if (time - last_ < (terminal_
                          ? std::chrono::duration_cast<std::chrono::milliseconds>(kTerminalEvery)
                          : std::chrono::duration_cast<std::chrono::milliseconds>(kPlainEvery))) {
    return;
  }
  last_ = time;
  std::string line = total_ > 0 ? fmt::format("{} of {} runs, {} failed", done, total_, failed)
                                : fmt::format("{} runs, {} failed", done, failed);
  if (!terminal_) {
    fmt::print(stderr, "{}\n", line);
    return;
  }
  line += "  " + now;
  if (line.size() > kTerminalCharsMax) line.resize(kTerminalCharsMax);
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace exactk::props::cli
