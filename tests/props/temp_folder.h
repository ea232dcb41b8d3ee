// A folder of the test's own, gone with the object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace exactk::tests {

class TempFolder {
 public:
  TempFolder() {
    static int count = 0;  // of this process
    path_ = std::filesystem::temp_directory_path() /
            ("exactk-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::remove_all(path_);  // of a process of that number that was killed
    std::filesystem::create_directory(path_);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace exactk::tests
