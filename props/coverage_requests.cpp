// Axes of operations that map indices: requests and their tokens, windows, block tables.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fixtures/lengths.h"
#include "props/coverage_axes.h"

namespace exactk::props {
namespace {

using namespace fixtures;

// Positions that the tokens of all launches see, their own included, each once: position + 1.
std::set<int64_t> seen_positions(const Space& s) {
  std::set<int64_t> seen;
  for (const SpaceLaunch& launch : s.launches) {
    for (const Token& token : tokens(s.c, launch.step)) seen.insert(token.position + 1);
  }
  return seen;
}

void visit_query(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches) {
    for (const int32_t tokens : query_lens(s.c, launch.step)) {
      visit(tokens <= 1 ? fmt::format("{}", tokens) : tokens < 64 ? "to 63" : "from 64");
    }
  }
}

// Requests without tokens: cumulative counts then hold the same number several times.
void visit_empty_requests(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches) {
    const std::vector<int32_t> queries = query_lens(s.c, launch.step);
    if (queries.front() == 0) visit("first");
    if (queries.back() == 0) visit("last");
    for (size_t i = 1; i + 1 < queries.size(); ++i) {
      if (queries[i] == 0) visit(queries[i - 1] == 0 ? "two in a row" : "inner");
    }
    if (std::all_of(queries.begin(), queries.end(), [](int32_t tokens) { return tokens == 0; }))
      visit("every one");
  }
}

void visit_sequence(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches) {
    const std::vector<int32_t> queries = query_lens(s.c, launch.step);
    const std::vector<int32_t> lengths = seq_lens(s.c, launch.step);
    for (size_t i = 0; i < lengths.size(); ++i) {
      const int32_t length = lengths[i];
      if (length <= 0) visit(length < 0 ? "below 0" : "0");
      if (length == s.c.context) visit("the context");
      if (queries[i] == 0 || length < 0) continue;
      visit(length < queries[i]    ? "below its query"
            : length == queries[i] ? "its query"
                                   : "above its query");
    }
  }
}

void visit_window(const Space& s, const Visit& visit) {
  for (const int64_t seen : seen_positions(s)) {
    if (seen <= 0) continue;
    const std::string_view place = beside(seen, s.c.window);
    visit(!place.empty()      ? fmt::format("window {}", place)
          : seen < s.c.window ? "inside"
                              : "beyond");
  }
}

void visit_window_size(const Space& s, const Visit& visit) {
  const int64_t w = s.c.window;
  visit(w == 1 ? "1" : (w & (w - 1)) == 0 ? "power of two" : "other");
}

void visit_ratio(const Space& s, const Visit& visit) {
  visit(s.c.ratio <= 1 ? fmt::format("{}", s.c.ratio) : "above 1");
}

// Compressed columns before a token against k, and whether the last of them is whole.
void visit_columns(const Space& s, const Visit& visit) {
  if (s.c.ratio == 0 || s.c.k == 0) return visit("no top-k part");
  const bool compressed = s.c.op != Op::kTranslate || s.c.variant == Variant::kCapped;
  const int64_t ratio = compressed ? s.c.ratio : 1;
  for (const int64_t seen : seen_positions(s)) {
    if (seen <= 0) {
      visit("no position");
      continue;
    }
    const int64_t columns = seen / ratio;
    const std::string_view place = beside(columns, s.c.k);
    visit(columns == 0      ? "0"
          : !place.empty()  ? fmt::format("k {}", place)
          : columns < s.c.k ? "below k"
                            : "above k");
    if (ratio > 1 && seen % ratio == 0) visit("whole column");
    if (ratio > 1 && seen % ratio == ratio - 1) visit("one short of a column");
  }
}

void visit_gather(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.gather)));
}
void visit_indices(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.indices.kind)));
}
void visit_k(const Space& s, const Visit& visit) {
  visit(s.c.k <= 1 ? fmt::format("{}", s.c.k) : s.c.k % 4 == 0 ? "mod 4 0" : "mod 4 not 0");
}

void visit_block_size(const Space& s, const Visit& visit) {
  const int64_t b = s.c.block_size;
  visit(b == 1 ? "1" : (b & (b - 1)) == 0 ? "power of two" : "other");
}

void visit_block_edge(const Space& s, const Visit& visit) {
  const int64_t b = s.c.block_size;
  for (const SpaceLaunch& launch : s.launches) {
    for (const int64_t length : launch.distinct) {
      if (length <= 0) continue;
      if (length < b) visit("inside the first");
      const int64_t rest = length % b;
      if (rest == 0) visit("whole blocks");
      if (b > 1 && rest == 1) visit("one more");
      if (b > 1 && rest == b - 1) visit("one less");
    }
  }
}

void visit_table(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.table)));
}
void visit_slots(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.slots)));
}

std::string_view share_name(int64_t thousandths) {
  return thousandths == 0 ? "none" : thousandths == 1000 ? "all" : "some";
}
void visit_invalid(const Space& s, const Visit& visit) {
  visit(std::string(share_name(s.c.invalid)));
}
void visit_bad_requests(const Space& s, const Visit& visit) {
  visit(std::string(share_name(s.c.bad_requests)));
}

void visit_cap(const Space& s, const Visit& visit) {
  if (s.c.variant != Variant::kCapped) return;
  if (s.c.cap.count == 0) return visit("by launch");
  for (int32_t i = 0; i < s.c.cap.count && i < std::ssize(s.launches); ++i) {
    const int64_t cap = s.c.cap.values[static_cast<size_t>(i)];
    visit(cap == 0 ? "0" : cap < s.c.k ? "below k" : "k");
  }
}

void visit_images(const Space& s, const Visit& visit) {
  visit(s.c.images == 0 ? "none" : s.c.images < s.c.window ? "below the window" : "beyond it");
}
void visit_extra(const Space& s, const Visit& visit) {
  visit(s.c.extra == 0 ? "none" : "some");
}
void visit_skip(const Space& s, const Visit& visit) {
  visit(s.c.skip == 0 ? "none" : s.c.skip < s.c.extra ? "some of extra" : "all of extra");
}

std::string_view stride_name(int64_t stride) {
  return stride == 0 ? "tight" : "given";
}
void visit_index_stride(const Space& s, const Visit& visit) {
  visit(std::string(stride_name(s.c.index_stride)));
}
void visit_index_width(const Space& s, const Visit& visit) {
  visit(s.c.index_width > s.c.k ? "above k" : "k");
}
void visit_table_stride(const Space& s, const Visit& visit) {
  visit(std::string(stride_name(s.c.table_stride)));
}

constexpr uint32_t C = op_bit(Op::kCombine);
constexpr uint32_t T = op_bit(Op::kTranslate);
constexpr uint32_t S = op_bit(Op::kSwa);
constexpr uint32_t DD = op_bit(Op::kChainDecode);
constexpr uint32_t PP = op_bit(Op::kChainPrefill);
constexpr uint32_t MP = op_bit(Op::kMqaPaged);
constexpr uint32_t DS = op_bit(Op::kDecodeStep);

constexpr Axis kAxes[] = {
    {"query", "tokens of a request", C | T | S | PP, visit_query},
    {"empty request", "which requests have no token", C | T | S | PP, visit_empty_requests},
    {"sequence", "length of a sequence against its query", C | T | S | PP, visit_sequence},
    {"position and window", "what a token sees against the window", C | S | PP, visit_window},
    {"window size", "positions of the window", C | S | PP, visit_window_size},
    {"ratio", "raw tokens per column", C | T | PP, visit_ratio},
    {"columns and k", "columns before a token against k", C | T | PP, visit_columns},
    {"gather", "positions in the window region", C | PP, visit_gather},
    {"indices", "what the local indices hold", C | T, visit_indices},
    {"slots of a row", "k of an index operation", C | T, visit_k},
    {"block size", "positions per block", T | S | DD | MP | DS, visit_block_size},
    {"block edge", "a length against the blocks", T | S | DD | MP | DS, visit_block_edge},
    {"table", "numbers in the block table", T | S | DD | MP | DS, visit_table},
    {"slots", "type of the slots", T | S | DD, visit_slots},
    {"invalid", "invalid tokens", T | S | DD, visit_invalid},
    {"bad requests", "tokens that name no request", T | S, visit_bad_requests},
    {"cap", "the cap of a launch", T, visit_cap},
    {"images", "the most tokens of an image", C | S | PP, visit_images},
    {"extra", "rows past the last request", C | T | S | PP, visit_extra},
    {"skip", "the first entry of query_start_loc", C | PP, visit_skip},
    {"index stride", "elements from row to row of the indices", C | T, visit_index_stride},
    {"index width", "columns of the indices", C, visit_index_width},
    {"table stride", "elements from row to row of the table", T | S | DD | MP | DS,
     visit_table_stride},
};

}  // namespace

std::span<const Axis> request_axes() {
  return kAxes;
}

}  // namespace exactk::props
