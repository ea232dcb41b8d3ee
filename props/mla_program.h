// Programs of metadata steps as text: what a serving engine does to one builder, one command after
// the other, and replays of a graph in between.
//
//   mla k=4 tokens=16 workers=8 heads=16 ; build 1/10 3/10 host=bound:8 ; run ; capture ; replay
//
// The first part has the limits, each with a default; `schedule` is the host device's. Then:
//
//   build Q/S ...   a step: requests of Q query tokens and S positions, at most `tokens` tokens; a
//                   padded row has S = 0. `host=` says what the host knows of the lengths: exact
//                   (the default), none, bound:N (upper bounds, at most N above), stale (those of
//                   the build before, with its number)
//   run             a layer translates its indices into paged_kv_indices
//   heads N         of the builds that follow
//   capture         a graph of such a layer and of a planner, for as many tokens as the last build
//                   has and for its heads
//   replay          the graph, for the last build: not more tokens than at the capture, the same
//   heads
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case.h"

namespace exactk::props {

enum class HostKnows : uint8_t { kExact, kNone, kBound, kStale };

struct MlaRequest {
  int32_t query_len = 0;
  int32_t seq_len = 0;
  friend bool operator==(const MlaRequest&, const MlaRequest&) = default;
};

enum class MlaAction : uint8_t { kBuild, kRun, kHeads, kCapture, kReplay };

struct MlaCommand {
  MlaAction action = MlaAction::kBuild;
  std::vector<MlaRequest> requests = {};  // of a build
  HostKnows host = HostKnows::kExact;     // of a build
  int64_t value = 0;                      // heads; the slack of a bound
  friend bool operator==(const MlaCommand&, const MlaCommand&) = default;
};

struct MlaProgram {
  int64_t k = 4;          // slots per token
  int64_t tokens = 16;    // of a step at most
  int64_t workers = 8;    // that plans have room for
  int64_t heads = 16;     // of the builds up to the first `heads`
  uint64_t schedule = 0;  // of the host device
  std::vector<MlaCommand> commands = {};
  friend bool operator==(const MlaProgram&, const MlaProgram&) = default;
};

inline constexpr int64_t kMlaKMax = 4096;
inline constexpr int64_t kMlaTokensMax = 4096;
inline constexpr int64_t kMlaWorkersMax = 4096;
inline constexpr int64_t kMlaHeadsMax = 4096;
inline constexpr int64_t kMlaSeqLenMax = 65536;

int64_t tokens_of(const MlaCommand& build);

// What a program has come to behind its first commands.
struct MlaState {
  int64_t heads = 0;             // of the next build
  int64_t built_heads = 0;       // of the last build
  int64_t built_tokens = -1;     // -1: nothing was built
  int64_t captured_tokens = -1;  // -1: nothing was captured
  int64_t captured_heads = 0;
};
MlaState first_state(const MlaProgram& program);
void advance(MlaState& state, const MlaCommand& command);
// One sentence if the command cannot come now, else empty.
std::string problem_of(const MlaProgram& program, const MlaState& state, const MlaCommand& command);
// Of the limits and all commands.
std::string problem_of(const MlaProgram& program);

// The short form prints only limits that differ from their defaults; parse(print(p)) == p. An error
// names the word and says what to do.
std::string print_mla_command(const MlaCommand& command);
std::string print_mla_program(const MlaProgram& program);
fixtures::Result<MlaProgram> parse_mla_program(std::string_view text);

}  // namespace exactk::props
