// The index translation, variant by variant. The expected slots are derived by hand from the
// contract.
#include <gtest/gtest.h>

#include <limits>

#include "oracle/block_table.h"
#include "tests/oracle/index_test_support.h"

namespace exactk::oracle {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

// Blocks of 4 slots; request 0 has blocks 7 and 2, request 1 blocks 3 and 9. What follows the
// logical width of a row is no block of it.
TranslateCase three_tokens(TranslateVariant variant) {
  TranslateCase c;
  c.shape = {.variant = variant, .tokens = 3, .k = 3, .index_stride = 3, .out_stride = 3};
  c.indices = {0, 5,  -1,  //
               7, -1, 1,   //
               2, 3,  4};
  c.token_to_req = {0, 1, 0};
  c.token_valid = {1, 1, 0};
  c.lengths = {2, 3, -1};
  c.cu_seqlens = {0, 2, 5, 6};
  c.positions = {5, 20, 1};
  c.cap = 2;
  c.blocks = {7, 2, 99, 3, 9, 99};
  c.table = {.blocks = {}, .requests = 2, .columns = 2, .stride = 3, .block_size = 4};
  return c;
}

TEST(SlotOf, IsThePlaceInTheBlockThatHoldsTheIndex) {
  const TranslateCase c = three_tokens(TranslateVariant::kPositional);
  const BlockTable table = c.block_table();
  EXPECT_EQ(28, slot_of(table, 0, 0));
  EXPECT_EQ(31, slot_of(table, 0, 3));
  EXPECT_EQ(8, slot_of(table, 0, 4));
  EXPECT_EQ(11, slot_of(table, 0, 7));
  EXPECT_EQ(12, slot_of(table, 1, 0));
  EXPECT_EQ(39, slot_of(table, 1, 7));
}

TEST(SlotOf, RefusesNegativeIndices) {
  const TranslateCase c = three_tokens(TranslateVariant::kPositional);
  EXPECT_FALSE(slot_of(c.block_table(), 0, -1));
  EXPECT_FALSE(slot_of(c.block_table(), 1, kMin));
}

TEST(SlotOf, RefusesRequestsThatAreNoneOfTheTables) {
  const TranslateCase c = three_tokens(TranslateVariant::kPositional);
  for (const int32_t request : {-1, 2, kMin, kMax}) {
    EXPECT_FALSE(slot_of(c.block_table(), request, 0)) << request;
  }
}

TEST(SlotOf, RefusesIndicesPastTheLogicalWidthOfTheTable) {
  const TranslateCase c = three_tokens(TranslateVariant::kPositional);
  EXPECT_TRUE(slot_of(c.block_table(), 0, 7));
  EXPECT_FALSE(slot_of(c.block_table(), 0, 8));
  EXPECT_FALSE(slot_of(c.block_table(), 1, 11));
  EXPECT_FALSE(slot_of(c.block_table(), 1, kMax));
}

TEST(SlotOf, CountsSlotsIn64Bits) {
  const std::vector<int32_t> blocks{kMax};
  const BlockTable table{
      .blocks = blocks, .requests = 1, .columns = 1, .stride = 1, .block_size = 256};
  EXPECT_EQ(int64_t{kMax} * 256 + 255, slot_of(table, 0, 255));
}

TEST(TranslatePositional, PutsASlotOrASentinelInThePlaceOfEveryIndex) {
  const std::vector<ExpectedTensor> got = three_tokens(TranslateVariant::kPositional).expected();
  ASSERT_EQ(2u, got.size());
  EXPECT_EQ("slots", got[0].name);
  EXPECT_EQ("lens", got[1].name);
  EXPECT_EQ("28 9 -1 39 -1 13 30 31 8", describe(got[0]));
}

TEST(TranslatePositional, CountsValidSlotsOfValidTokensOnly) {
  EXPECT_EQ("2 2 0", describe(three_tokens(TranslateVariant::kPositional).expected()[1]));
}

TEST(TranslatePositional, WritesTheRowsOfInvalidTokensAllTheSame) {
  TranslateCase c = three_tokens(TranslateVariant::kPositional);
  c.token_valid = {0, 0, 0};
  EXPECT_EQ("28 9 -1 39 -1 13 30 31 8", describe(c.expected()[0]));
  EXPECT_EQ("0 0 0", describe(c.expected()[1]));
}

TEST(TranslatePositional, GivesATokenOfNoRequestARowOfSentinels) {
  TranslateCase c = three_tokens(TranslateVariant::kPositional);
  c.token_to_req = {-1, 2, 0};
  c.token_valid = {1, 1, 1};
  EXPECT_EQ("-1 -1 -1 -1 -1 -1 30 31 8", describe(c.expected()[0]));
  EXPECT_EQ("0 0 3", describe(c.expected()[1]));
}

TEST(TranslatePositional, LeavesGapsUntouchedAndReadsIndicesAtTheirStride) {
  TranslateCase c = three_tokens(TranslateVariant::kPositional);
  c.shape.tokens = 2;
  c.shape.k = 2;
  c.shape.out_stride = 4;
  c.indices = {0, 5, 1, 7, -1};
  EXPECT_EQ("28 9 . . 39 -1", describe(c.expected()[0]));
}

TEST(TranslateCompact, MovesTheValidSlotsToTheFrontInTheirOrder) {
  const std::vector<ExpectedTensor> got = three_tokens(TranslateVariant::kCompact).expected();
  EXPECT_EQ("28 9 -1 39 13 -1 30 31 8", describe(got[0]));
  EXPECT_EQ("2 2 0", describe(got[1]));
}

TEST(TranslateCompact, IsPositionalWhereNoSentinelIsInside) {
  TranslateCase c = three_tokens(TranslateVariant::kCompact);
  c.indices = {0, 5, -1, 7, 1, -1, -1, -1, -1};
  const std::string want = describe(c.expected()[0]);
  c.shape.variant = TranslateVariant::kPositional;
  EXPECT_EQ(want, describe(c.expected()[0]));
}

TEST(TranslateRagged, TakesAsManyPositionsAsARowHasValidSlots) {
  const std::vector<ExpectedTensor> got = three_tokens(TranslateVariant::kRagged).expected();
  ASSERT_EQ(2u, got.size());
  EXPECT_EQ("indptr", got[1].name);
  // Row 1 is 39 -1 13 with two valid slots: the -1 is copied and 13 is lost.
  EXPECT_EQ("28 9 39 -1 . . . . .", describe(got[0]));
  EXPECT_EQ("0 2 4 4", describe(got[1]));
}

TEST(TranslatePack, CopiesTheGivenNumberOfEntriesVerbatim) {
  TranslateCase c = three_tokens(TranslateVariant::kPack);
  c.indices[2] = 77;
  const std::vector<ExpectedTensor> got = c.expected();
  ASSERT_EQ(2u, got.size());
  EXPECT_EQ("0 5 7 -1 1 . . . .", describe(got[0]));
  EXPECT_EQ("0 2 5 5", describe(got[1]));
}

TEST(TranslatePack, ClampsLengthsToTheRow) {
  TranslateCase c = three_tokens(TranslateVariant::kPack);
  c.lengths = {kMin, 4, kMax};
  const std::vector<ExpectedTensor> got = c.expected();
  EXPECT_EQ("7 -1 1 2 3 4 . . .", describe(got[0]));
  EXPECT_EQ("0 0 3 6", describe(got[1]));
}

TEST(TranslatePack, ReplacesEntriesOutsideTheBoundBySentinels) {
  TranslateCase c = three_tokens(TranslateVariant::kPack);
  c.lengths = {3, 3, 3};
  c.shape.slots_bound = 5;
  c.indices = {0, 4, 5, kMax, -1, -2, kMin, 1, 2};
  EXPECT_EQ("0 4 -1 -1 -1 -1 -1 1 2", describe(c.expected()[0]));
  EXPECT_EQ("0 3 6 9", describe(c.expected()[1]));
  c.shape.slots_bound = 0;
  EXPECT_EQ("-1 -1 -1 -1 -1 -1 -1 -1 -1", describe(c.expected()[0]));
  c.shape.slots_bound = -1;
  EXPECT_EQ("0 4 5 2147483647 -1 -2 -2147483648 1 2", describe(c.expected()[0]));
}

TEST(TranslateFlat, PlacesRowsWhereTheCallerSaysWithSlot0ForInvalidIndices) {
  const std::vector<ExpectedTensor> got = three_tokens(TranslateVariant::kFlat).expected();
  ASSERT_EQ(1u, got.size());
  EXPECT_EQ("28 9 39 0 13 30 . . .", describe(got[0]));
}

TEST(TranslateFlat, WritesNoMoreThanKOfARowAndNothingOfAnEmptyOne) {
  TranslateCase c = three_tokens(TranslateVariant::kFlat);
  c.cu_seqlens = {1, 5, 5, 7};
  // 4 places for a row of 3: the fourth is untouched.
  EXPECT_EQ(". 28 9 0 . 30 31 . .", describe(c.expected()[0]));
}

TEST(TranslateFlat, GivesATokenOfNoRequestSlots0) {
  TranslateCase c = three_tokens(TranslateVariant::kFlat);
  c.token_to_req = {2, -1, 0};
  EXPECT_EQ("0 0 0 0 0 30 . . .", describe(c.expected()[0]));
}

TEST(TranslateCapped, ListsTheCompressedEntriesInViewUpToTheCap) {
  TranslateCase c = three_tokens(TranslateVariant::kCapped);
  c.shape.ratio = 4;
  c.token_valid = {1, 1, 1};
  const std::vector<ExpectedTensor> got = c.expected();
  // Positions 5, 20 and 1: 1, 5 and 0 entries in view, of which the cap takes 2.
  EXPECT_EQ("28 -1 . 12 13 . -1 -1 .", describe(got[0]));
  EXPECT_EQ("1 2 0", describe(got[1]));
}

TEST(TranslateCapped, CountsAnEntryWhenItsLastTokenIsInView) {
  TranslateCase c = three_tokens(TranslateVariant::kCapped);
  c.shape.ratio = 4;
  c.token_valid = {1, 1, 1};
  c.positions = {2, 3, 7};
  EXPECT_EQ("0 1 2", describe(c.expected()[1]));
}

TEST(TranslateCapped, WritesTheRowsOfInvalidTokensButNoLength) {
  TranslateCase c = three_tokens(TranslateVariant::kCapped);
  c.token_valid = {0, 0, 0};
  EXPECT_EQ("28 29 . 12 13 . 28 29 .", describe(c.expected()[0]));
  EXPECT_EQ("0 0 0", describe(c.expected()[1]));
}

TEST(TranslateCapped, CountsEntriesOutsideTheTableAllTheSame) {
  TranslateCase c = three_tokens(TranslateVariant::kCapped);
  c.table.columns = 1;
  c.table.block_size = 1;
  c.token_to_req = {0, 1, 2};
  c.token_valid = {1, 1, 1};
  EXPECT_EQ("7 -1 . 3 -1 . -1 -1 .", describe(c.expected()[0]));
  EXPECT_EQ("2 2 2", describe(c.expected()[1]));
}

TEST(TranslateCapped, ANegativePositionSeesNothing) {
  TranslateCase c = three_tokens(TranslateVariant::kCapped);
  c.positions = {-1, -2, kMin};
  c.token_valid = {1, 1, 1};
  EXPECT_EQ("-1 -1 . -1 -1 . -1 -1 .", describe(c.expected()[0]));
  EXPECT_EQ("0 0 0", describe(c.expected()[1]));
}

TEST(TranslateCapped, TheLastPositionDoesNotOverflow) {
  TranslateCase c = three_tokens(TranslateVariant::kCapped);
  c.positions = {kMax, kMax, kMax};
  c.token_valid = {1, 1, 1};
  EXPECT_EQ("2 2 2", describe(c.expected()[1]));
}

TEST(TranslateCapped, ACapOfZeroTouchesNoSlotAndACapOfKAll) {
  TranslateCase c = three_tokens(TranslateVariant::kCapped);
  c.cap = 0;
  EXPECT_EQ(". . . . . . . . .", describe(c.expected()[0]));
  EXPECT_EQ("0 0 0", describe(c.expected()[1]));
  c.cap = 3;
  EXPECT_EQ("28 29 30 12 13 14 28 29 -1", describe(c.expected()[0]));
}

TEST(TranslateNames, AreTheWordsOfTheCaseText) {
  EXPECT_EQ("positional", name(TranslateVariant::kPositional));
  EXPECT_EQ("compact", name(TranslateVariant::kCompact));
  EXPECT_EQ("ragged", name(TranslateVariant::kRagged));
  EXPECT_EQ("pack", name(TranslateVariant::kPack));
  EXPECT_EQ("flat", name(TranslateVariant::kFlat));
  EXPECT_EQ("capped", name(TranslateVariant::kCapped));
}

// Every two rows of two indices over a table of two requests, with the slots found by walking the
// blocks of the table instead of dividing.
struct Row {
  std::vector<int64_t> slots;  // in place, -1 where there is none
  int64_t valid = 0;
};

Row row_by_walking(const TranslateCase& c, int64_t token) {
  Row row;
  for (int64_t j = 0; j < c.shape.k; ++j) {
    int64_t found = -1;
    int64_t place = 0;
    const int64_t request = c.token_to_req[static_cast<size_t>(token)];
    for (int64_t column = 0; column < c.table.columns && request >= 0 && request < 2; ++column) {
      const int64_t block = c.blocks[static_cast<size_t>(request * c.table.stride + column)];
      for (int64_t offset = 0; offset < c.table.block_size; ++offset, ++place) {
        if (place == c.indices[static_cast<size_t>(token * c.shape.index_stride + j)]) {
          found = block * c.table.block_size + offset;
        }
      }
    }
    row.slots.push_back(found);
    row.valid += found >= 0 ? 1 : 0;
  }
  return row;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

struct Texts {
  std::string positional, compact, ragged, flat, lens, indptr;
};

Texts texts_by_walking(const TranslateCase& c) {
  std::vector<std::string> positional, compact, ragged, flat, lens, indptr{"0"};
  for (int64_t token = 0; token < 2; ++token) {
    const Row row = row_by_walking(c, token);
    const int64_t length = c.token_valid[static_cast<size_t>(token)] != 0 ? row.valid : 0;
    for (int64_t j = 0; j < c.shape.k; ++j) {
      const int64_t slot = row.slots[static_cast<size_t>(j)];
      positional.push_back(std::to_string(slot));
      if (slot >= 0) compact.push_back(std::to_string(slot));
      if (j < length) ragged.push_back(std::to_string(slot));
      flat.push_back(std::to_string(slot < 0 ? 0 : slot));
    }
    compact.resize(static_cast<size_t>((token + 1) * c.shape.k), "-1");
    lens.push_back(std::to_string(length));
    indptr.push_back(std::to_string(ragged.size()));
  }
  ragged.resize(4, ".");
  return {join(positional), join(compact), join(ragged), join(flat), join(lens), join(indptr)};
}

TEST(TranslateExhaustive, IsWhatAWalkOverTheBlocksFinds) {
  TranslateCase c = three_tokens(TranslateVariant::kPositional);
  c.shape = {.variant = {}, .tokens = 2, .k = 2, .index_stride = 2, .out_stride = 2};
  c.table.block_size = 2;
  c.cu_seqlens = {0, 2, 4};
  c.indices.resize(4);
  c.token_to_req.resize(2);
  constexpr int32_t kIndices[] = {-2, -1, 0, 1, 3, 4};
  constexpr int32_t kRequests[] = {-1, 0, 1, 2};
  const auto tensors = [&](TranslateVariant variant) {
    c.shape.variant = variant;
    return c.expected();
  };
  for (size_t number = 0; number < 6 * 6 * 6 * 6 * 4 * 4 * 4; ++number) {
    size_t digits = number;
    const auto digit = [&](size_t base) {
      const size_t value = digits % base;
      digits /= base;
      return value;
    };
    for (int32_t& index : c.indices) index = kIndices[digit(6)];
    for (int32_t& request : c.token_to_req) request = kRequests[digit(4)];
    c.token_valid = {static_cast<uint8_t>(digit(2)), static_cast<uint8_t>(digit(2))};
    const Texts want = texts_by_walking(c);
    const std::vector<ExpectedTensor> positional = tensors(TranslateVariant::kPositional);
    const std::vector<ExpectedTensor> compact = tensors(TranslateVariant::kCompact);
    const std::vector<ExpectedTensor> ragged = tensors(TranslateVariant::kRagged);
    ASSERT_EQ(want.positional, describe(positional[0])) << number;
    ASSERT_EQ(want.lens, describe(positional[1])) << number;
    ASSERT_EQ(want.compact, describe(compact[0])) << number;
    ASSERT_EQ(want.lens, describe(compact[1])) << number;
    ASSERT_EQ(want.ragged, describe(ragged[0])) << number;
    ASSERT_EQ(want.indptr, describe(ragged[1])) << number;
    ASSERT_EQ(want.flat, describe(tensors(TranslateVariant::kFlat)[0])) << number;
  }
}

}  // namespace
}  // namespace exactk::oracle
