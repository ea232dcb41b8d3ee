// Axes of operations that select from rows of logits. The numbers of the dispatch policy come from
// the oracle, so that another policy has other bins.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "fixtures/lengths.h"
#include "props/coverage_axes.h"

namespace exactk::props {
namespace {

using namespace fixtures;
using oracle::TopkDispatch;
using oracle::TopkMethod;
using oracle::TopkShape;

// Capacities of the final sorts as they are published (docs/CASES.md, `tune`).
constexpr int64_t kFinalItems = 2048;
constexpr int64_t kFinalItemsK512 = 1024;
constexpr int64_t kInsertionItems = 128;
constexpr int64_t kWaveColumns = 64;

// "split x10", "k512 x1".
std::string dispatch_name(const TopkDispatch& d) {
  return fmt::format("{} x{}", oracle::name(d.path), d.max_blocks);
}

TopkShape with_hint(TopkShape shape, const std::vector<int64_t>& lengths) {
  shape.max_seq_len_hint = *std::max_element(lengths.begin(), lengths.end());
  return shape;
}

// The path gate leaves everything but compressed layers to the native kernels.
bool asks_gate(const Space& s) {
  return s.c.op == Op::kTopkDecode && s.c.ratio > 1;
}

void visit_dispatch(const Space& s, const Visit& visit) {
  if (s.method == TopkMethod::kPrefill)
    return visit(s.dispatch.launches > 1 ? "two launches" : "one launch");
  visit("auto " + dispatch_name(s.dispatch));
  if (!asks_gate(s)) return;
  for (const SpaceLaunch& launch : s.launches) {
    const std::vector<int64_t>& known = s.launches[static_cast<size_t>(launch.known)].lengths;
    const bool aiter = oracle::path_gate(oracle::gate_shape(with_hint(s.shape, known))) ==
                       oracle::GateSide::kAiter;
    visit(aiter ? "gated full_radix" : "gated " + dispatch_name(s.dispatch));
  }
}

void visit_active(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches) {
    for (const int64_t length : launch.distinct) {
      visit(fmt::format("{} {} of {}", oracle::name(s.dispatch.path),
                        oracle::active_blocks(s.dispatch, s.shape, length), s.dispatch.max_blocks));
    }
  }
}

std::string_view k_class(int64_t k) {
  return k == 512 ? "k512" : k == 1024 ? "k1024" : "other k";
}

// Rows beside every row gate. Those of prefill have no number: it is tuned freely.
void visit_rows(const Space& s, const Visit& visit) {
  for (const int64_t edge : oracle::row_edges(s.method, s.shape)) {
    const std::string_view place = beside(s.shape.rows, edge);
    if (place.empty()) continue;
    visit(s.method == TopkMethod::kPrefill
              ? fmt::format("second launch {}", place)
              : fmt::format("{} auto {} {}", k_class(s.c.k), edge, place));
  }
  if (!asks_gate(s)) return;
  for (const int64_t edge : oracle::row_edges(TopkMethod::kGated, s.shape)) {
    const std::string_view place = beside(s.shape.rows, edge);
    if (!place.empty()) visit(fmt::format("{} gated {} {}", k_class(s.c.k), edge, place));
  }
}

// Widths beside those at which the dispatch changes, by what it changes to.
void visit_width(const Space& s, const Visit& visit) {
  TopkShape beyond = s.shape;
  for (const int64_t edge : oracle::width_edges(s.method, s.shape)) {
    const std::string_view place = beside(s.shape.width, edge);
    if (place.empty()) continue;
    beyond.width = edge + 1;
    visit(fmt::format("to {} {}", dispatch_name(oracle::topk_dispatch(s.method, beyond)), place));
  }
}

void visit_residue(const Space& s, const Visit& visit) {
  visit(fmt::format("mod 4 {}", s.shape.width % 4));
  const int64_t of_wave = s.shape.width % kWaveColumns;
  if (of_wave <= 1) visit(fmt::format("mod 64 {}", of_wave));
  if (of_wave == kWaveColumns - 1) visit("mod 64 -1");
}

std::string_view against_k(int64_t length, int64_t k) {
  if (length == 0) return "0";
  if (std::string_view place = beside(length, k); !place.empty())
    return place == "0" ? "k" : place == "-1" ? "k-1" : "k+1";
  if (length == 1) return "1";
  if (length == 2 * k) return "2k";
  if (length < k) return "below k";
  return length < 2 * k ? "above k" : length <= 16 * k ? "above 2k" : "above 16k";
}

void visit_length(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches) {
    for (const int64_t length : launch.distinct) visit(std::string(against_k(length, s.c.k)));
  }
}

void visit_row_end(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches) {
    for (const int64_t length : launch.distinct) {
      if (length == s.shape.width) visit("width");
      if (length == s.shape.width - 1) visit("width-1");
      if (length > 0 && length < s.shape.width) visit("within");
    }
  }
}

// Lengths beside those at which the number of active blocks changes, by what it changes to.
void visit_length_edges(const Space& s, const Visit& visit) {
  for (const int64_t edge : oracle::length_edges(s.shape)) {
    const int32_t before = oracle::active_blocks(s.dispatch, s.shape, edge);
    const int32_t after = oracle::active_blocks(s.dispatch, s.shape, edge + 1);
    if (before == after) continue;  // k, of which there is an axis
    for (const SpaceLaunch& launch : s.launches) {
      for (const int64_t length : launch.distinct) {
        const std::string_view place = beside(length, edge);
        if (!place.empty())
          visit(fmt::format("{} {} to {} {}", oracle::name(s.dispatch.path), before, after, place));
      }
    }
  }
}

// Ties of `equal` logits, of which `winners` are selected.
std::string_view tie_name(int64_t equal, int64_t winners) {
  if (equal < 2) return "none";
  if (winners == 0) return "all lose";
  if (winners >= equal) return "all win";
  return winners == 1 ? "one wins" : winners == equal - 1 ? "one loses" : "some lose";
}

// As ties_ladder() of fixtures/pattern_bits.h places them.
std::string_view boundary_ties(const PatternSpec& p, int64_t length) {
  const int64_t equal = std::clamp<int64_t>(p.values[0], 0, length);
  const int64_t wanted = p.values[1] < 0 ? (p.values[0] + 1) / 2 : p.values[1];
  const int64_t fewest = std::clamp<int64_t>(equal - (length - p.k), 0, equal);
  return tie_name(equal, std::clamp(wanted, fewest, std::min(equal, p.k)));
}

std::string_view sawtooth_ties(const PatternSpec& p, int64_t length) {
  int64_t left = p.k;  // to select
  for (int64_t place = p.values[0] - 1; place >= 0; --place) {
    const int64_t equal = length / p.values[0] + (place < length % p.values[0] ? 1 : 0);
    if (left <= equal) return tie_name(equal, left);
    left -= equal;
  }
  return "none";
}

// Columns of -inf in a row of that length; nothing where chance decides.
std::optional<int64_t> masked(const PatternSpec& p, int64_t length) {
  const int64_t n = p.values[0];
  switch (p.kind) {
    case PatternKind::kMaskedPrefix:
    case PatternKind::kMaskedSuffix:
      return p.mask_varies != 0 ? std::nullopt : std::optional(std::min(n, length));
    case PatternKind::kFewFinite:
      return length - std::min(n, length);
    case PatternKind::kLowestFinite:
      return length - std::min(2 * n, length);
    case PatternKind::kMaskedShare:
      return n == 0 ? std::optional<int64_t>(0) : std::nullopt;
    case PatternKind::kNanInf:
      return std::nullopt;
    default:
      return 0;
  }
}

// What stands on both sides of the cut of a row with more than k columns; empty where chance
// decides.
std::string_view ties(const PatternSpec& p, int64_t length) {
  const int64_t n = p.values[0];
  switch (p.kind) {
    case PatternKind::kBoundaryTies:
      return boundary_ties(p, length);
    case PatternKind::kSawtooth:
      return sawtooth_ties(p, length);
    case PatternKind::kAllEqual:
      return "all equal";
    case PatternKind::kUlpSteps:
    case PatternKind::kAscending:
    case PatternKind::kDescending:
      return "none";
    case PatternKind::kPeaks:
      return n < p.k ? "some lose" : "";
    case PatternKind::kLowestFinite:
      if (n < p.k && p.k <= 2 * n) return "of -FLT_MAX";
      break;
    default:
      break;
  }
  const std::optional<int64_t> minus_inf = masked(p, length);
  return minus_inf && length - *minus_inf < p.k ? "of -inf" : "";
}

// What `visit_row` finds in the rows of each launch that have more columns than k.
template <class VisitRow>
void visit_cut_rows(const Space& s, const VisitRow& visit_row) {
  for (const SpaceLaunch& launch : s.launches) {
    const PatternSpec pattern = pattern_spec(s.c, launch.step);
    for (const int64_t length : launch.distinct) {
      if (length > s.c.k) visit_row(pattern, length);
    }
  }
}

void visit_ties(const Space& s, const Visit& visit) {
  visit_cut_rows(s, [&](const PatternSpec& p, int64_t length) {
    if (const std::string_view found = ties(p, length); !found.empty()) visit(std::string(found));
  });
}

void visit_population(std::string_view capacity, int64_t items, int64_t population,
                      const Visit& visit) {
  if (const std::string_view place = beside(population, items); !place.empty())
    return visit(fmt::format("{} {}", capacity, place));
  if (population == 2 * items) return visit(fmt::format("{} 2x", capacity));
  visit(fmt::format("{} {}", capacity, population < items ? "below" : "above"));
}

// The population of the coarse bin of the k-th value against the capacities of the final sorts.
void visit_threshold_bin(const Space& s, const Visit& visit) {
  if (s.c.pattern.kind != PatternKind::kFp16Bin) return;
  const Tuning& tune = s.c.tune;
  const auto given = [](int64_t tuned, int64_t published) { return tuned ? tuned : published; };
  const bool k512 = s.dispatch.path == oracle::TopkPath::kK512;
  const bool insertion = k512 || s.dispatch.path == oracle::TopkPath::kK1024;
  visit_cut_rows(s, [&](const PatternSpec& p, int64_t length) {
    const int64_t population = std::min(p.values[0], length);
    visit_population("final", given(tune.final_items, kFinalItems), population, visit);
    if (k512) {
      visit_population("k512 final", given(tune.final_items, kFinalItemsK512), population, visit);
    }
    if (insertion) {
      visit_population("insertion", given(tune.insertion_items, kInsertionItems), population,
                       visit);
    }
  });
}

std::string_view special_name(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > kBitsInf) return bits >> 31 != 0 ? "-nan" : "+nan";
  if (magnitude == kBitsInf) return bits >> 31 != 0 ? "-inf" : "+inf";
  if (bits == kBitsFloatLowest) return "-FLT_MAX";
  if (magnitude == 0) return "zeros of both signs";
  return magnitude < 0x00800000u ? "denormals" : "";
}

struct SpecialPattern {
  PatternKind kind;
  std::vector<std::string_view> holds;
};
const std::vector<SpecialPattern>& special_patterns() {
  using P = PatternKind;
  static const std::vector<SpecialPattern> table = {
      {P::kMaskedPrefix, {"-inf"}},
      {P::kMaskedSuffix, {"-inf"}},
      {P::kMaskedShare, {"-inf"}},
      {P::kFewFinite, {"-inf"}},
      {P::kLowestFinite, {"-inf", "-FLT_MAX"}},
      {P::kNanInf, {"+nan", "-nan", "+inf", "-inf"}},
      {P::kSignedZeros, {"zeros of both signs"}},
      {P::kDenormals, {"denormals"}},
  };
  return table;
}

// By the pattern of rows that are cut; a given logit is a bin of its own.
void visit_special(const Space& s, const Visit& visit) {
  bool any_cut = false;
  visit_cut_rows(s, [&](const PatternSpec&, int64_t) { any_cut = true; });
  for (const SpecialPattern& row : special_patterns()) {
    if (!any_cut || row.kind != s.c.pattern.kind) continue;
    for (const std::string_view value : row.holds) visit(std::string(value));
  }
  for (int32_t i = 0; i < s.c.override_count; ++i) {
    const std::string_view value = special_name(s.c.overrides[static_cast<size_t>(i)].bits);
    if (!value.empty()) visit(fmt::format("given {}", value));
  }
}

std::string_view share_name(int64_t thousandths) {
  if (thousandths == 0) return "none";
  if (thousandths <= 100) return "to 10 %";
  if (thousandths <= 500) return "to 50 %";
  if (thousandths <= 900) return "to 90 %";
  return thousandths < 1000 ? "above 90 %" : "all";
}

void visit_mask(const Space& s, const Visit& visit) {
  visit_cut_rows(s, [&](const PatternSpec& p, int64_t length) {
    if (p.mask_varies != 0 && p.kind != PatternKind::kMaskedShare) visit("varies by row");
    if (p.kind == PatternKind::kMaskedShare) return visit(std::string(share_name(p.values[0])));
    const std::optional<int64_t> columns = masked(p, length);
    if (columns) visit(std::string(share_name((*columns * 1000 + length - 1) / length)));
  });
}

// Logits above -inf against k, in rows that are masked and cut.
void visit_finite(const Space& s, const Visit& visit) {
  visit_cut_rows(s, [&](const PatternSpec& p, int64_t length) {
    const std::optional<int64_t> columns = masked(p, length);
    if (!columns || *columns == 0) return;
    visit(std::string(against_k(length - *columns, s.c.k)));
  });
}

void visit_pattern(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.pattern.kind)));
}

void visit_tail(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches)
    visit(std::string(name(pattern_spec(s.c, launch.step).tail)));
}

void visit_row_stride(const Space& s, const Visit& visit) {
  if (s.c.row_stride == 0) return visit("tight");
  visit(fmt::format("given mod 4 {}", s.c.row_stride % 4));
}

void visit_column_stride(const Space& s, const Visit& visit) {
  visit(s.c.column_stride == 1 ? "1" : "above 1");
}

void visit_k(const Space& s, const Visit& visit) {
  const int64_t k = s.c.k;
  const bool published = k == 512 || k == 1024 || k == 2048;
  visit(published || k == 1 ? fmt::format("{}", k) : k < 512 ? "below 512" : "other");
  if (k > s.shape.width) visit("above the width");
}

void visit_rule(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.lens.kind)));
}

void visit_request_rows(const Space& s, const Visit& visit) {
  const std::string_view drafts = s.c.next_n > 1 ? "several rows" : "one row";
  visit(fmt::format("{} lens_dim {}", drafts, s.c.lens_dim));
}

void visit_negative(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches) {
    const std::vector<int32_t> lengths = seq_lens(s.c, launch.step);
    const auto least = std::min_element(lengths.begin(), lengths.end());
    visit(*least < 0 ? "below 0" : *least == 0 ? "0" : "above 0");
    // A request that is shorter than it has rows: its first rows are empty, its last is not.
    if (s.c.lens_dim == 1 && std::any_of(lengths.begin(), lengths.end(), [&](int32_t length) {
          return length > 0 && length < s.c.next_n;
        }))
      visit("below its rows");
  }
}

void visit_starts(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.starts.kind)));
  std::set<int64_t> residues;
  for (const SpaceLaunch& launch : s.launches) {
    for (const int64_t start : row_starts(s.c, launch.step)) residues.insert(start % 4);
  }
  for (const int64_t residue : residues) visit(fmt::format("mod 4 {}", residue));
}

void visit_arch(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.arch)));
}

void visit_numbers(const Space& s, const Visit& visit) {
  visit(s.c.tune == Tuning{} ? "published" : "tuned");
}

void visit_gate(const Space& s, const Visit& visit) {
  visit(fmt::format("ratio {} {}", s.c.ratio == 1 ? "1" : "above 1",
                    s.c.full_graph ? "full graph" : "by length"));
}

constexpr uint32_t kOfDecode = op_bit(Op::kTopkDecode) | op_bit(Op::kChainDecode);
constexpr uint32_t kOfMqa = op_bit(Op::kMqaLogits) | op_bit(Op::kMqaPaged);
constexpr uint32_t kOfStep = op_bit(Op::kDecodeStep);
constexpr uint32_t kOfTopk = op_bit(Op::kTopkDecode) | op_bit(Op::kTopkPrefill);

constexpr Axis kAxes[] = {
    {"dispatch", "path and blocks of the published policy and of the path gate", kOfLogits,
     visit_dispatch},
    {"active blocks", "blocks that work on a row, of those reserved", kOfDecode, visit_active},
    {"rows", "rows beside every row gate", kOfDecode | kOfTopk, visit_rows},
    {"width", "width beside each at which the dispatch changes", kOfDecode, visit_width},
    {"residue", "width modulo 4 and 64", kOfLogits, visit_residue},
    {"length and k", "columns of a row against k", kOfLogits | kOfStep, visit_length},
    {"length and width", "columns of a row against the width", kOfLogits, visit_row_end},
    {"length edge", "columns beside each number at which other blocks work", kOfDecode,
     visit_length_edges},
    {"ties", "equal logits at the cut", kOfLogits, visit_ties},
    {"threshold bin", "population of the k-th value's bin against the capacities", kOfLogits,
     visit_threshold_bin},
    {"special", "special values in rows that are cut, and given ones", kOfLogits, visit_special},
    {"mask", "share of -inf in rows that are cut", kOfLogits, visit_mask},
    {"finite and k", "logits above -inf against k, where some are masked", kOfLogits, visit_finite},
    {"pattern", "the data pattern", kOfLogits, visit_pattern},
    {"tail", "logits outside a row's columns", kOfLogits, visit_tail},
    {"row stride", "elements from row to row", kOfLogits, visit_row_stride},
    {"column stride", "elements from column to column", kOfLogits, visit_column_stride},
    {"k", "how many are selected", kOfLogits, visit_k},
    {"lengths", "the length rule", kOfLogits | kOfMqa | kOfStep, visit_rule},
    {"rows of a request", "drafts, and the shape of the lengths",
     kOfDecode | op_bit(Op::kMqaPaged) | kOfStep, visit_request_rows},
    {"least length", "the shortest sequence of a launch", kOfDecode | kOfTopk | kOfMqa | kOfStep,
     visit_negative},
    {"starts", "where rows begin", op_bit(Op::kTopkPrefill) | op_bit(Op::kMqaLogits), visit_starts},
    {"arch", "the architecture whose policy is followed", kOfLogits, visit_arch},
    {"numbers", "published or tuned numbers of the policy", kOfLogits, visit_numbers},
    {"gate", "what the path gate is asked with", op_bit(Op::kTopkDecode), visit_gate},
};

}  // namespace

std::span<const Axis> logits_axes() {
  return kAxes;
}

}  // namespace exactk::props
