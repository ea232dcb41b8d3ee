#include "props/shrink_candidates.h"

#include <algorithm>
#include <span>

#include "fixtures/lengths.h"
#include "fixtures/session.h"
#include "oracle/dispatch_policy.h"
#include "props/topk_problem.h"

namespace exactk::props {
namespace {

using namespace fixtures;

constexpr int64_t Tuning::*kTuned[] = {
    &Tuning::radix_width,     &Tuning::split_width,   &Tuning::split_blocks,
    &Tuning::policy_shift,    &Tuning::min_chunk,     &Tuning::final_items,
    &Tuning::insertion_items, &Tuning::block_threads, &Tuning::radix_rows};

// Numbers that are better the smaller they are, from `floor` on. The others, strides say, are best
// at their defaults.
struct Size {
  std::string_view key;
  int64_t Case::*member;
  int64_t floor;
};
constexpr Size kCounts[] = {{"rows", &Case::rows, 1},
                            {"next_n", &Case::next_n, 1},
                            {"requests", &Case::requests, 1},
                            {"extra", &Case::extra, 0}};
constexpr Size kExtents[] = {{"width", &Case::width, 1},
                             {"context", &Case::context, 1},
                             {"experts", &Case::experts, 1},
                             {"extra_context", &Case::extra_context, 1}};
constexpr Size kSizes[] = {{"k", &Case::k, 1},
                           {"window", &Case::window, 1},
                           {"images", &Case::images, 0},
                           {"groups", &Case::groups, 1},
                           {"topk_groups", &Case::topk_groups, 1},
                           {"index_heads", &Case::index_heads, 1},
                           {"index_dim", &Case::index_dim, 4},

                           {"heads", &Case::heads, 1},
                           {"dim", &Case::dim, 1},
                           {"dim_v", &Case::dim_v, 1},
                           {"rope", &Case::rope, 0},
                           {"extra_k", &Case::extra_k, 0}};

constexpr int64_t Case::*kStrides[] = {&Case::row_stride,   &Case::column_stride,
                                       &Case::out_stride,   &Case::index_width,
                                       &Case::index_stride, &Case::table_stride};

bool is_fixed(const LengthRule& rule) {
  return rule.kind == LengthKind::kConst || rule.kind == LengthKind::kList;
}

// const, then list by its number of values, then what is drawn.
int64_t rank(const LengthRule& rule) {
  if (rule.kind == LengthKind::kConst) return 0;
  return rule.kind == LengthKind::kList ? rule.count
                                        : kListMax + 1 + static_cast<int64_t>(rule.kind);
}

int64_t rank(const StartRule& rule) {
  switch (rule.kind) {
    case StartKind::kZero:
      return 0;
    case StartKind::kConst:
      return 1;
    case StartKind::kEnd:
      return 2;
    case StartKind::kRagged:
      return 3;
  }
  return 4;
}

int64_t rank(const Pattern& pattern) {
  switch (pattern.kind) {
    case PatternKind::kUniform:
      return 0;
    case PatternKind::kAllEqual:
      return 1;
    case PatternKind::kNormal:
      return 2;
    default:
      return 3 + static_cast<int64_t>(pattern.kind);
  }
}

// Half a step farther from 0 where negative, so that 1 is before -1.
template <class Rule>
int64_t sum(const Rule& rule) {
  int64_t total = 0;
  for (const int64_t value : rule.values) total += 2 * std::abs(value) + (value < 0 ? 1 : 0);
  return total;
}

int64_t query_len_max(const Case& c) {
  return std::max<int64_t>(
      *std::max_element(c.query_lens.values.begin(), c.query_lens.values.end()), 0);
}

// Rows of the launch with the most, as far as the numbers alone say.
int64_t rows_of(const Case& c) {
  return reads(c.op, "rows") ? c.rows : c.requests * query_len_max(c) + c.extra;
}

int64_t sizes_of(const Case& c) {
  int64_t total = 0;
  for (const Size& size : kSizes) total += c.*size.member;
  return total;
}

int64_t members_given(const Case& c) {
  int64_t given = std::ssize(given_keys(c)) + c.override_count;
  for (const auto member : kTuned) given += c.tune.*member != 0 ? 1 : 0;
  return given;
}

int64_t strides_and_tuned(const Case& c) {
  int64_t total = 0;
  for (const auto member : kStrides) total += c.*member;
  for (const auto member : kTuned) total += c.tune.*member;
  return total;
}

// From `floor` in halves of the way to `value`, so that a threshold is found as by bisection.
std::vector<int64_t> towards(int64_t value, int64_t floor) {
  std::vector<int64_t> steps;
  for (int64_t way = value - floor; way > 0; way /= 2) steps.push_back(value - way);
  return steps;
}

// The longest lengths below `value` at which a dispatch or a part of a token changes, and k, with
// the length above each.
std::vector<int64_t> edges_below(const Case& c, int64_t value) {
  constexpr size_t kEdgesKept = 2;
  std::vector<int64_t> edges = length_edges(c);
  if (reads(c.op, "rows") && reads(c.op, "arch")) {
    const std::vector<int64_t> policy = oracle::length_edges(topk_shape(topk_problem(c)));
    edges.insert(edges.end(), policy.begin(), policy.end());
  }
  std::erase_if(edges, [&](int64_t edge) { return edge >= value; });
  std::sort(edges.begin(), edges.end(), std::greater<>());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  if (edges.size() > kEdgesKept) edges.resize(kEdgesKept);
  edges.push_back(c.k);
  std::vector<int64_t> both;
  for (const int64_t edge : edges) both.insert(both.end(), {edge, edge + 1});
  std::erase_if(both, [&](int64_t edge) { return edge < 1 || edge >= value; });
  return both;
}

LengthRule rule_of(std::span<const int64_t> values) {
  const bool same = std::all_of(values.begin(), values.end(),
                                [&](int64_t value) { return value == values.front(); });
  LengthRule rule{same ? LengthKind::kConst : LengthKind::kList, 1, {values.front()}};
  if (same) return rule;
  rule.count = static_cast<int32_t>(std::min<int64_t>(std::ssize(values), kListMax));
  std::copy_n(values.begin(), rule.count, rule.values.begin());
  return rule;
}

Pattern plain(PatternKind kind) {
  Pattern pattern;
  pattern.kind = kind;
  return pattern;
}

int64_t longest_of(const std::vector<int32_t>& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

class Candidates {
 public:
  Candidates(const Case& c, const Outcome& hints)
      : c_(c), hints_(hints), bound_(shrink_measure(c)) {}

  std::vector<ShrinkCandidate> all() {
    diagnosis();
    launches();
    members();
    counts();
    lengths();
    extents();
    query_lens();
    sizes();
    data();
    rules();
    tune();
    strides();
    overrides();
    return std::move(list_);
  }

 private:
  void add(std::string_view pass, const Case& wanted) {
    const Case value = normalize(wanted);
    if (!(shrink_measure(value) < bound_)) return;
    for (const ShrinkCandidate& listed : list_) {
      if (listed.value == value) return;
    }
    list_.push_back({value, pass});
  }

  template <class Member, class Value>
  void set(std::string_view pass, Member Case::*member, const Value& value) {
    Case smaller = c_;
    smaller.*member = static_cast<Member>(value);
    add(pass, smaller);
  }

  void drop(std::string_view pass, std::initializer_list<std::string_view> keys) {
    Case smaller = c_;
    for (const std::string_view key : keys) smaller = with_default(smaller, key);
    add(pass, smaller);
  }

  void shrink(std::string_view pass, const Size& size) {
    if (!reads(c_.op, size.key)) return;
    for (const int64_t value : towards(c_.*size.member, size.floor)) set(pass, size.member, value);
  }

  // `focus` with given lengths, as they are in launch `step`; of requests or rows that fail there.
  struct Lengths {
    int64_t first;    // in launch 0
    int64_t failing;  // in the failing launch
  };
  void focus(Case wanted, std::span<const Lengths> lengths) {
    std::vector<int64_t> first, failing;
    for (const Lengths& l : lengths) {
      first.push_back(l.first);
      failing.push_back(l.failing);
    }
    const int64_t step = hints_.last_step;
    wanted.replay_lens = LengthRule{};
    wanted.lens = rule_of(failing);
    wanted.replays = 0;
    wanted.session = Session{};
    add("diagnosis", wanted);
    wanted.session = c_.session;
    if (step <= 0 && c_.session.count == 0) return;
    wanted.lens = rule_of(first);
    wanted.replays = 1;
    wanted.replay_lens = {LengthKind::kList, 1, {failing.back()}};
    add("diagnosis", wanted);
    wanted.replays = step;
    wanted.replay_lens = c_.replay_lens;
    add("diagnosis", wanted);
  }

  void focus_row(int64_t row) {
    const int64_t step = hints_.last_step;
    const std::vector<int64_t> visible = row_lengths(c_, step), at_first = row_lengths(c_, 0);
    const std::vector<int32_t> lens = seq_lens(c_, step), first = seq_lens(c_, 0);
    if (row >= c_.rows) return;
    const size_t at = static_cast<size_t>(row);
    Case one = c_;
    if (!visible.empty()) {
      one.starts = {StartKind::kConst, 1, {row_starts(c_, step)[at]}};
      one.rows = one.next_n = 1;
      focus(one, std::array{Lengths{at_first[at], visible[at]}});
    }
    const int64_t drafts = c_.lens_dim == 1 ? c_.next_n : 1;
    const size_t place = static_cast<size_t>(row / drafts);
    const Lengths failing{first[place], lens[place]};
    one.next_n = c_.next_n;
    one.rows = c_.next_n;
    focus(one, std::array{failing});
    one.starts = c_.starts;
    one.rows = 2 * c_.next_n;
    if (place > 0) focus(one, std::array{Lengths{first[0], lens[0]}, failing});
    // What another row writes over it.
    if (place + 1 < lens.size())
      focus(one, std::array{failing, Lengths{first[place + 1], lens[place + 1]}});
    set("diagnosis", &Case::rows, (row / c_.next_n + 1) * c_.next_n);
  }

  void focus_token(int64_t row) {
    const int64_t step = hints_.last_step;
    const std::vector<Token> all = tokens(c_, step);
    if (row >= std::ssize(all)) return;
    const Token& token = all[static_cast<size_t>(row)];
    const size_t request = static_cast<size_t>(token.request);
    const std::vector<int32_t> lens = seq_lens(c_, step), first = seq_lens(c_, 0);
    const std::vector<int32_t> queries = fixtures::query_lens(c_, step);
    Case one = c_;
    one.requests = 1;
    one.extra = one.skip = 0;
    one.query_lens = {LengthKind::kConst, 1, {1}};
    focus(one, std::array{Lengths{first[request], token.position + 1}});
    const Lengths failing{first[request], lens[request]};
    one.query_lens.values[0] = queries[request];
    focus(one, std::array{failing});
    if (request > 0) {
      one.requests = 2;
      one.query_lens = rule_of(std::array<int64_t, 2>{queries[0], queries[request]});
      focus(one, std::array{Lengths{first[0], lens[0]}, failing});
    }
    set("diagnosis", &Case::requests, token.request + 1);
  }

  // A row without a length has nothing but its data, which other seeds give to the first row.
  void focus_drawn_row(int64_t row) {
    constexpr uint64_t kSeedsTried = 12;
    Case one = c_;
    one.rows = 1;
    for (uint64_t seed = 1; seed <= kSeedsTried; ++seed) {
      one.seed = seed;
      add("diagnosis", one);
    }
    set("diagnosis", &Case::rows, row + 1);
  }

  void diagnosis() {
    if (hints_.last_step < 0 || hints_.last_step >= launch_count(c_)) return;
    if (!hints_.failing_rows.empty()) {
      const int64_t row = hints_.failing_rows.front();
      if (!reads(c_.op, "lens")) {
        focus_drawn_row(row);
      } else {
        reads(c_.op, "rows") ? focus_row(row) : focus_token(row);
      }
    }
    if (c_.session.count == 0) set("diagnosis", &Case::replays, hints_.last_step);
  }

  // Without an action, or what `launch` and `replays` can say of it.
  void session() {
    if (c_.session.count == 0) return;
    drop("launches", {"session", "replay_lens", "schedule"});
    Case plain = c_;
    plain.session = Session{};
    plain.replays = launch_count(c_) - 1;
    for (const LaunchMode mode : {LaunchMode::kDirect, LaunchMode::kStream, LaunchMode::kGraph}) {
      plain.launch = mode;
      add("launches", plain);
    }
    for (int32_t from = 0; from < c_.session.count; ++from) {
      for (const int32_t width : {c_.session.count / 2, 2, 1}) without_actions(from, width);
    }
  }

  void without_actions(int32_t from, int32_t width) {
    if (width < 1 || from + width > c_.session.count) return;
    Case fewer = c_;
    auto& actions = fewer.session.actions;
    std::move(actions.begin() + from + width, actions.end(), actions.begin() + from);
    std::fill(actions.end() - width, actions.end(), Action{});
    fewer.session.count -= width;
    add("launches", fewer);
  }

  void launches() {
    drop("launches", {"launch", "replays", "replay_lens", "change", "repeats", "schedule"});
    drop("launches", {"launch"});
    if (c_.launch == LaunchMode::kGraph) set("launches", &Case::launch, LaunchMode::kStream);
    shrink("launches", {"replays", &Case::replays, 0});
    shrink("launches", {"repeats", &Case::repeats, 1});
    session();
    for (const std::string_view key : {"schedule", "change", "replay_lens"})
      drop("launches", {key});
  }

  // Everything that has a plain default, together and one by one. Sizes are not among them: their
  // defaults are rarely smaller, and then no candidates.
  void members() {
    drop("members",
         {"tail",     "poison",       "workspace",    "row_stride",   "column_stride", "out_stride",
          "misalign", "index_width",  "index_stride", "table_stride", "table",         "slots",
          "invalid",  "bad_requests", "extra",        "skip",         "images",        "specials",
          "scales",   "fp8",          "outside",      "compressed",   "seed"});
    for (const std::string_view key : given_keys(c_)) drop("members", {key});
  }

  // What a stride must be at least depends on the operation; normalize() knows.
  void strides() {
    for (const auto member : kStrides) {
      for (const int64_t value : towards(c_.*member, 1)) set("strides", member, value);
    }
  }

  void counts() {
    if (reads(c_.op, "next_n") && c_.next_n > 1) {
      Case single = c_;
      single.rows = c_.rows / c_.next_n;
      single.next_n = 1;
      add("rows", single);
    }
    for (const Size& size : kCounts) shrink("rows", size);
  }

  // Values of a rule that says each: fewer of them, each smaller. Edges only for a single one.
  void values(std::string_view pass, LengthRule Case::*member, int64_t floor) {
    const LengthRule& rule = c_.*member;
    if (rule.kind == LengthKind::kList) {
      for (int32_t i = 0; i < rule.count; ++i)
        set(pass, member, LengthRule{LengthKind::kConst, 1, {rule.values[static_cast<size_t>(i)]}});
      for (const int64_t count : towards(rule.count, 1))
        set(pass, member, rule_of(std::span(rule.values).first(static_cast<size_t>(count))));
    }
    for (size_t i = 0; i < static_cast<size_t>(rule.count); ++i) {
      const int64_t value = rule.values[i];
      std::vector<int64_t> smaller =
          value < 0 ? std::vector<int64_t>{0, -1} : towards(value, std::min(value, floor));
      if (rule.kind == LengthKind::kConst) {
        const std::vector<int64_t> edges = edges_below(c_, value);
        smaller.insert(smaller.end(), edges.begin(), edges.end());
      }
      for (const int64_t wanted : smaller) {
        LengthRule other = rule;
        other.values[i] = wanted;
        set(pass, member, other);
      }
    }
  }

  void lengths() {
    if (!is_fixed(c_.lens)) {
      const std::vector<int32_t> drawn = seq_lens(c_, 0);
      const int64_t longest = longest_of(drawn);
      const int64_t shortest = drawn.empty() ? 0 : *std::min_element(drawn.begin(), drawn.end());
      for (const int64_t length : {longest, shortest, std::min(c_.k, longest)})
        set("lens", &Case::lens, LengthRule{LengthKind::kConst, 1, {length}});
      if (!drawn.empty() && std::ssize(drawn) <= kListMax) {
        const std::vector<int64_t> each(drawn.begin(), drawn.end());
        set("lens", &Case::lens, rule_of(each));
      }
    }
    if (is_fixed(c_.lens)) values("lens", &Case::lens, 0);
    values("lens", &Case::replay_lens, 0);
  }

  // The longest row of any launch needs no more columns than its own.
  int64_t columns_in_use() const {
    int64_t most = 1;
    for (int64_t step = 0; step < launch_count(c_); ++step) {
      const std::vector<int32_t> lens = seq_lens(c_, step);
      const std::vector<int64_t> starts = row_starts(c_, step);
      const bool started = reads(c_.op, "starts");
      for (size_t i = 0; i < lens.size(); ++i) {
        if (lens[i] > 0) most = std::max<int64_t>(most, lens[i] + (started ? starts[i] : 0));
      }
    }
    return most;
  }

  void extents() {
    for (const Size& size : kExtents) {
      if (!reads(c_.op, size.key)) continue;
      set("width", size.member, columns_in_use());
      shrink("width", size);
      for (const int64_t edge : edges_below(c_, c_.*size.member)) set("width", size.member, edge);
    }
  }

  // Fewer tokens of one request or of many alike, which begin where they did.
  void fewer_tokens() {
    if (c_.query_lens.kind != LengthKind::kConst || c_.lens.kind != LengthKind::kConst) return;
    const int64_t tokens = c_.query_lens.values[0];
    for (const int64_t fewer : towards(tokens, 1)) {
      Case smaller = c_;
      smaller.query_lens.values[0] = fewer;
      smaller.lens.values[0] -= tokens - fewer;
      add("queries", smaller);
    }
  }

  void query_lens() {
    if (!reads(c_.op, "query_lens")) return;
    set("queries", &Case::query_lens, LengthRule{LengthKind::kConst, 1, {1}});
    if (!is_fixed(c_.query_lens)) {
      set("queries", &Case::query_lens, LengthRule{LengthKind::kConst, 1, {query_len_max(c_)}});
      const std::vector<int32_t> drawn = fixtures::query_lens(c_, 0);
      const std::vector<int64_t> each(drawn.begin(), drawn.end());
      if (std::ssize(each) <= kListMax) set("queries", &Case::query_lens, rule_of(each));
    }
    fewer_tokens();
    values("queries", &Case::query_lens, 1);
  }

  void sizes() {
    for (const Size& size : kSizes) shrink("sizes", size);
    // Where numbers must keep a proportion, none can become smaller alone.
    Case half = c_;
    for (const std::span<const Size> group :
         {std::span<const Size>(kExtents), std::span<const Size>(kSizes)}) {
      for (const Size& size : group) {
        if (reads(c_.op, size.key))
          half.*size.member = std::max(std::min(c_.*size.member, size.floor), c_.*size.member / 2);
      }
    }
    for (LengthRule Case::*rule : {&Case::lens, &Case::replay_lens}) {
      for (int64_t& value : (half.*rule).values) value /= 2;
    }
    for (int64_t& value : half.pattern.values) value /= 2;
    add("sizes", half);
  }

  void data() {
    for (const PatternKind kind :
         {PatternKind::kUniform, PatternKind::kAllEqual, PatternKind::kNormal})
      set("pattern", &Case::pattern, plain(kind));
    for (size_t i = 0; i < static_cast<size_t>(c_.pattern.count); ++i) {
      for (const int64_t value : towards(c_.pattern.values[i], 0)) {
        Case smaller = c_;
        smaller.pattern.values[i] = value;
        add("pattern", smaller);
      }
    }
    if (c_.pattern.count > 0) set("pattern", &Case::pattern, plain(c_.pattern.kind));
  }

  void rules() {
    set("rules", &Case::starts, StartRule{StartKind::kZero, 0, {}});
    set("rules", &Case::starts, StartRule{StartKind::kConst, 1, {1}});
    if (c_.starts.kind == StartKind::kConst) {
      for (const int64_t value : towards(c_.starts.values[0], 0))
        set("rules", &Case::starts, StartRule{StartKind::kConst, 1, {value}});
    }
    set("rules", &Case::indices, IndexPattern{});
    for (const int64_t most : towards(c_.numbers.values[0], 1))
      set("rules", &Case::numbers, NumberRule{NumberKind::kIntegers, 1, {most}});
    set("rules", &Case::numbers, NumberRule{NumberKind::kIntegers, 1, {1}});
    values("rules", &Case::cap, 0);
  }

  void tune() {
    for (const auto member : kTuned) {
      Case smaller = c_;
      smaller.tune.*member = 0;
      add("tune", smaller);
    }
    for (const auto member : kTuned) {
      for (const int64_t value : towards(c_.tune.*member, 1)) {
        Case smaller = c_;
        smaller.tune.*member = value;
        add("tune", smaller);
      }
    }
  }

  void overrides() {
    for (const int64_t count : towards(c_.override_count, 0)) {
      Case fewer = c_;
      fewer.override_count = static_cast<int32_t>(count);
      std::fill(fewer.overrides.begin() + count, fewer.overrides.end(), Override{});
      add("set", fewer);
    }
    for (int32_t i = 0; i < c_.override_count; ++i) {
      Case fewer = c_;
      std::move(fewer.overrides.begin() + i + 1, fewer.overrides.end(),
                fewer.overrides.begin() + i);
      fewer.overrides.back() = Override{};
      --fewer.override_count;
      add("set", fewer);
    }
  }

  const Case& c_;
  const Outcome& hints_;
  const ShrinkMeasure bound_;
  std::vector<ShrinkCandidate> list_;
};

}  // namespace

ShrinkMeasure shrink_measure(const Case& c) {
  const bool by_rows = reads(c.op, "rows");
  return {launch_count(c) * c.repeats,
          c.session.count > 0 ? 2 + c.session.count : static_cast<int64_t>(c.launch),
          rows_of(c),
          by_rows ? c.next_n : c.requests,
          reads(c.op, "experts")   ? c.experts
          : reads(c.op, "context") ? c.context
                                   : c.width,
          rank(c.lens),
          sizes_of(c),
          rank(c.query_lens) + c.cap.count + c.replay_lens.count + rank(c.starts) +
              static_cast<int64_t>(c.indices.kind) + static_cast<int64_t>(c.numbers.kind),
          sum(c.lens) + sum(c.query_lens) + sum(c.replay_lens) + sum(c.cap) + sum(c.starts) +
              sum(c.numbers),
          rank(c.pattern),
          sum(c.pattern),
          members_given(c),
          strides_and_tuned(c),
          std::ssize(print_case(c))};
}

std::vector<ShrinkCandidate> shrink_candidates(const Case& c, const Outcome& hints) {
  return Candidates(c, hints).all();
}

}  // namespace exactk::props
