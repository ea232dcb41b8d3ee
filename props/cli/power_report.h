// What `exactk power` measured: as a table, as JSON and as a page with the matrix as a picture.
#pragma once

#include <string>
#include <vector>

#include "props/coverage.h"
#include "props/power.h"

namespace exactk::props::cli {

struct PowerReport {
  std::vector<PowerTier> tiers;
  std::vector<FaultPower> faults;
  int64_t baseline_runs = 0;      // of unmodified kernels, all silent; 0: not run
  std::vector<Coverage> visited;  // [tiers], by those runs; empty: not run
  double seconds = 0;
  std::string device;  // "host, wave 32 and 64"
};

std::string power_text(const PowerReport& report);
std::string power_json(const PowerReport& report);
// Self-contained: no script, no file beside it.
std::string power_html(const PowerReport& report);

}  // namespace exactk::props::cli
