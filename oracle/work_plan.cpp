#include "oracle/work_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace exactk::oracle {
namespace {

std::string text(int64_t number) {
  return std::to_string(number);
}
std::string range_text(int64_t begin, int64_t end) {
  std::string range = "[";
  return range.append(text(begin)).append(", ").append(text(end)).append(")");
}

int64_t at(std::span<const int32_t> values, int64_t place) {
  return values[static_cast<size_t>(place)];
}

struct Work {
  int64_t index = 0;
  int64_t batch = 0, partial = 0, q_start = 0, q_end = 0, kv_start = 0, kv_end = 0, kv_offset = 0;
};

Work work_at(const WorkPlanView& plan, int64_t index) {
  const auto field = [&](int64_t column) {
    return at(plan.work_info, index * kWorkColumns + column);
  };
  return {index, field(0), field(1), field(2), field(3), field(4), field(5), field(6)};
}

struct Tile {
  int64_t batch = 0, q_start = 0, q_end = 0;
};

int64_t batches(const WorkPlanInput& input) {
  return std::ssize(input.qo_indptr) - 1;
}

int64_t workers_of(const WorkPlanInput& input, const WorkPlanView& plan) {
  return input.workers == 0 ? std::ssize(plan.work_indptr) - 1 : input.workers;
}

std::vector<Tile> tiles_of(const WorkPlanInput& input) {
  std::vector<Tile> tiles;
  for (int64_t b = 0; b < batches(input); ++b) {
    const int64_t end = at(input.qo_indptr, b + 1);
    for (int64_t q = at(input.qo_indptr, b); q < end; q += input.tile_rows)
      tiles.push_back({b, q, std::min(q + input.tile_rows, end)});
  }
  return tiles;
}

// One sentence if a range list does not start at 0 or falls somewhere.
std::string problem_of_indptr(const std::string& name, std::span<const int32_t> indptr) {
  if (indptr.empty() || indptr[0] != 0) return name + " must have a first element of 0";
  for (size_t i = 1; i < indptr.size(); ++i) {
    if (indptr[i] < indptr[i - 1])
      return name + " falls from " + text(indptr[i - 1]) + " to " + text(indptr[i]) +
             " at element " + text(static_cast<int64_t>(i));
  }
  return "";
}

std::string problem_of(const WorkPlanInput& input, const WorkPlanView& plan) {
  for (const auto& [what, indptr] :
       {std::pair{"qo_indptr", input.qo_indptr}, std::pair{"kv_indptr", input.kv_indptr}}) {
    if (std::string problem = problem_of_indptr(what, indptr); !problem.empty()) return problem;
  }
  if (input.qo_indptr.size() != input.kv_indptr.size())
    return "qo_indptr and kv_indptr must be of one length; got " +
           text(std::ssize(input.qo_indptr)) + " and " + text(std::ssize(input.kv_indptr));
  if (input.granularity < 1 || input.tile_rows < 1)
    return "granularity and rows of a tile must be at least 1; got " + text(input.granularity) +
           " and " + text(input.tile_rows);
  if (plan.work_indptr.empty() || workers_of(input, plan) >= std::ssize(plan.work_indptr))
    return "work_indptr needs " + text(workers_of(input, plan) + 1) + " elements; got " +
           text(std::ssize(plan.work_indptr));
  if (std::ssize(plan.work_info) % kWorkColumns != 0)
    return "work_info must have rows of 8; got " + text(std::ssize(plan.work_info)) + " elements";
  const int64_t tiles = std::ssize(tiles_of(input));
  if (std::ssize(plan.reduce_indptr) < tiles + 1 || std::ssize(plan.reduce_final_map) < 2 * tiles)
    return text(tiles) + " tiles need reduce_indptr and reduce_final_map of " + text(tiles + 1) +
           " and " + text(2 * tiles) + " elements; got " + text(std::ssize(plan.reduce_indptr)) +
           " and " + text(std::ssize(plan.reduce_final_map));
  return "";
}

class PlanJudge {
 public:
  PlanJudge(const WorkPlanInput& input, const WorkPlanView& plan)
      : input_(input), plan_(plan), tiles_(tiles_of(input)) {}

  WorkPlanJudgement judge() {
    judged_.tiles = std::ssize(tiles_);
    if (!judge_work_indptr()) return std::move(judged_);
    works_of_tile_.resize(tiles_.size());
    for (size_t tile = 0; tile < tiles_.size(); ++tile)
      tile_of_row_[tiles_[tile].q_start] = static_cast<int64_t>(tile);
    for (int64_t i = 0; i < judged_.works; ++i) judge_work(work_at(plan_, i));
    for (int64_t tile = 0; tile < judged_.tiles; ++tile) judge_tile(tile);
    judge_reduce_end();
    return std::move(judged_);
  }

 private:
  void add(PlanFault kind, int64_t work, int64_t tile, std::string what) {
    ++judged_.problem_count;
    if (std::ssize(judged_.problems) < kPlanProblemsMax)
      judged_.problems.push_back({kind, work, tile, std::move(what)});
  }

  // False: nobody can say which works there are.
  bool judge_work_indptr() {
    const auto indptr = plan_.work_indptr;
    if (std::string problem = problem_of_indptr("work_indptr", indptr); !problem.empty()) {
      add(PlanFault::kWorkIndptr, -1, -1, std::move(problem));
      return false;
    }
    const int64_t room = std::ssize(plan_.work_info) / kWorkColumns;
    judged_.works = indptr.back();
    if (judged_.works > room) {
      add(PlanFault::kWorkIndptr, -1, -1,
          "work_indptr ends with " + text(judged_.works) + " works; work_info has room for " +
              text(room));
      return false;
    }
    const int64_t workers = workers_of(input_, plan_);
    if (at(indptr, workers) != judged_.works)
      add(PlanFault::kIdleWorker, at(indptr, workers), -1,
          text(judged_.works - at(indptr, workers)) + " of " + text(judged_.works) +
              " works are of workers from " + text(workers) + " on, which do not run");
    return true;
  }

  void judge_work(const Work& work) {
    const std::string self = "work " + text(work.index);
    if (work.batch < 0 || work.batch >= batches(input_)) {
      add(PlanFault::kBatch, work.index, -1,
          self + " is of batch " + text(work.batch) + "; there are " + text(batches(input_)));
      return;
    }
    const auto found = tile_of_row_.find(work.q_start);
    const Tile* tile =
        found == tile_of_row_.end() ? nullptr : &tiles_[static_cast<size_t>(found->second)];
    if (tile == nullptr || tile->batch != work.batch || tile->q_end != work.q_end) {
      add(PlanFault::kQueryRange, work.index, -1,
          self + " has the query rows " + range_text(work.q_start, work.q_end) +
              ", which are no tile of batch " + text(work.batch));
      return;
    }
    judge_kv(work, found->second);
  }

  void judge_kv(const Work& work, int64_t tile) {
    const std::string self = "work " + text(work.index);
    const int64_t begin = at(input_.kv_indptr, work.batch);
    const int64_t end = at(input_.kv_indptr, work.batch + 1);
    if (work.kv_start < begin || work.kv_end > end || work.kv_start > work.kv_end) {
      add(PlanFault::kKvRange, work.index, tile,
          self + " has the kv range " + range_text(work.kv_start, work.kv_end) +
              ", which is not within " + range_text(begin, end) + " of batch " + text(work.batch));
      return;
    }
    if (work.kv_offset != end - work.kv_end)
      add(PlanFault::kKvOffset, work.index, tile,
          self + " has the kv offset " + text(work.kv_offset) + ", want " +
              text(end - work.kv_end));
    for (const int64_t split : {work.kv_start, work.kv_end}) {
      if (split != begin && split != end && (split - begin) % input_.granularity != 0)
        add(PlanFault::kOffGranularity, work.index, tile,
            self + " is cut at " + text(split - begin) +
                " positions of its batch, no multiple of " + text(input_.granularity));
    }
    works_of_tile_[static_cast<size_t>(tile)].push_back(work);
  }

  void judge_tile(int64_t tile) {
    auto& works = works_of_tile_[static_cast<size_t>(tile)];
    std::sort(works.begin(), works.end(), [](const Work& a, const Work& b) {
      return std::tie(a.kv_start, a.kv_end, a.index) < std::tie(b.kv_start, b.kv_end, b.index);
    });
    const int64_t batch = tiles_[static_cast<size_t>(tile)].batch;
    const int64_t begin = at(input_.kv_indptr, batch);
    const int64_t end = at(input_.kv_indptr, batch + 1);
    judged_.empty_tiles += begin == end;
    judged_.split_tiles += works.size() > 1;
    if (works.empty()) {
      add(PlanFault::kNoWork, -1, tile,
          "nobody works on tile " + text(tile) + " of batch " + text(batch) + ", kv range " +
              range_text(begin, end));
    } else {
      judge_coverage(tile, begin, end);
    }
    judge_partials(tile);
  }

  void judge_coverage(int64_t tile, int64_t begin, int64_t end) {
    const auto& works = works_of_tile_[static_cast<size_t>(tile)];
    if (begin == end && works.size() > 1)
      add(PlanFault::kOverlap, works[1].index, tile,
          "tile " + text(tile) + " has no kv positions and " + text(std::ssize(works)) +
              " works, want 1");
    int64_t covered = begin;
    const auto gap = [&](int64_t until) {
      if (covered < until)
        add(PlanFault::kGap, -1, tile,
            "tile " + text(tile) + ": nobody reads the kv positions " + range_text(covered, until));
    };
    for (const Work& work : works) {
      gap(work.kv_start);
      if (work.kv_start < covered)
        add(PlanFault::kOverlap, work.index, tile,
            "tile " + text(tile) + ": work " + text(work.index) + " reads kv positions below " +
                text(covered) + " again, from " + text(work.kv_start));
      covered = std::max(covered, work.kv_end);
    }
    gap(end);
  }

  void judge_partials(int64_t tile) {
    const auto& works = works_of_tile_[static_cast<size_t>(tile)];
    const bool split = works.size() > 1;
    for (const Work& work : works) {
      if (!split && work.partial != -1)
        add(PlanFault::kPartialUnwanted, work.index, tile,
            "work " + text(work.index) + " is alone on its tile and writes the partial place " +
                text(work.partial) + ", want -1");
      if (split) judge_place(work, tile);
    }
    judge_reduce(tile);
  }

  void judge_place(const Work& work, int64_t tile) {
    const std::string self = "work " + text(work.index);
    if (work.partial == -1) {
      add(PlanFault::kPartialMissing, work.index, tile,
          self + " is one of several on its tile and writes the output itself");
      return;
    }
    const int64_t end = work.partial + input_.tile_rows;
    const int64_t room =
        input_.partials_max == 0 ? std::numeric_limits<int64_t>::max() : input_.partials_max;
    if (work.partial < 0 || end > room) {
      add(PlanFault::kPartialOutOfRange, work.index, tile,
          self + " writes the partial place " + text(work.partial) + ", which is not there");
      return;
    }
    // Places taken so far, by their ends: the first that ends behind this one's beginning.
    const auto next = places_.upper_bound(work.partial);
    if (next != places_.end() && next->first - input_.tile_rows < end) {
      add(PlanFault::kPartialShared, work.index, tile,
          self + " writes the partial place " + text(work.partial) + ", which work " +
              text(next->second) + " also writes");
      return;
    }
    places_[end] = work.index;
  }

  void judge_reduce(int64_t tile) {
    const auto& works = works_of_tile_[static_cast<size_t>(tile)];
    const int64_t first = at(plan_.reduce_indptr, tile);
    const int64_t last = at(plan_.reduce_indptr, tile + 1);
    const int64_t want = works.size() > 1 ? std::ssize(works) : 0;
    if (tile == 0 && first != 0)
      add(PlanFault::kReduceIndptr, -1, 0, "reduce_indptr starts with " + text(first) + ", want 0");
    if (last - first != want) {
      add(PlanFault::kReduceIndptr, -1, tile,
          "reduce_indptr grows by " + text(last - first) + " at tile " + text(tile) + ", want " +
              text(want));
      return;
    }
    if (want == 0) return;
    if (first < 0 || last > std::ssize(plan_.reduce_partial_map)) {
      add(PlanFault::kReducePartialMap, -1, tile,
          "reduce_partial_map has no room for " + text(last) + " partial results");
      return;
    }
    for (int64_t i = 0; i < want; ++i) {
      const Work& work = works[static_cast<size_t>(i)];
      if (at(plan_.reduce_partial_map, first + i) != work.partial) {
        add(PlanFault::kReducePartialMap, work.index, tile,
            "reduce_partial_map[" + text(first + i) + "] is " +
                text(at(plan_.reduce_partial_map, first + i)) + ", want " + text(work.partial) +
                " of work " + text(work.index));
        break;
      }
    }
    const Tile& rows = tiles_[static_cast<size_t>(tile)];
    const int64_t q_start = at(plan_.reduce_final_map, 2 * tile);
    const int64_t q_end = at(plan_.reduce_final_map, 2 * tile + 1);
    if (q_start != rows.q_start || q_end != rows.q_end)
      add(PlanFault::kReduceFinalMap, -1, tile,
          "reduce_final_map of tile " + text(tile) + " is " + range_text(q_start, q_end) +
              ", want " + range_text(rows.q_start, rows.q_end));
  }

  // The consumer reduces as many tiles as reduce_indptr has room for.
  void judge_reduce_end() {
    const int64_t last = at(plan_.reduce_indptr, judged_.tiles);
    for (int64_t i = judged_.tiles + 1; i < std::ssize(plan_.reduce_indptr); ++i) {
      if (at(plan_.reduce_indptr, i) == last) continue;
      add(PlanFault::kReduceIndptr, -1, i - 1,
          "reduce_indptr[" + text(i) + "] behind the last tile is " +
              text(at(plan_.reduce_indptr, i)) + ", want " + text(last));
      return;
    }
  }

  const WorkPlanInput& input_;
  const WorkPlanView& plan_;
  std::vector<Tile> tiles_;
  std::map<int64_t, int64_t> tile_of_row_;  // by the first row
  std::vector<std::vector<Work>> works_of_tile_;
  std::map<int64_t, int64_t> places_;  // end of a place -> work
  WorkPlanJudgement judged_;
};

// A softmax over some keys, before it is divided: all sums in units of 2^0.
struct Partial {
  double weight = 0;
  double weighted = 0;
  void add(const Partial& other) {
    weight += other.weight;
    weighted += other.weighted;
  }
  double out() const { return weight == 0 ? 0 : weighted / weight; }
};

Partial attend(const PlanKeys& keys, int64_t row, int64_t begin, int64_t end) {
  Partial sum;
  for (int64_t position = begin; position < end; ++position) {
    const PlanKey key = keys(row, position);
    const double weight = std::ldexp(1.0, -key.score);
    sum.add({weight, weight * key.value});
  }
  return sum;
}

void write(std::vector<PlanOutput>& rows, int64_t row, const Partial& sum) {
  if (row < 0 || row >= std::ssize(rows)) return;
  PlanOutput& output = rows[static_cast<size_t>(row)];
  ++output.written;
  output.out = sum.out();
}

// sum + a * b of 32-bit numbers, or the largest number where that does not fit.
int64_t add_product(int64_t sum, int64_t a, int64_t b) {
  const int64_t product = a * std::max<int64_t>(b, 0);
  return product > std::numeric_limits<int64_t>::max() - sum ? std::numeric_limits<int64_t>::max()
                                                             : sum + product;
}

// The works of workers that run, without rows that are none of the step's.
std::vector<Work> works_that_run(const WorkPlanInput& input, const WorkPlanView& plan) {
  const int64_t rows = input.qo_indptr.back();
  const int64_t count = std::min<int64_t>(at(plan.work_indptr, workers_of(input, plan)),
                                          std::ssize(plan.work_info) / kWorkColumns);
  std::vector<Work> works;
  for (int64_t i = 0; i < count; ++i) {
    Work work = work_at(plan, i);
    work.q_end = std::min(work.q_end, rows);
    const bool has_rows = 0 <= work.q_start && work.q_start < work.q_end;
    if (has_rows && work.kv_start >= 0 && work.kv_end <= input.kv_indptr.back())
      works.push_back(work);
  }
  return works;
}

// The query rows of a tile that is reduced, and its part of reduce_partial_map.
struct Reduction {
  int64_t q_start = 0, q_end = 0, first = 0, last = 0;
};
std::vector<Reduction> reductions_that_run(const WorkPlanInput& input, const WorkPlanView& plan) {
  const int64_t tiles =
      std::min(std::ssize(plan.reduce_indptr) - 1, std::ssize(plan.reduce_final_map) / 2);
  std::vector<Reduction> reductions;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const Reduction one{
        std::max<int64_t>(at(plan.reduce_final_map, 2 * tile), 0),
        std::min<int64_t>(at(plan.reduce_final_map, 2 * tile + 1), input.qo_indptr.back()),
        std::max<int64_t>(at(plan.reduce_indptr, tile), 0),
        std::min(at(plan.reduce_indptr, tile + 1), std::ssize(plan.reduce_partial_map))};
    if (one.q_start < one.q_end && one.first < one.last) reductions.push_back(one);
  }
  return reductions;
}

}  // namespace

std::string_view name(PlanFault fault) {
  constexpr std::string_view kNames[kPlanFaults] = {
      "work indptr",
      "works of an idle worker",
      "batch",
      "query range",
      "kv range",
      "kv offset",
      "no work",
      "gap",
      "overlap",
      "split off granularity",
      "partial slot unwanted",
      "partial slot missing",
      "partial slot out of range",
      "partial slot shared",
      "reduce indptr",
      "reduce partial map",
      "reduce final map",
  };
  return kNames[static_cast<size_t>(fault)];
}

bool WorkPlanJudgement::has(PlanFault kind) const {
  return std::any_of(problems.begin(), problems.end(),
                     [kind](const PlanProblem& problem) { return problem.kind == kind; });
}

WorkPlanJudgement judge_work_plan(const WorkPlanInput& input, const WorkPlanView& plan) {
  if (std::string problem = problem_of(input, plan); !problem.empty()) {
    WorkPlanJudgement judged;
    judged.invalid = std::move(problem);
    return judged;
  }
  return PlanJudge(input, plan).judge();
}

std::vector<PlanOutput> attend_by_plan(const WorkPlanInput& input, const WorkPlanView& plan,
                                       const PlanKeys& keys) {
  std::vector<PlanOutput> rows(static_cast<size_t>(input.qo_indptr.back()));
  std::map<int64_t, Partial> places;
  for (const Work& work : works_that_run(input, plan)) {
    for (int64_t q = work.q_start; q < work.q_end; ++q) {
      const Partial sum = attend(keys, q, work.kv_start, work.kv_end);
      if (work.partial < 0) {
        write(rows, q, sum);
      } else {
        places[work.partial + q - work.q_start] = sum;
      }
    }
  }
  for (const Reduction& one : reductions_that_run(input, plan)) {
    for (int64_t q = one.q_start; q < one.q_end; ++q) {
      Partial sum;
      for (int64_t i = one.first; i < one.last; ++i)
        sum.add(places[at(plan.reduce_partial_map, i) + q - one.q_start]);
      write(rows, q, sum);
    }
  }
  return rows;
}

std::vector<PlanOutput> attend_directly(const WorkPlanInput& input, const PlanKeys& keys) {
  std::vector<PlanOutput> rows(static_cast<size_t>(input.qo_indptr.back()));
  for (int64_t b = 0; b < batches(input); ++b) {
    for (int64_t q = at(input.qo_indptr, b); q < at(input.qo_indptr, b + 1); ++q)
      write(rows, q, attend(keys, q, at(input.kv_indptr, b), at(input.kv_indptr, b + 1)));
  }
  return rows;
}

int64_t pairs_by_plan(const WorkPlanInput& input, const WorkPlanView& plan) {
  int64_t pairs = 0;
  for (const Work& work : works_that_run(input, plan))
    pairs = add_product(pairs, work.q_end - work.q_start, work.kv_end - work.kv_start);
  for (const Reduction& one : reductions_that_run(input, plan))
    pairs = add_product(pairs, one.q_end - one.q_start, one.last - one.first);
  return pairs;
}

int64_t pairs_directly(const WorkPlanInput& input) {
  int64_t pairs = 0;
  for (int64_t b = 0; b < batches(input); ++b)
    pairs = add_product(pairs, at(input.qo_indptr, b + 1) - at(input.qo_indptr, b),
                        at(input.kv_indptr, b + 1) - at(input.kv_indptr, b));
  return pairs;
}

}  // namespace exactk::oracle
