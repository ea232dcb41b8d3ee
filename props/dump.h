// The last launch of a run as files that `exactk check` judges.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "props/topk_problem.h"

namespace exactk::props {

class LaunchDump {
 public:
  // For a case of topk.decode or topk.prefill; `absolute` as its kernel promises.
  LaunchDump(const fixtures::Case& c, bool absolute) : problem_(topk_problem(c, absolute)) {}

  // Keeps the inputs and a copy of the indices in place of an earlier launch's. A run ends with the
  // launch that fails, so what is kept last is that one.
  void keep(const Launched& launched);
  bool empty() const { return inputs_ == nullptr; }

  // Writes logits.npy, the lengths or bounds, indices.npy and case.txt into `folder`, which is made
  // if need be; gaps between rows and columns are left out. Not for an empty one. The error is one
  // sentence.
  fixtures::Error write(const std::filesystem::path& folder) const;

  // exactk check ...: judges the files of `folder` under `promised`.
  std::string check_line(const std::filesystem::path& folder, uint32_t promised) const;

 private:
  TopkProblem problem_;
  std::shared_ptr<const StepInputs> inputs_;
  Bytes indices_;
};

}  // namespace exactk::props
