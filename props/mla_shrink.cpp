#include "props/mla_shrink.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

namespace exactk::props {
namespace {

// Smaller numbers than `value`, down to `least`: the usual one first, then a half, then one less.
std::vector<int64_t> smaller(int64_t value, int64_t least, int64_t usual) {
  std::vector<int64_t> numbers;
  for (const int64_t number : {least, usual, value / 2, value - 1}) {
    if (number >= least && number < value &&
        std::find(numbers.begin(), numbers.end(), number) == numbers.end())
      numbers.push_back(number);
  }
  return numbers;
}

class Candidates {
 public:
  explicit Candidates(const MlaProgram& program) : program_(program) {}

  std::vector<MlaProgram> all() {
    const auto count = program_.commands.size();
    for (size_t length = count; length > 0; length /= 2) {
      for (size_t first = 0; first + length <= count; ++first) {
        MlaProgram next = program_;
        const auto begin = next.commands.begin() + static_cast<std::ptrdiff_t>(first);
        next.commands.erase(begin, begin + static_cast<std::ptrdiff_t>(length));
        add(std::move(next));
      }
    }
    simplify_all_builds();
    for (size_t i = 0; i < count; ++i) simplify_command(i);
    simplify_limits();
    return std::move(found_);
  }

 private:
  void add(MlaProgram program) {
    if (problem_of(program).empty()) found_.push_back(std::move(program));
  }

  // The same in every build: a collision needs builds that stay alike.
  void simplify_all_builds() {
    size_t requests_max = 0;
    for (const MlaCommand& command : program_.commands)
      requests_max = std::max(requests_max, command.requests.size());
    for (size_t r = 0; r < requests_max; ++r) {
      MlaProgram next = program_;
      for (MlaCommand& command : next.commands) {
        if (r < command.requests.size())
          command.requests.erase(command.requests.begin() + static_cast<std::ptrdiff_t>(r));
      }
      add(std::move(next));
    }
    for (int32_t MlaRequest::*length : {&MlaRequest::query_len, &MlaRequest::seq_len}) {
      std::set<int32_t> lengths;
      for (const MlaCommand& command : program_.commands) {
        for (const MlaRequest& request : command.requests) lengths.insert(request.*length);
      }
      for (const int32_t old : lengths) replace_length(length, old);
    }
  }

  void replace_length(int32_t MlaRequest::*length, int32_t old) {
    for (const int64_t value : smaller(old, 0, 1)) {
      MlaProgram next = program_;
      for (MlaCommand& command : next.commands) {
        for (MlaRequest& request : command.requests) {
          if (request.*length == old) request.*length = static_cast<int32_t>(value);
        }
      }
      add(std::move(next));
    }
  }

  void simplify_command(size_t i) {
    const MlaCommand& command = program_.commands[i];
    for (size_t r = 0; r < command.requests.size(); ++r) {
      MlaProgram next = program_;
      auto& requests = next.commands[i].requests;
      requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(r));
      add(std::move(next));
    }
    if (command.host != HostKnows::kExact) {
      MlaProgram next = program_;
      next.commands[i].host = HostKnows::kExact;
      next.commands[i].value = 0;
      add(std::move(next));
    }
    const int64_t least = command.action == MlaAction::kHeads ? 1 : 0;
    for (const int64_t value : smaller(command.value, least, 16)) {
      MlaProgram next = program_;
      next.commands[i].value = value;
      add(std::move(next));
    }
    for (size_t r = 0; r < command.requests.size(); ++r) simplify_request(i, r);
  }

  void simplify_request(size_t i, size_t r) {
    const MlaRequest& request = program_.commands[i].requests[r];
    for (const int64_t query : smaller(request.query_len, 0, 1)) {
      MlaProgram next = program_;
      next.commands[i].requests[r].query_len = static_cast<int32_t>(query);
      add(std::move(next));
    }
    for (const int64_t seq : smaller(request.seq_len, 0, program_.k)) {
      MlaProgram next = program_;
      next.commands[i].requests[r].seq_len = static_cast<int32_t>(seq);
      add(std::move(next));
    }
  }

  void simplify_limits() {
    const MlaProgram usual;
    for (int64_t MlaProgram::*limit : {&MlaProgram::k, &MlaProgram::tokens, &MlaProgram::workers}) {
      for (const int64_t value : smaller(program_.*limit, 1, usual.*limit)) {
        MlaProgram next = program_;
        next.*limit = value;
        add(std::move(next));
      }
    }
    for (const int64_t heads : smaller(program_.heads, usual.heads, usual.heads)) {
      MlaProgram next = program_;
      next.heads = heads;
      add(std::move(next));
    }
    if (program_.schedule != 0) {
      MlaProgram next = program_;
      next.schedule = 0;
      add(std::move(next));
    }
  }

  const MlaProgram& program_;
  std::vector<MlaProgram> found_;
};

}  // namespace

std::vector<MlaProgram> smaller_programs(const MlaProgram& program) {
  return Candidates(program).all();
}

MlaShrunk shrink_mla_program(const MlaProgram& program, const MlaOutcome& failed,
                             const std::function<MlaOutcome(const MlaProgram&)>& run,
                             const MlaShrinkLimits& limits) {
  const auto start = std::chrono::steady_clock::now();
  const auto over = [&](int64_t executions) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return executions >= limits.executions || spent.count() >= limits.seconds;
  };
  MlaShrunk shrunk{program, failed};
  std::set<std::string> tried{print_mla_program(program)};
  for (bool found = true; found;) {
    found = false;
    for (const MlaProgram& next : smaller_programs(shrunk.program)) {
      if (!tried.insert(print_mla_program(next)).second) continue;
      if (over(shrunk.executions)) return shrunk;
      ++shrunk.executions;
      MlaOutcome outcome = run(next);
      if (!outcome.failure || outcome.failure->what != failed.failure->what) continue;
      shrunk.program = next;
      shrunk.outcome = std::move(outcome);
      found = true;
      break;
    }
  }
  shrunk.minimal = true;
  return shrunk;
}

}  // namespace exactk::props
