// Runs a program of metadata steps on a builder and a device, and judges after every command: what
// the buffers hold against a metadata that is made from nothing for this step, the work plan by the
// rules of every plan and by a softmax, and at a replay what the graph read and made, through the
// addresses that it captured.
//
// What it does not check: what a layer would read in [indptr[T], T * k), which is left open;
// whether the inputs of the step were changed; and how long anything takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/device/device.h"
#include "kernels/metadata/variants.h"
#include "props/mla_program.h"

namespace exactk::props {

struct MlaFailure {
  size_t command = 0;
  std::string what;  // "req_id_per_token", "work plan", "graph's work plan", "guard", "device"
  std::string why;   // one sentence
};

struct MlaOutcome {
  std::optional<MlaFailure> failure;  // the first one; nothing was run behind it
  int64_t commands = 0;               // that were run
  int64_t plans_reused = 0;
  int64_t keys = 0;  // that some token sees, over all builds; 0: nothing was at stake
};

struct MlaOptions {
  int wave_width = 64;                    // host device only
  int workers = 2;                        // host device only: threads that run blocks
  std::optional<uint64_t> schedule = {};  // host device only: instead of the program's own
};

// The program is one without a problem.
MlaOutcome run_mla_program(kernels::Device& device, const kernels::metadata::Variant& variant,
                           const MlaProgram& program, const MlaOptions& options);

}  // namespace exactk::props
