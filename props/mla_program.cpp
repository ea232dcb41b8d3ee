#include "props/mla_program.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <span>

namespace exactk::props {
namespace {

using fixtures::Error;
using fixtures::Result;

struct Limit {
  std::string_view name;
  int64_t MlaProgram::*value;
  int64_t most;
};
constexpr std::array kLimits{Limit{"k", &MlaProgram::k, kMlaKMax},
                             Limit{"tokens", &MlaProgram::tokens, kMlaTokensMax},
                             Limit{"workers", &MlaProgram::workers, kMlaWorkersMax},
                             Limit{"heads", &MlaProgram::heads, kMlaHeadsMax}};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

template <class T>
std::optional<T> number_of(std::string_view text) {
  T number{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

Error read_limit(MlaProgram& program, std::string_view word) {
  const size_t equals = word.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view text = word.substr(equals + 1);
    for (const Limit& limit : kLimits) {
      if (word.substr(0, equals) != limit.name) continue;
      const auto number = number_of<int64_t>(text);
      if (!number)
        return fmt::format("'{}' is no number; write for example {}=4", word, limit.name);
      program.*limit.value = *number;
      return "";
    }
    if (word.substr(0, equals) == "schedule") {
      const auto seed = number_of<uint64_t>(text);
      if (!seed) return fmt::format("'{}' is no number; write for example schedule=1", word);
      program.schedule = *seed;
      return "";
    }
  }
  return fmt::format("'{}' is no limit of a program; use k=, tokens=, workers=, heads=, schedule=",
                     word);
}

Error read_host(MlaCommand& build, std::string_view text) {
  constexpr std::string_view kBoundIs = "bound:";
  if (text == "exact") {
    build.host = HostKnows::kExact;
  } else if (text == "none") {
    build.host = HostKnows::kNone;
  } else if (text == "stale") {
    build.host = HostKnows::kStale;
  } else if (text.starts_with(kBoundIs) && number_of<int64_t>(text.substr(kBoundIs.size()))) {
    build.host = HostKnows::kBound;
    build.value = *number_of<int64_t>(text.substr(kBoundIs.size()));
  } else {
    return fmt::format("'host={}' is nothing that a host knows; use exact, none, bound:N or stale",
                       text);
  }
  return "";
}

Error read_build(MlaCommand& build, std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    if (word.starts_with("host=")) {
      if (Error error = read_host(build, word.substr(5)); !error.empty()) return error;
      continue;
    }
    const size_t slash = word.find('/');
    const auto query = number_of<int32_t>(word.substr(0, slash));
    const auto seq =
        slash == std::string_view::npos ? std::nullopt : number_of<int32_t>(word.substr(slash + 1));
    if (!query || !seq)
      return fmt::format("'{}' is no request; write query tokens and positions, for example 1/10",
                         word);
    build.requests.push_back({*query, *seq});
  }
  return "";
}

struct ActionName {
  std::string_view name;
  MlaAction action;
};
constexpr std::array kActions{
    ActionName{"build", MlaAction::kBuild}, ActionName{"run", MlaAction::kRun},
    ActionName{"heads", MlaAction::kHeads}, ActionName{"capture", MlaAction::kCapture},
    ActionName{"replay", MlaAction::kReplay}};

Result<MlaCommand> parse_command(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.empty())
    return tl::unexpected(Error("an empty command; a program has no ';' at its end"));
  const auto rest = std::span(words).subspan(1);
  for (const ActionName& known : kActions) {
    if (words[0] != known.name) continue;
    MlaCommand command{known.action};
    if (known.action == MlaAction::kBuild) {
      if (Error error = read_build(command, rest); !error.empty()) return tl::unexpected(error);
      return command;
    }
    if (known.action == MlaAction::kHeads && rest.size() == 1 && number_of<int64_t>(rest[0])) {
      command.value = *number_of<int64_t>(rest[0]);
      return command;
    }
    if (known.action == MlaAction::kHeads)
      return tl::unexpected(fmt::format("'{}' needs one number, as in heads 32", words[0]));
    if (!rest.empty())
      return tl::unexpected(fmt::format("'{}' takes nothing; remove '{}'", words[0], rest[0]));
    return command;
  }
  return tl::unexpected(
      fmt::format("'{}' is no command; use build, run, heads, capture or replay", words[0]));
}

std::string problem_of_build(const MlaProgram& program, const MlaState& state,
                             const MlaCommand& build) {
  for (const MlaRequest& request : build.requests) {
    if (request.query_len < 0 || request.seq_len < 0 || request.seq_len > kMlaSeqLenMax)
      return fmt::format("a request of {}/{}; use at least 0 tokens, and 0 to {} positions",
                         request.query_len, request.seq_len, kMlaSeqLenMax);
  }
  if (std::ssize(build.requests) > program.tokens || tokens_of(build) > program.tokens)
    return fmt::format("a build of {} requests and {} tokens; tokens={} allows as many of each",
                       build.requests.size(), tokens_of(build), program.tokens);
  if (build.host == HostKnows::kBound && (build.value < 0 || build.value > kMlaSeqLenMax))
    return fmt::format("a bound has a slack of {}; use 0 to {}", build.value, kMlaSeqLenMax);
  if (build.host == HostKnows::kStale && state.built_tokens < 0)
    return "the lengths of the first build can't be stale; there is none before it";
  return "";
}

std::string host_text(const MlaCommand& build) {
  switch (build.host) {
    case HostKnows::kExact:
      return "";
    case HostKnows::kNone:
      return " host=none";
    case HostKnows::kBound:
      return fmt::format(" host=bound:{}", build.value);
    case HostKnows::kStale:
      return " host=stale";
  }
  return "";
}

}  // namespace

int64_t tokens_of(const MlaCommand& build) {
  int64_t tokens = 0;
  for (const MlaRequest& request : build.requests) tokens += request.query_len;
  return tokens;
}

MlaState first_state(const MlaProgram& program) {
  MlaState state;
  state.heads = program.heads;
  return state;
}

void advance(MlaState& state, const MlaCommand& command) {
  switch (command.action) {
    case MlaAction::kBuild:
      state.built_tokens = tokens_of(command);
      state.built_heads = state.heads;
      return;
    case MlaAction::kHeads:
      state.heads = command.value;
      return;
    case MlaAction::kCapture:
      state.captured_tokens = state.built_tokens;
      state.captured_heads = state.built_heads;
      return;
    case MlaAction::kRun:
    case MlaAction::kReplay:
      return;
  }
}

std::string problem_of(const MlaProgram& program, const MlaState& state,
                       const MlaCommand& command) {
  switch (command.action) {
    case MlaAction::kBuild:
      return problem_of_build(program, state, command);
    case MlaAction::kHeads:
      if (command.value < 1 || command.value > kMlaHeadsMax)
        return fmt::format("heads {}; use 1 to {}", command.value, kMlaHeadsMax);
      return "";
    case MlaAction::kRun:
    case MlaAction::kCapture:
      if (state.built_tokens < 1)
        return "run and capture need a build of at least one token before";
      return "";
    case MlaAction::kReplay:
      if (state.captured_tokens < 0) return "a replay needs a capture before";
      if (state.built_tokens > state.captured_tokens)
        return fmt::format("a graph of {} tokens can't be replayed for {}", state.captured_tokens,
                           state.built_tokens);
      if (state.built_heads != state.captured_heads)
        return fmt::format("a graph for {} heads can't be replayed for {}", state.captured_heads,
                           state.built_heads);
      return "";
  }
  return "";
}

std::string problem_of(const MlaProgram& program) {
  for (const Limit& limit : kLimits) {
    const int64_t value = program.*limit.value;
    if (value < 1 || value > limit.most)
      return fmt::format("{}={}; use 1 to {}", limit.name, value, limit.most);
  }
  MlaState state = first_state(program);
  for (size_t i = 0; i < program.commands.size(); ++i) {
    const std::string problem = problem_of(program, state, program.commands[i]);
    if (!problem.empty())
      return fmt::format("command {}, '{}': {}", i + 1, print_mla_command(program.commands[i]),
                         problem);
    advance(state, program.commands[i]);
  }
  return "";
}

std::string print_mla_command(const MlaCommand& command) {
  std::string text;
  for (const ActionName& known : kActions) {
    if (command.action == known.action) text = known.name;
  }
  for (const MlaRequest& request : command.requests)
    text += fmt::format(" {}/{}", request.query_len, request.seq_len);
  if (command.action == MlaAction::kBuild) text += host_text(command);
  if (command.action == MlaAction::kHeads) text += fmt::format(" {}", command.value);
  return text;
}

std::string print_mla_program(const MlaProgram& program) {
  std::string text = "mla";
  for (const Limit& limit : kLimits) {
    if (program.*limit.value != MlaProgram{}.*limit.value)
      text += fmt::format(" {}={}", limit.name, program.*limit.value);
  }
  if (program.schedule != 0) text += fmt::format(" schedule={}", program.schedule);
  for (const MlaCommand& command : program.commands) text += " ; " + print_mla_command(command);
  return text;
}

Result<MlaProgram> parse_mla_program(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ';');
  const std::vector<std::string_view> limits = words_of(parts[0]);
  if (limits.empty() || limits[0] != "mla")
    return tl::unexpected(
        Error("a program begins with 'mla'; write for example 'mla k=4 ; build "
              "1/10'"));
  MlaProgram program;
  for (const std::string_view word : std::span(limits).subspan(1)) {
    if (Error error = read_limit(program, word); !error.empty()) return tl::unexpected(error);
  }
  for (const std::string_view part : std::span(parts).subspan(1)) {
    auto command = parse_command(part);
    if (!command) return tl::unexpected(command.error());
    program.commands.push_back(std::move(*command));
  }
  if (std::string problem = problem_of(program); !problem.empty()) return tl::unexpected(problem);
  return program;
}

}  // namespace exactk::props
