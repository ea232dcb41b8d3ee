// Sentences about a block that did not end.
#include <fmt/format.h>
#include <signal.h>

#include <map>
#include <string_view>
#include <tuple>

#include "kernels/device/host/allocations.h"
#include "kernels/device/host/block_runner.h"

namespace exactk::host_device {
namespace {

std::string_view signal_text(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "invalid memory access (SIGSEGV)";
    case SIGBUS:
      return "invalid memory access (SIGBUS)";
    case SIGFPE:
      return "integer division by zero or overflow (SIGFPE)";
    case SIGILL:
      return "illegal instruction (SIGILL)";
    default:
      return "unexpected signal";
  }
}

std::string_view base_name(const char* path) {
  const std::string_view whole(path);
  const size_t slash = whole.rfind('/');
  return slash == std::string_view::npos ? whole : whole.substr(slash + 1);
}

std::string coordinates(uint3 at) {
  return fmt::format("({},{},{})", at.x, at.y, at.z);
}

}  // namespace

std::string BlockRunner::where() const {
  return fmt::format("kernel {}, block {}:", launch_->name, coordinates(blockIdx));
}

std::string BlockRunner::describe_fault() const {
  std::string text = where();
  text += fmt::format(" thread {}: ", coordinates(current_->thread));
  if (fault_.timed_out)
    return text + "still running at the time limit of a block; " + describe_waits();
  if (fault_.trapped)
    return text +
           fmt::format("{} at {}:{}", current_->what, base_name(current_->file), current_->line);
  text += signal_text(fault_.signal);
  if (!fault_.address_known) return text;
  text += fmt::format(" at address {}", fmt::ptr(fault_.address));
  if (stacks_.guard_at(fault_.address)) return text + ", the stack of a thread is full";
  const std::string near = Allocations::instance().describe(fault_.address);
  return near.empty() ? text : text + ", " + near;
}

std::string BlockRunner::describe_standstill() const {
  bool barrier = false;
  for (int w = 0; w < waves_count_; ++w) barrier |= waves_[w].at_barrier != 0;
  return where() +
         (barrier ? " barrier not reached by all threads: "
                  : " wave operation not reached by all lanes: ") +
         describe_waits();
}

// "96 threads wait in __syncthreads at a.hip:12 (first (0,0,0)), 32 threads have ended (first
// (96,0,0))"
std::string BlockRunner::describe_waits() const {
  struct Group {
    int threads = 0;
    uint3 first{};
  };
  std::map<std::tuple<std::string_view, int, std::string_view>, Group> waiting;
  Group ended;
  Group running;
  const auto add = [](Group& group, const Lane& lane) {
    if (group.threads++ == 0) group.first = lane.thread;
  };
  for (int i = 0; i < threads_; ++i) {
    const Lane& lane = lanes_[i];
    const Wave& wave = waves_[lane.wave];
    const uint64_t bit = uint64_t{1} << lane.lane;
    if (!(wave.live & bit)) {
      add(ended, lane);
    } else if ((wave.operating | wave.at_barrier) & bit) {
      add(waiting[{base_name(lane.file), lane.line, lane.what}], lane);
    } else {
      add(running, lane);
    }
  }
  std::string text;
  const auto append = [&text](const Group& group, const std::string& doing) {
    if (group.threads == 0) return;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} {} (first {})", group.threads,
                        group.threads == 1 ? "thread" : "threads", doing, coordinates(group.first));
  };
  for (const auto& [at, group] : waiting) {
    append(group, fmt::format("at {}:{} in {}", std::get<0>(at), std::get<1>(at), std::get<2>(at)));
  }
  append(running, "running");
  append(ended, "ended");
  return text;
}

}  // namespace exactk::host_device
