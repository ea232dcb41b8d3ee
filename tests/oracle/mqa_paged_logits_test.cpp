// Indexer logits over pages: block tables, lengths, draft rows, partial blocks.
#include <gtest/gtest.h>

#include "oracle/mqa_logits.h"
#include "tests/oracle/mqa_logits_test_support.h"

namespace exactk::oracle {
namespace {

constexpr int64_t kBlockSize = 4;
constexpr int64_t kBlocks = 9;
constexpr int64_t kTableColumns = 4;
constexpr int64_t kWidth = 17;  // one more than the table reaches
constexpr int64_t kNextN = 2;
constexpr int64_t kRequests = 2;

struct PagedData {
  QueryData queries;
  std::vector<uint8_t> cache;
  std::vector<int32_t> table;
  std::vector<int32_t> seq_lens;
  int seq_lens_dim = 1;

  int64_t block_stride() const { return kBlockSize * (queries.dim + 4) + 3; }
  uint8_t* key(int64_t block, int64_t offset) {
    return &cache[static_cast<size_t>(block * block_stride() + offset * queries.dim)];
  }
  uint8_t* scale(int64_t block, int64_t offset) {
    return &cache[static_cast<size_t>(block * block_stride() + kBlockSize * queries.dim +
                                      offset * 4)];
  }
  PagedMqa view() const {
    return {.queries = queries.view(),
            .cache = cache,
            .blocks = kBlocks,
            .block_stride = block_stride(),
            .key_format = kFp8E4m3Fn,
            .table = {.blocks = table,
                      .requests = kRequests,
                      .columns = kTableColumns,
                      .stride = kTableColumns + 1,
                      .block_size = kBlockSize},
            .lengths = {.rows = queries.rows, .next_n = kNextN, .seq_lens_dim = seq_lens_dim},
            .seq_lens = seq_lens};
  }
};

// Requests of 10 and 7 tokens, their blocks all over the cache.
PagedData draw_paged(uint64_t seed) {
  Draws draws(seed);
  PagedData data{.queries = draw_queries(kRequests * kNextN, 3, 8, Fill::kIntegers, draws),
                 .cache = {},
                 .table = {8, 2, 5, 0, -1, 1, 7, 3, 6, -1},
                 .seq_lens = {10, 7}};
  data.cache.assign(static_cast<size_t>(kBlocks * data.block_stride()), 0x7f);
  for (int64_t block = 0; block < kBlocks; ++block) {
    for (int64_t offset = 0; offset < kBlockSize; ++offset) {
      for (int64_t d = 0; d < data.queries.dim; ++d) {
        data.key(block, offset)[d] = draw_byte(Fill::kIntegers, kFp8E4m3Fn, draws);
      }
      const float scale = draw_scale(Fill::kIntegers, draws);
      std::memcpy(data.scale(block, offset), &scale, 4);
    }
  }
  return data;
}

std::vector<int64_t> lengths_1d(const PagedData& data) {
  return {data.seq_lens[0] - 1, data.seq_lens[0], data.seq_lens[1] - 1, data.seq_lens[1]};
}

Logits run_paged(PagedData& data, const std::vector<int64_t>& lengths, Fault fault = Fault::kNone) {
  Logits logits = poisoned_logits(data.queries.rows, kWidth);
  for (int64_t row = 0; row < data.queries.rows; ++row) {
    int64_t end = lengths[static_cast<size_t>(row)];
    if (fault == Fault::kPartialBlock) end -= end % kBlockSize;
    if (fault == Fault::kFutureColumn) ++end;
    for (int64_t column = 0; column < end; ++column) {
      const int64_t table_at = row / kNextN * (kTableColumns + 1) + column / kBlockSize;
      const int64_t block = data.table[static_cast<size_t>(table_at)];
      const int64_t offset = column % kBlockSize;
      float scale = 0;
      std::memcpy(&scale, data.scale(block, offset), 4);
      logits.at(row, column) = kernel_logit(data.queries, row, data.key(block, offset), kFp8E4m3Fn,
                                            scale, Order::kForward, fault);
    }
  }
  return logits;
}

LogitsJudgement judge(const PagedData& data, const Logits& logits,
                      Outside outside = Outside::kUntouched) {
  return judge_logits(data.view(), {.outside = outside}, logits.view(), CompareLogits::kBitwise);
}

std::vector<int64_t> numbers_per_row(const PagedData& data) {
  std::vector<int64_t> counts;
  for (int64_t row = 0; row < data.queries.rows; ++row) {
    const auto expected = expected_logits(data.view(), {}, row, kWidth);
    counts.push_back(std::count_if(expected.begin(), expected.end(), [](const auto& logit) {
      return logit.want == WantLogit::kNumber;
    }));
  }
  return counts;
}

TEST(PagedLogits, FollowTheBlockTableAndTheLengthsOfTheDraftRows) {
  PagedData data = draw_paged(1);
  const Logits logits = run_paged(data, lengths_1d(data));
  const LogitsJudgement judgement = judge(data, logits);
  EXPECT_TRUE(judgement.ok());
  EXPECT_EQ(9 + 10 + 6 + 7, judgement.numbers);
}

TEST(PagedLogits, TakeOneLengthPerRowIn2D) {
  PagedData data = draw_paged(2);
  data.seq_lens = {3, 16, 0, -5};
  data.seq_lens_dim = 2;
  EXPECT_EQ((std::vector<int64_t>{3, 16, 0, 0}), numbers_per_row(data));
  EXPECT_TRUE(judge(data, run_paged(data, {3, 16, 0, 0})).ok());
  EXPECT_FALSE(judge(data, run_paged(data, {2, 16, 0, 0})).ok());
  EXPECT_FALSE(judge(data, run_paged(data, {3, 16, 1, 0})).ok());
}

TEST(PagedLogits, LeaveTheFirstDraftRowOfAOneTokenRequestEmpty) {
  PagedData data = draw_paged(3);
  data.seq_lens = {1, 2};
  EXPECT_EQ((std::vector<int64_t>{0, 1, 1, 2}), numbers_per_row(data));
}

TEST(PagedLogits, HaveNoNumbersPastTheTableOrTheCache) {
  PagedData data = draw_paged(4);
  data.seq_lens = {17, 17};
  EXPECT_EQ((std::vector<int64_t>{16, 16, 16, 16}), numbers_per_row(data));
  data.table[1] = kBlocks;
  EXPECT_EQ((std::vector<int64_t>{12, 12, 16, 16}), numbers_per_row(data));
  data.table[1] = -1;
  EXPECT_EQ((std::vector<int64_t>{12, 12, 16, 16}), numbers_per_row(data));
}

TEST(PagedLogits, RefuseASkippedPartialBlock) {
  PagedData data = draw_paged(5);
  const LogitsJudgement judgement =
      judge(data, run_paged(data, lengths_1d(data), Fault::kPartialBlock), Outside::kAny);
  EXPECT_EQ(faults_of({FaultKind::kNeverWritten}), judgement.faults);
  EXPECT_EQ(1 + 2 + 2 + 3, judgement.bad_elements);
  EXPECT_EQ(8, judgement.bad[0].column);
}

TEST(PagedLogits, RefuseAFutureColumn) {
  PagedData data = draw_paged(6);
  const Logits logits = run_paged(data, lengths_1d(data), Fault::kFutureColumn);
  EXPECT_EQ(faults_of({FaultKind::kGuardBroken}), judge(data, logits).faults);
  EXPECT_EQ(4, judge(data, logits).bad_elements);
  EXPECT_EQ(faults_of({FaultKind::kSentinelMissing, FaultKind::kNeverWritten}),
            judge(data, logits, Outside::kMinusInfinity).faults);
}

TEST(PagedLogits, RefuseLengthsThatIgnoreTheDraft) {
  PagedData data = draw_paged(7);
  EXPECT_FALSE(judge(data, run_paged(data, {10, 10, 7, 7})).ok());
  EXPECT_FALSE(judge(data, run_paged(data, {9, 9, 6, 6})).ok());
}

TEST(PagedLogits, RefuseEveryFaultOfTheArithmetic) {
  for (const Fault fault :
       {Fault::kScaleTwice, Fault::kOtherFlavour, Fault::kWeightOfNextHead, Fault::kNoRelu}) {
    PagedData data = draw_paged(8);
    EXPECT_EQ(faults_of({FaultKind::kWrongValue}),
              judge(data, run_paged(data, lengths_1d(data), fault)).faults)
        << static_cast<int>(fault);
  }
}

TEST(PagedLogits, RefuseTwoSwappedBlocksAndTheScaleOfTheNextKey) {
  PagedData data = draw_paged(9);
  PagedData swapped = data;
  std::swap(swapped.table[0], swapped.table[1]);
  EXPECT_FALSE(judge(data, run_paged(swapped, lengths_1d(data))).ok());
  PagedData moved = data;
  const float scale = 64;
  std::memcpy(moved.scale(8, 2), &scale, 4);
  EXPECT_FALSE(judge(data, run_paged(moved, lengths_1d(data))).ok());
}

}  // namespace
}  // namespace exactk::oracle
