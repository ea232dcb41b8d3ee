// Progress on stderr: one line rewritten on a terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace exactk::props::cli {

class Progress {
 public:
  // `total` 0: not known.
  explicit Progress(int64_t total);
  ~Progress();
  void step(int64_t done, int64_t failed, const std::string& now);
  void clear();  // before other output

 private:
  int64_t total_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace exactk::props::cli
