// A model of the workspace manager: one buffer, views of one call side by side at 256-byte
// boundaries, offsets from 0 on every call, growth until it is locked. Source: vLLM v1
// worker/workspace.py (get_simultaneous, lock, unlock).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace exactk::oracle {

inline constexpr int64_t kWorkspaceAlignment = 256;

struct WorkspaceView {
  int64_t offset = 0;
  int64_t bytes = 0;
  int64_t generation = 0;  // of the storage: views of an older one do not alias newer views
  friend bool operator==(const WorkspaceView&, const WorkspaceView&) = default;
};

class WorkspaceModel {
 public:
  // Views of one call never overlap; views of two calls may be the same bytes. An error, and no
  // change, if the workspace is locked and too small: one sentence with both sizes.
  tl::expected<std::vector<WorkspaceView>, std::string> get_simultaneous(
      std::span<const int64_t> bytes);
  void lock() { locked_ = true; }
  void unlock() { locked_ = false; }
  bool locked() const { return locked_; }
  int64_t bytes() const { return bytes_; }            // of the buffer; never shrinks
  int64_t generation() const { return generation_; }  // counts the buffers

 private:
  int64_t bytes_ = 0;
  int64_t generation_ = 0;
  bool locked_ = false;
};

// Bytes that warm-up has to reserve for the index combine: its widest indices [tokens, columns] and
// lens [tokens], taken in one call.
int64_t combine_workspace_bytes(int64_t tokens_max, int64_t columns);

}  // namespace exactk::oracle
