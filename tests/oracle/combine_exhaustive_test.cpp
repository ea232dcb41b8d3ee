// Every small chunk of requests, with the oracle compared with a second form that counts instead of
// computing: it asks of each compressed entry and of each position whether the token sees it.
#include <gtest/gtest.h>

#include <optional>

#include "oracle/combine_indices.h"
#include "tests/oracle/index_test_support.h"

namespace exactk::oracle {
namespace {

// What one slot must hold; nullopt: untouched.
using Slot = std::optional<int64_t>;

class Definition {
 public:
  explicit Definition(const CombineCase& c) : c_(c), s_(c.shape) {}

  bool covered(int64_t token) const { return request_of(token) >= 0; }

  int64_t length(int64_t token) const {
    if (!covered(token)) return 0;
    return compressed_seen(token) + static_cast<int64_t>(positions_seen(token).size());
  }

  // Slot `slot` of the token's row, without the padding of a dense row: nullopt past its entries.
  Slot entry(int64_t token, int64_t slot) const {
    const int64_t first_row = request_of(token) * s_.workspace_rows;
    const int64_t compressed = compressed_seen(token);
    if (slot < compressed) {
      const int64_t v = c_.topk_indices[static_cast<size_t>(token * s_.topk_stride + slot)];
      const bool checks =
          s_.variant == CombineVariant::kChecked || s_.variant == CombineVariant::kVision;
      if (checks && (v < 0 || v >= s_.compressed_rows)) return -1;
      return first_row + v;
    }
    const std::vector<int64_t> positions = positions_seen(token);
    const int64_t place = slot - compressed;
    if (place >= std::ssize(positions) || place >= s_.window + s_.max_image_tokens) {
      return std::nullopt;
    }
    return first_row + s_.compressed_rows + positions[static_cast<size_t>(place)] -
           first_gathered(token);
  }

 private:
  int64_t request_of(int64_t token) const {
    for (int64_t b = 0; b < s_.requests; ++b) {
      const int64_t global = token + c_.query_start_loc[0];
      if (c_.query_start_loc[static_cast<size_t>(b)] <= global &&
          global < c_.query_start_loc[static_cast<size_t>(b + 1)]) {
        return b;
      }
    }
    return -1;
  }
  int64_t sequence(int64_t token) const {
    return c_.seq_lens[static_cast<size_t>(request_of(token))];
  }
  int64_t first_gathered(int64_t token) const {
    return sequence(token) - c_.gather_lens[static_cast<size_t>(request_of(token))];
  }
  // The last query token of a request is its last position.
  int64_t position(int64_t token) const {
    const int64_t last =
        c_.query_start_loc[static_cast<size_t>(request_of(token) + 1)] - c_.query_start_loc[0] - 1;
    return sequence(token) - 1 - (last - token);
  }

  // Compressed entry e stands for the raw tokens [e * ratio, (e + 1) * ratio).
  int64_t compressed_seen(int64_t token) const {
    int64_t seen = 0;
    while (s_.ratio > 0 && seen < s_.k && (seen + 1) * s_.ratio - 1 <= position(token)) ++seen;
    return seen;
  }

  std::vector<int64_t> positions_seen(int64_t token) const {
    std::vector<int64_t> seen;
    for (int64_t p = 0; p < sequence(token) + 8; ++p) {
      if (sees(token, p)) seen.push_back(p);
    }
    return seen;
  }

  bool sees(int64_t token, int64_t p) const {
    const int64_t own = position(token);
    const bool in_window = p > own - s_.window;
    if (own < 0) return false;
    switch (s_.variant) {
      case CombineVariant::kCommon:
      case CombineVariant::kChecked:
      case CombineVariant::kRagged:
        return p <= own && in_window;
      case CombineVariant::kGathered:
        return p <= own && in_window && p >= first_gathered(token);
      case CombineVariant::kVision:
        break;
    }
    const auto t = static_cast<size_t>(token);
    return p <= own + c_.right_visible[t] && p < sequence(token) && p >= first_gathered(token) &&
           (in_window || p >= own - c_.left_visible[t]);
  }

  const CombineCase& c_;
  const CombineShape& s_;
};

void set(ExpectedTensor& tensor, int64_t position, const Slot& slot) {
  if (slot) tensor.set(position, *slot);
}

std::vector<ExpectedTensor> dense_by_definition(const CombineCase& c) {
  const CombineShape& s = c.shape;
  const Definition definition(c);
  ExpectedTensor indices =
      untouched_matrix("indices", {.rows = s.tokens, .columns = s.columns, .stride = s.out_stride});
  ExpectedTensor lens = untouched_vector("lens", s.tokens);
  for (int64_t token = 0; token < s.tokens; ++token) {
    if (!definition.covered(token)) continue;
    for (int64_t slot = 0; slot < s.columns; ++slot) {
      set(indices, token * s.out_stride + slot, definition.entry(token, slot).value_or(-1));
    }
    set(lens, token, definition.length(token));
  }
  return {indices, lens};
}

std::vector<ExpectedTensor> ragged_by_definition(const CombineCase& c) {
  const CombineShape& s = c.shape;
  const Definition definition(c);
  ExpectedTensor indices = untouched_matrix(
      "indices", {.rows = s.tokens, .columns = s.k + s.window, .stride = s.k + s.window});
  ExpectedTensor indptr = untouched_vector("indptr", s.tokens + 1);
  int64_t begin = 0;
  for (int64_t token = 0; token < s.tokens; ++token) {
    set(indptr, token, begin);
    for (int64_t slot = 0; slot < definition.length(token); ++slot) {
      set(indices, begin + slot, definition.entry(token, slot));
    }
    begin += definition.length(token);
  }
  set(indptr, s.tokens, begin);
  return {indices, indptr};
}

// Shapes of one chunk: two requests, one uncovered row, gaps between output and top-k rows.
struct Numbers {
  int64_t k, ratio, window, images;
  int64_t queries[2];
  int64_t seq_lens[2];
  int64_t gathers[2];
};

CombineCase case_of(CombineVariant variant, const Numbers& n) {
  constexpr int32_t kTopk[] = {2, -1, 0, 3, 1, 7, 4};
  constexpr int32_t kVisible[] = {0, 3, 1, 5, 2};
  constexpr int32_t kSkip = 3;
  CombineCase c;
  c.shape = {.variant = variant,
             .tokens = n.queries[0] + n.queries[1] + 1,
             .requests = 2,
             .k = n.k,
             .topk_width = n.k,
             .topk_stride = n.k + 1,
             .window = n.window,
             .ratio = n.ratio,
             .workspace_rows = 20,
             .compressed_rows = 4,
             .columns = n.k + n.window + n.images + 1,
             .out_stride = n.k + n.window + n.images + 3,
             .max_image_tokens = n.images};
  for (int64_t i = 0; i < c.shape.tokens * c.shape.topk_stride; ++i) {
    c.topk_indices.push_back(kTopk[static_cast<size_t>(i) % std::size(kTopk)]);
  }
  for (int64_t token = 0; token < c.shape.tokens; ++token) {
    const auto at = static_cast<size_t>(token + n.seq_lens[0]);
    c.left_visible.push_back(kVisible[at % std::size(kVisible)]);
    c.right_visible.push_back(kVisible[(at + 2) % std::size(kVisible)]);
  }
  c.query_start_loc = {kSkip, static_cast<int32_t>(kSkip + n.queries[0]),
                       static_cast<int32_t>(kSkip + n.queries[0] + n.queries[1])};
  c.seq_lens = {static_cast<int32_t>(n.seq_lens[0]), static_cast<int32_t>(n.seq_lens[1])};
  c.gather_lens = {static_cast<int32_t>(n.gathers[0]), static_cast<int32_t>(n.gathers[1])};
  return c;
}

std::string describe(const std::vector<ExpectedTensor>& tensors) {
  return tensors[0].name + " " + describe(tensors[0]) + " " + tensors[1].name + " " +
         describe(tensors[1]);
}

void expect_definition(CombineVariant variant, const Numbers& n) {
  const CombineCase c = case_of(variant, n);
  const std::vector<ExpectedTensor> want =
      variant == CombineVariant::kRagged ? ragged_by_definition(c) : dense_by_definition(c);
  const std::vector<ExpectedTensor> got = c.expected();
  const bool same = got.size() == want.size() && got[0].values == want[0].values &&
                    got[0].wants == want[0].wants && got[1].values == want[1].values &&
                    got[1].wants == want[1].wants;
  ASSERT_TRUE(same) << name(variant) << " k " << n.k << " ratio " << n.ratio << " window "
                    << n.window << " images " << n.images << " queries " << n.queries[0] << " "
                    << n.queries[1] << " seq_lens " << n.seq_lens[0] << " " << n.seq_lens[1]
                    << " gathers " << n.gathers[0] << " " << n.gathers[1] << "\nwant "
                    << describe(want) << "\ngot  " << describe(got);
}

class CombineExhaustive : public testing::TestWithParam<CombineVariant> {};

TEST_P(CombineExhaustive, IsWhatTheTokenSees) {
  const int64_t images_max = GetParam() == CombineVariant::kVision ? 2 : 0;
  for (int64_t k = 0; k <= 3; ++k)
    for (int64_t ratio = 0; ratio <= 3; ++ratio)
      for (int64_t window = 1; window <= 4; ++window)
        for (int64_t images = 0; images <= images_max; images += 2)
          for (int64_t queries = 0; queries <= 3; ++queries)
            for (int64_t seq_len = 0; seq_len <= 7; ++seq_len)
              for (int64_t gather = 0; gather <= seq_len; ++gather) {
                // The second request is the first one, turned around.
                const Numbers n{k,
                                ratio,
                                window,
                                images,
                                {queries, 3 - queries},
                                {seq_len, 7 - seq_len},
                                {gather, (7 - seq_len) / 2}};
                expect_definition(GetParam(), n);
                if (HasFatalFailure()) return;
              }
}

INSTANTIATE_TEST_SUITE_P(Variants, CombineExhaustive,
                         testing::Values(CombineVariant::kCommon, CombineVariant::kGathered,
                                         CombineVariant::kChecked, CombineVariant::kVision,
                                         CombineVariant::kRagged),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace exactk::oracle
