// Axes of operations that compute: their numbers, and the shapes that their tiles are cut from.
#include <fmt/format.h>

#include "fixtures/lengths.h"
#include "props/coverage_axes.h"

namespace exactk::props {
namespace {

using namespace fixtures;

constexpr int64_t kTileColumns = 64;
constexpr int64_t kStagedHeads = 32;
constexpr int64_t kStagedDims = 128;

void visit_number_kind(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.numbers.kind)));
}
void visit_specials(const Space& s, const Visit& visit) {
  visit(s.c.specials == 0 ? "none" : s.c.specials == 1000 ? "all" : "some");
}
void visit_scales(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.scales)));
}
void visit_fp8(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.fp8)));
}
void visit_outside(const Space& s, const Visit& visit) {
  visit(std::string(name(s.c.outside)));
}

void visit_compressed(const Space& s, const Visit& visit) {
  visit(s.c.compressed ? "columns from the start" : "columns are keys");
}

void visit_index_heads(const Space& s, const Visit& visit) {
  const int64_t heads = s.c.index_heads;
  visit(heads == 1 ? "1" : heads % 8 == 0 ? "mod 8 0" : "mod 8 not 0");
  if (heads > kStagedHeads) visit("several stages");
}

void visit_index_dim(const Space& s, const Visit& visit) {
  visit(s.c.index_dim % 4 == 0 ? "mod 4 0" : "mod 4 not 0");
  if (s.c.index_dim > kStagedDims) visit("several stages");
}

void visit_row_end(const Space& s, const Visit& visit) {
  for (const SpaceLaunch& launch : s.launches) {
    for (const int64_t length : launch.distinct) {
      if (length <= 0) {
        visit("empty");
        continue;
      }
      if (length == s.c.width) visit("the width");
      if (length < kTileColumns) visit("inside the first tile");
      const int64_t rest = length % kTileColumns;
      if (rest == 0) visit("whole tiles");
      if (rest == 1) visit("one more");
      if (rest == kTileColumns - 1) visit("one less");
    }
  }
}

constexpr uint32_t kMqa = op_bit(Op::kMqaLogits) | op_bit(Op::kMqaPaged);
constexpr uint32_t kIndexer = kMqa | op_bit(Op::kDecodeStep);

constexpr Axis kAxes[] = {
    {"kind of numbers", "queries, keys and weights", kIndexer, visit_number_kind},
    {"specials", "NaN, infinities and zeros among the numbers", kMqa, visit_specials},
    {"scales", "scales of fp8 keys", kIndexer, visit_scales},
    {"fp8", "flavour of e4m3", kIndexer, visit_fp8},
    {"outside", "what columns outside their row hold", kMqa, visit_outside},
    {"compressed", "where a row's columns are counted from", op_bit(Op::kMqaLogits),
     visit_compressed},
    {"heads", "heads of the indexer", kIndexer, visit_index_heads},
    {"dim", "numbers of an indexer's key", kIndexer, visit_index_dim},
    {"tile edge", "a row's end against tiles of 64 columns", kIndexer, visit_row_end},
};

}  // namespace

std::span<const Axis> numeric_axes() {
  return kAxes;
}

}  // namespace exactk::props
