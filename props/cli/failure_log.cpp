#include "props/cli/failure_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "props/build_info.h"
#include "props/outcome_json.h"
#include "props/report.h"

namespace exactk::props::cli {
namespace {

using nlohmann::json;

json environment() {
  utsname system{};
  (void)uname(&system);
  return {{"commit", build_commit()},
          {"compiler", build_compiler()},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)}};
}

std::string cannot_write(const std::string& file) {
  return fmt::format("can't write failures to '{}': {}; give --failures another file, or none",
                     file, std::strerror(errno));
}

int open_for_adding(const std::string& file, int flags) {
  return open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
}

}  // namespace

std::string job_text(const Job& job) {
  return fmt::format("{} wave={} {}", job.kernel.name(), job.options.wave_width,
                     fixtures::print_case(job.value));
}

std::string FailureLog::unwritable() const {
  if (file_.empty()) return "";
  std::error_code ignored;
  const bool there = std::filesystem::exists(file_, ignored);
  const int opened = open_for_adding(file_, O_CREAT);
  if (opened < 0) return cannot_write(file_);
  (void)close(opened);
  if (!there) (void)unlink(file_.c_str());
  return "";
}

std::string FailureLog::add(const std::string& stage, const Outcome& outcome,
                            const std::vector<Job>& before, const std::string& recurrence) {
  if (file_.empty()) return "";
  json line = json::parse(outcome_to_json(outcome));
  line["stage"] = stage;
  line["verdict"] = oracle::name(outcome.verdict);
  line["schedule"] = outcome.value.schedule;
  line["replay"] = replay_line(outcome);
  line["time"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  line["environment"] = environment();
  line["before"] = json::array();
  for (const Job& job : before) line["before"].push_back(job_text(job));
  if (!recurrence.empty()) line["recurrence"] = recurrence;
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const int opened = open_for_adding(file_, O_CREAT);
  if (opened < 0) return cannot_write(file_);
  // One write, so that runs that share the file do not mix their lines.
  const bool whole = write(opened, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool kept = whole && fdatasync(opened) == 0;
  const std::string error = kept ? "" : cannot_write(file_);
  (void)close(opened);
  ++lines_;
  return error;
}

}  // namespace exactk::props::cli
