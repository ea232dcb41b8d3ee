// Makes a failing case as small as it can be while it still fails.
#pragma once

#include <cstdint>
#include <functional>

#include "fixtures/case.h"
#include "props/outcome.h"

namespace exactk::props {

struct ShrinkLimits {
  int64_t executions = 200;  // in all, repetitions included
  double seconds = 20;       // after which nothing more is tried; one execution is never cut short
  int64_t reruns = 5;        // repetitions of a case, to see whether it fails every time
};

struct Reruns {
  int64_t failed = 0;
  int64_t runs = 0;
};

struct ShrinkResult {
  Outcome first;    // the evidence that shrinking began with, as it came in
  Outcome outcome;  // of the smallest case, its `value`; `first` where nothing smaller fails
  int64_t executions = 0;
  int64_t smaller = 0;   // how often a smaller case took the place of the one before
  bool minimal = false;  // no candidate of the smallest case fails, and no limit ended the search
  // Of `first`, until it failed once: none failed, and nothing was tried. Of the smallest case.
  Reruns first_again, smallest_again;
};

// Whether `b` breaks what `a` broke: the same verdict, one of a failure, and a kind of fault in
// common; or no kind known in either, as after a crash. A case that fails otherwise shows another
// defect, and shrinking must not slip to it.
bool fails_alike(const Outcome& a, const Outcome& b);

// Greedy: the first candidate that fails alike takes the place of the case, and the search goes on
// behind it, round and round, until no candidate fails. No case is judged twice but for the reruns.
// `failed` must be a failure; `judge` gives the outcome of a case. But for the limit of seconds the
// result depends on `failed` and `judge` alone.
ShrinkResult shrink(const Outcome& failed,
                    const std::function<Outcome(const fixtures::Case&)>& judge,
                    const ShrinkLimits& limits = {});

}  // namespace exactk::props
