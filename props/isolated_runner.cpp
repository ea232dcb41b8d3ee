#include "props/isolated_runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "props/internal_error.h"
#include "props/outcome_json.h"
#include "props/report.h"

namespace exactk::props {
namespace {

// Messages of the child: one letter, text, newline.
constexpr char kReady =
    'r';  // the device is open; the text is its index, wave width, kind, arch and name
constexpr char kNoDevice = 'n';  // why not
constexpr char kLoaded = 'p';    // a plugin as JSON
constexpr char kRefused = 'x';   // why a plugin was not taken; the child ends then
constexpr char kAlive = 'a';     // a launch was judged
constexpr char kDone = 'd';      // an outcome as JSON
constexpr char kBroken = 'i';    // the suite contradicts itself

// Inputs kept from run to run. Beside a GPU there is more memory, and a case is run by more kernels
// in less time than its inputs take to make.
constexpr int64_t kHostCacheBytes = int64_t{1} << 30;
constexpr int64_t kGpuCacheBytes = int64_t{8} << 30;

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void send(int file, char kind, std::string_view text) {
  std::string line(1, kind);
  line += text;
  for (char& c : line) c = c == '\n' ? '\x1e' : c;  // a message is one line
  line += '\n';
  (void)write_all(file, line);
}

struct Line {
  enum class State { kLine, kEnd, kTimeout } state;
  std::string text;
};

// Reads lines from a pipe with a deadline.
class LineReader {
 public:
  explicit LineReader(int file) : file_(file) {}

  // `timeout_s` < 0: none.
  Line next(double timeout_s) {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
      if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
        Line line{Line::State::kLine, buffer_.substr(0, end)};
        buffer_.erase(0, end + 1);
        return line;
      }
      int wait_ms = -1;
      if (timeout_s >= 0) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        if (spent.count() >= timeout_s) return {Line::State::kTimeout, ""};
        wait_ms = static_cast<int>((timeout_s - spent.count()) * 1000) + 1;
      }
      pollfd ready{file_, POLLIN, 0};
      if (poll(&ready, 1, wait_ms) <= 0) continue;
      std::array<char, 1 << 16> bytes;
      const ssize_t got = read(file_, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return {Line::State::kEnd, ""};
      buffer_.append(bytes.data(), static_cast<size_t>(got));
    }
  }

 private:
  int file_;
  std::string buffer_;
};

// The child's life: open the device, load the plugins, then run one job per line until the parent
// closes the pipe.
class Server {
 public:
  Server(int requests, int answers, const KernelLookup& lookup)
      : requests_(requests), answers_(answers), lookup_(lookup) {}

  void serve(const std::string& spec, const std::vector<std::string>& plugins) {
    auto device = kernels::open_device(spec);
    if (!device) return send(answers_, kNoDevice, device.error());
    const kernels::DeviceInfo info = (*device)->info();
    send(answers_, kReady,
         fmt::format("{} {} {} {} {}", info.index, info.wave_width, info.kind, info.arch,
                     info.name));
    for (const std::string& path : plugins) {
      if (!load(path, **device)) return;
    }
    Runner runner(**device, info.kind == "host" ? kHostCacheBytes : kGpuCacheBytes);
    LineReader reader(requests_);
    for (;;) {
      const Line line = reader.next(-1);
      if (line.state != Line::State::kLine) return;
      answer(runner, line.text);
    }
  }

 private:
  bool load(const std::string& path, const kernels::Device& device) {
    auto plugin = kernels::load_plugin(path, device, plugins_.loaded);
    if (!plugin) return send(answers_, kRefused, plugin.error()), false;
    send(answers_, kLoaded, plugin_to_json(*plugin));
    plugins_.loaded.push_back(std::move(*plugin));
    kernels_ = plugins_.kernels();
    return true;
  }

  kernels::Result<KernelUnderTest> find_kernel(std::string_view name) const {
    for (const KernelUnderTest& kernel : kernels_) {
      if (kernel.name() == name) return kernel;
    }
    return lookup_(name);
  }

  // A job line: wave width, workers, who makes the logits, trial, kernel, case.
  void answer(Runner& runner, const std::string& text) {
    try {
      size_t at = 0;
      const auto word = [&] {
        const size_t end = text.find(' ', at);
        std::string piece = text.substr(at, end - at);
        at = end + 1;
        return piece;
      };
      RunnerOptions options;
      options.wave_width = std::stoi(word());
      options.workers = std::stoi(word());
      options.logits_from = static_cast<LogitsFrom>(std::stoi(word()));
      options.trial.without = static_cast<uint32_t>(std::stoul(word()));
      options.trial.judge = static_cast<Judge>(std::stoi(word()));
      options.alive = [this] { send(answers_, kAlive, ""); };
      const auto kernel = find_kernel(word());
      const auto value = fixtures::parse_case(text.substr(at));
      if (!kernel || !value) throw InternalError("a job came over unreadable: " + text);
      Outcome outcome = runner.run(*value, *kernel, options);
      outcome.report = report_text(outcome);
      send(answers_, kDone, outcome_to_json(outcome));
    } catch (const std::exception& error) {
      send(answers_, kBroken, error.what());
    }
  }

  int requests_;
  int answers_;
  const KernelLookup& lookup_;
  Plugins plugins_;
  std::vector<KernelUnderTest> kernels_;  // of the plugins
};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

struct IsolatedRunner::Child {
  pid_t pid = -1;
  int requests = -1;
  int answers = -1;
  std::unique_ptr<LineReader> reader;

  Child(const std::string& device, const KernelLookup& lookup,
        const std::vector<std::string>& plugins) {
    int to_child[2], from_child[2];
    if (pipe(to_child) != 0 || pipe(from_child) != 0) throw InternalError("no pipe can be had");
    std::fflush(nullptr);  // what is buffered must not be written twice
    pid = fork();
    if (pid < 0) throw InternalError("no process can be had");
    if (pid == 0) {
      close(to_child[1]);
      close(from_child[0]);
      (void)dup2(STDERR_FILENO, STDOUT_FILENO);  // what a kernel prints is no part of the report
      Server(to_child[0], from_child[1], lookup).serve(device, plugins);
      std::fflush(nullptr);
      _exit(0);
    }
    close(to_child[0]);
    close(from_child[1]);
    requests = to_child[1];
    answers = from_child[0];
    reader = std::make_unique<LineReader>(answers);
  }

  // Ends the child if it has not ended yet, and gives its wait status.
  int end(bool kill_it) {
    if (pid < 0) return 0;
    if (kill_it) (void)kill(pid, SIGKILL);
    close(requests);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(answers);
    pid = -1;
    return status;
  }

  ~Child() { (void)end(false); }
};

IsolatedRunner::IsolatedRunner(std::string device, double timeout_s, KernelLookup lookup,
                               const std::vector<std::string>& plugins)
    : device_(std::move(device)),
      timeout_s_(timeout_s),
      lookup_(std::move(lookup)),
      paths_(each_once(plugins)) {
  // A child that ends early must show as an ended pipe, not end the parent.
  (void)signal(SIGPIPE, SIG_IGN);
}

IsolatedRunner::~IsolatedRunner() = default;

kernels::Result<kernels::DeviceInfo> IsolatedRunner::start() {
  do {
    if (auto opened = open_device(); !opened) return tl::unexpected(opened.error());
  } while (!load_plugins());
  return info_;
}

// In a new child.
kernels::Result<void> IsolatedRunner::open_device() {
  child_ = std::make_unique<Child>(device_, lookup_, paths_);
  const Line line = child_->reader->next(-1);
  if (line.state == Line::State::kEnd) {
    const std::string ended = how_it_ended(child_->end(false));
    child_.reset();
    return tl::unexpected(
        fmt::format("device '{}' could not be opened: the process {}", device_, ended));
  }
  if (line.text.front() != kReady) {
    child_.reset();
    return tl::unexpected(line.text.substr(1));
  }
  std::istringstream words(line.text.substr(1));
  words >> info_.index >> info_.wave_width >> info_.kind >> info_.arch;
  std::getline(words >> std::ws, info_.name);
  return {};
}

// False if one was refused: it is left out from now on, and the child is gone.
bool IsolatedRunner::load_plugins() {
  for (size_t i = 0; i < paths_.size(); ++i) {
    std::string why = load_plugin(paths_[i]);
    if (why.empty()) continue;
    (void)child_->end(true);
    child_.reset();
    plugins_.refused.push_back({paths_[i], "", std::move(why)});
    paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(i));
    return false;
  }
  return true;
}

// Takes the child's word on its next plugin; one sentence if it is refused.
std::string IsolatedRunner::load_plugin(const std::string& path) {
  const Line line = child_->reader->next(timeout_s_);
  if (line.state == Line::State::kTimeout)
    return fmt::format("it gave no sign of life for {} seconds while it was loaded", timeout_s_);
  if (line.state == Line::State::kEnd)
    return fmt::format("its process {} while it was loaded", how_it_ended(child_->end(false)));
  const std::string text = line.text.substr(1);
  if (line.text.front() == kRefused) return text;
  if (line.text.front() != kLoaded) throw InternalError("a plugin came over unreadable: " + text);
  for (const kernels::Plugin& known : plugins_.loaded) {
    if (known.path != path) continue;
    return text == plugin_to_json(known) ? "" : "it brought other kernels when it was loaded again";
  }
  plugins_.loaded.push_back(plugin_from_json(text));
  const std::vector<kernels::Refusal>& refused = plugins_.loaded.back().refused;
  plugins_.refused.insert(plugins_.refused.end(), refused.begin(), refused.end());
  return "";
}

// Why the plugin of the kernel was refused as it was loaded again; empty: it was not.
std::string IsolatedRunner::refusal_of(const KernelUnderTest& kernel) const {
  for (const kernels::Refusal& refusal : plugins_.refused) {
    if (refusal.kernel.empty() && refusal.path == kernel.plugin)
      return fmt::format("its plugin could not be loaded again: {}", refusal.why);
  }
  return "";
}

Outcome IsolatedRunner::lost(const Job& job, const std::string& reason) const {
  Outcome outcome;
  outcome.value = job.value;
  outcome.kernel = job.kernel.name();
  outcome.plugin = job.kernel.plugin;
  outcome.device = info_;
  if (info_.kind == "host") outcome.device.wave_width = job.options.wave_width;
  outcome.promised = job.kernel.kernel->modes;
  outcome.verdict = oracle::Verdict::kFailed;
  outcome.reason = reason;
  outcome.report = report_text(outcome);
  return outcome;
}

void IsolatedRunner::restart() {
  child_.reset();
  ran_.clear();
}

Outcome IsolatedRunner::run(const Job& job) {
  Outcome outcome = run_in_child(job);
  if (!child_) ran_.clear();
  if (child_) ran_.push_back(job);
  if (ran_.size() > kJobsKept) ran_.pop_front();
  return outcome;
}

Outcome IsolatedRunner::run_in_child(const Job& job) {
  if (!child_) {
    if (auto started = start(); !started) return lost(job, started.error());
  }
  if (const std::string refusal = refusal_of(job.kernel); !refusal.empty())
    return lost(job, refusal);
  const std::string request =
      fmt::format("{} {} {} {} {} {} {}\n", job.options.wave_width, job.options.workers,
                  static_cast<int>(job.options.logits_from), job.options.trial.without,
                  static_cast<int>(job.options.trial.judge), job.kernel.name(),
                  fixtures::print_case(job.value));
  (void)write_all(child_->requests, request);  // a dead child shows below
  for (;;) {
    const Line line = child_->reader->next(timeout_s_);
    if (line.state == Line::State::kTimeout) {
      (void)child_->end(true);
      child_.reset();
      Outcome outcome = lost(job, fmt::format("no answer for {} seconds", timeout_s_));
      outcome.seconds = timeout_s_;
      return outcome;
    }
    if (line.state == Line::State::kEnd) {
      const std::string ended = how_it_ended(child_->end(false));
      child_.reset();
      return lost(job,
                  fmt::format("the process of the kernel {} in the middle of the case", ended));
    }
    std::string text = line.text.substr(1);
    if (line.text.front() == kAlive) continue;
    if (line.text.front() != kDone) throw InternalError(text);
    Outcome outcome = outcome_from_json(text);
    // An error on a GPU stays with its process and would fail what comes next.
    if (outcome.verdict == oracle::Verdict::kFailed && info_.kind != "host") child_.reset();
    return outcome;
  }
}

}  // namespace exactk::props
