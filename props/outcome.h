// What came out of one case on one kernel: the verdict and all the evidence that a report needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fixtures/case.h"
#include "kernels/device/device.h"
#include "oracle/verdict.h"

namespace exactk::props {

inline constexpr int kRowsNamed = 16;

struct Outcome {
  fixtures::Case value;
  std::string kernel;
  std::string plugin;  // the library that the kernel is of, as it was given; empty: built in
  // A plugin, or the kernel of it, was refused as it was loaded: there is no case.
  bool at_load = false;
  kernels::DeviceInfo device;
  uint32_t promised = 0;  // contract modes
  oracle::Verdict verdict = oracle::Verdict::kInvalid;
  std::string reason;  // one sentence for every verdict but kPassed
  // Of the first launch that broke the contract, seen slot by slot:
  std::string diagnosis;    // one sentence that says what is wrong, and where
  std::string anatomy;      // lines: failing rows with their bad slots
  std::string broke;        // the promise
  oracle::FaultSet faults;  // all kinds in it; for other broken promises the kind that they are of
  std::vector<int64_t> failing_rows;  // rows or tokens, ascending, at most kRowsNamed
  std::string report;                 // report_text() of the whole, once it was made
  int64_t last_step = -1;  // the last launch that was done, so the failing one; -1: not known
  // What was exercised.
  int64_t launches = 0;
  int64_t rows_judged = 0;
  int64_t rows_cut = 0;
  int64_t elements = 0;  // logits in view of the launches, or elements that the contract fixes
  std::string path;      // "k512 x16", empty if not reported
  std::string
      graph;  // nodes of the captured graph, "2 kernels, 0 memsets, 0 memcpys"; empty if none
  double seconds = 0;
};

}  // namespace exactk::props
