// The random cases of a seed, one after the other, from a generator that learns: each case is the
// one of several that goes where the cases before it went least.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "props/coverage.h"
#include "props/generators.h"

namespace exactk::props {

// What the cases of one stretch do without, so that the rest meets itself more often: keys that
// have their defaults, and kinds of patterns.
struct SwitchedOff {
  std::vector<std::string_view> keys;
  uint32_t patterns = 0;  // bit 1 << PatternKind
};

// Case i depends on the seed, the limits and i alone; neither on what kernels make of the cases nor
// on which of them are run. Candidate j of case i is drawn from (seed, i, j). All candidates of a
// case are of one operation, so that operations keep their shares.
class CaseSequence {
 public:
  CaseSequence(uint64_t seed, DrawLimits limits) : seed_(seed), limits_(std::move(limits)) {}

  // Always valid; never one with nothing at stake.
  fixtures::Case next();

  // What the cases so far have visited.
  const Coverage& visited() const { return visited_; }

 private:
  uint64_t seed_;
  DrawLimits limits_;
  int64_t index_ = 0;  // of the next case
  Coverage visited_;
};

// What is switched off at case `index`: the same over a stretch of cases.
SwitchedOff switched_off(uint64_t seed, int64_t index);
// The case without it; as it is where nothing would be at stake without.
fixtures::Case without(const fixtures::Case& c, const SwitchedOff& off);

// A random case that visits the bin, if one of the first few hundred does.
std::optional<fixtures::Case> example_of(const Bin& bin);

}  // namespace exactk::props
