#include "props/case_sequence.h"

#include "fixtures/counter_hash.h"

namespace exactk::props {
namespace {

using fixtures::Case;

constexpr int64_t kCandidates = 4;
constexpr int64_t kStretch = 10;  // cases with the same features
constexpr uint64_t kOffOf = 4;    // one of so many features is off
constexpr uint64_t kSwarmTag = 0x5a7;
constexpr uint64_t kCandidateTag = 0xca4d;

// Keys that a case can do without; operation and lengths stay, they decide what is at stake.
constexpr std::string_view kKeys[] = {
    "tune",   "session", "replays",       "schedule",   "repeats",      "row_stride",
    "tail",   "change",  "column_stride", "out_stride", "misalign",     "poison",
    "images", "invalid", "bad_requests",  "skip",       "index_stride", "index_width",
    "arch",   "table",   "table_stride",  "slots",      "workspace",    "gather",
};

// What a candidate is worth: rare bins count for more, and unvisited ones for most.
int64_t worth(const std::set<Bin>& bins, const Coverage& visited) {
  constexpr int64_t kUnvisited = 1 << 20;
  int64_t sum = 0;
  for (const Bin& bin : bins) {
    const int64_t rank = visited.count(bin) + 1;
    sum += kUnvisited / (rank * rank);
  }
  return sum;
}

}  // namespace

SwitchedOff switched_off(uint64_t seed, int64_t index) {
  const uint64_t stretch = fixtures::hash_pair(fixtures::hash_pair(seed, kSwarmTag),
                                               static_cast<uint64_t>(index / kStretch));
  uint64_t feature = 0;
  const auto off = [&] { return fixtures::hash_pair(stretch, feature++) % kOffOf == 0; };
  SwitchedOff made;
  for (const std::string_view key : kKeys) {
    if (off()) made.keys.push_back(key);
  }
  for (const fixtures::PatternInfo& pattern : fixtures::pattern_list()) {
    if (off()) made.patterns |= 1u << static_cast<uint32_t>(pattern.kind);
  }
  return made;
}

Case without(const Case& c, const SwitchedOff& off) {
  Case plain = c;
  for (const std::string_view key : off.keys) {
    if (fixtures::reads(c.op, key)) plain = fixtures::with_default(plain, key);
  }
  if (fixtures::reads(c.op, "pattern") &&
      (off.patterns >> static_cast<uint32_t>(c.pattern.kind) & 1) != 0)
    plain = fixtures::with_default(plain, "pattern");
  if (plain == c) return c;
  plain = fixtures::normalize(plain);
  return anything_at_stake(plain) ? plain : c;
}

std::optional<Case> example_of(const Bin& bin) {
  constexpr int64_t kDraws = 500;
  for (int64_t i = 0; i < kDraws; ++i) {
    Case c = draw_case(1, i, {60000, 6, {bin.op}});
    if (bins_of(c).count(bin) > 0) return c;
  }
  return std::nullopt;
}

Case CaseSequence::next() {
  const int64_t index = index_++;
  const SwitchedOff off = switched_off(seed_, index);
  DrawLimits limits = limits_;
  Case best;
  std::set<Bin> best_bins;
  int64_t best_worth = -1;
  for (int64_t j = 0; j < kCandidates; ++j) {
    const uint64_t seed =
        fixtures::hash_pair(fixtures::hash_pair(seed_, kCandidateTag), static_cast<uint64_t>(j));
    const Case candidate = without(draw_case(seed, index, limits), off);
    limits.ops = {candidate.op};
    std::set<Bin> bins = bins_of(candidate);
    const int64_t candidate_worth = worth(bins, visited_);
    if (candidate_worth <= best_worth) continue;
    best = candidate;
    best_bins = std::move(bins);
    best_worth = candidate_worth;
  }
  visited_.add(best_bins);
  return best;
}

}  // namespace exactk::props
