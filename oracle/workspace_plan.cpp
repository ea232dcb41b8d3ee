#include "oracle/workspace_plan.h"

namespace exactk::oracle {
namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

}  // namespace

tl::expected<std::vector<WorkspaceView>, std::string> WorkspaceModel::get_simultaneous(
    std::span<const int64_t> bytes) {
  std::vector<WorkspaceView> views;
  int64_t end = 0;
  for (const int64_t view_bytes : bytes) {
    if (view_bytes < 0) {
      return tl::unexpected("a workspace view cannot have " + std::to_string(view_bytes) +
                            " bytes");
    }
    views.push_back({.offset = end, .bytes = view_bytes, .generation = 0});
    end += aligned(view_bytes);
  }
  if (end > bytes_) {
    if (locked_) {
      return tl::unexpected("the workspace is locked at " + std::to_string(bytes_) +
                            " bytes and cannot grow to " + std::to_string(end) +
                            "; ask for as much before it is locked");
    }
    bytes_ = end;
    ++generation_;
  }
  for (WorkspaceView& view : views) {
    view.generation = generation_;
  }
  return views;
}

int64_t combine_workspace_bytes(int64_t tokens_max, int64_t columns) {
  constexpr int64_t kIndexBytes = 4;
  return aligned(tokens_max * columns * kIndexBytes) + aligned(tokens_max * kIndexBytes);
}

}  // namespace exactk::oracle
