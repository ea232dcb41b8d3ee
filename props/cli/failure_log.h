// The failures of a run on disk, one line of JSON each, written before anything else is launched:
// whatever happens later, none is lost.
#pragma once

#include <string>
#include <vector>

#include "props/isolated_runner.h"
#include "props/outcome.h"

namespace exactk::props::cli {

// "topk.block wave=64 topk.decode rows=4 ...": a job as `exactk replay --after` takes it.
std::string job_text(const Job& job);

class FailureLog {
 public:
  // `file` is made with the first failure; lines are added to one that is there. Empty: no log.
  explicit FailureLog(std::string file) : file_(std::move(file)) {}

  // Whether the file can be written; one sentence if not. Leaves no file behind.
  std::string unwritable() const;

  // `stage`: "run", as it was met, or "shrunk". `before`: what the process had run before. A line
  // that can't be written is one sentence, and no reason to stop judging.
  std::string add(const std::string& stage, const Outcome& outcome,
                  const std::vector<Job>& before = {}, const std::string& recurrence = "");

  int64_t lines() const { return lines_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  int64_t lines_ = 0;
};

}  // namespace exactk::props::cli
