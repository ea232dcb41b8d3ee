// What came out of one case on one kernel: the verdict and all the evidence that a report needs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "oracle/topk_contract.h"
#include "oracle/verdict.h"
#include "props/inputs.h"
#include "props/judge_launch.h"

namespace exactk::props {

// The evidence of the first launch that failed.
struct Evidence {
  int64_t step = 0;  // 0: the first launch
  int variant = 0;   // 0: the case's own poison, 1: the other one
  LaunchJudgement judgement;
  std::shared_ptr<const StepInputs> inputs;
  std::shared_ptr<const StepInputs> first_inputs;  // of launch 0: what was known at capture
  std::vector<int32_t> output;
  std::vector<int32_t> before;
};

struct Outcome {
  fixtures::Case value;
  std::string kernel;
  kernels::DeviceInfo device;
  uint32_t promised = 0;  // contract modes
  oracle::Verdict verdict = oracle::Verdict::kInvalid;
  std::string reason;     // one sentence for every verdict but kPassed
  std::string diagnosis;  // kFailed: one sentence that says what is wrong, and where
  std::shared_ptr<const Evidence> evidence;  // kFailed by a judgement of rows
  std::string report;                        // report_text() of the whole, once it was made
  // What was exercised.
  int64_t launches = 0;
  int64_t rows_judged = 0;
  int64_t rows_cut = 0;
  int64_t elements = 0;  // logits in view of the launches
  std::string path;      // "k512 x16", empty if not reported
  std::string
      graph;  // nodes of the captured graph, "2 kernels, 0 memsets, 0 memcpys"; empty if none
  double seconds = 0;
};

}  // namespace exactk::props
