// The sparse-MLA metadata of a step, and the judge of persistent buffers: each buffer with each
// kind of wrong element once.
#include "oracle/mla_metadata.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace exactk::oracle {
namespace {

using Ints = std::vector<int32_t>;

struct Buffers {
  Ints req_id, qo_indptr, last_page, indices, indptr;
  MlaBuffers view() const { return {req_id, qo_indptr, last_page, indices, indptr}; }
};

constexpr MlaLimits kLimits{.tokens_max = 6, .k = 4};
const Ints kQueries{1, 3};
const Ints kSequences{10, 3};
const MlaBatch kBatch{kQueries, kSequences};
// Worked by hand: lengths min(10, 4), then 1, 2, 3.
const Buffers kRight{{0, 1, 1, 1, 0, 0},
                     {0, 1, 2, 3, 4, 5, 6},
                     {1, 1, 1, 1, 1, 1},
                     {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0},
                     {0, 4, 5, 7, 10, 10, 10}};
const Buffers kPoison{Ints(6, -9), Ints(7, -9), Ints(6, -9), Ints(24, -9), Ints(7, -9)};

std::vector<MlaFinding> judge(const Buffers& got, const Buffers& before = kPoison,
                              const MlaSlots* slots = nullptr) {
  return judge_mla_metadata(expected_mla_metadata(kLimits, kBatch, slots), got.view(),
                            before.view());
}

std::string tensors(const std::vector<MlaFinding>& findings) {
  std::string names;
  for (const MlaFinding& finding : findings) names += finding.tensor + " ";
  return names;
}

TEST(MlaMetadata, GivesEachTokenWhatItSeesUpToK) {
  EXPECT_EQ((Ints{4, 1, 2, 3}), mla_lengths(kBatch, 4));
  EXPECT_EQ((Ints{10, 1, 2, 3}), mla_lengths(kBatch, 100));
  EXPECT_EQ((Ints{0, 1, 1, 1}), mla_requests(kBatch));
  EXPECT_EQ((Ints{0, 4, 5, 7, 10}), mla_kv_indptr(kBatch, 4));
}

TEST(MlaMetadata, APaddedRowAndARequestShorterThanItsQueryHaveNoNegativeLength) {
  const Ints queries{3, 4, 0};
  const Ints sequences{0, 2, 9};
  EXPECT_EQ((Ints{0, 0, 0, 0, 0, 1, 2}), mla_lengths({queries, sequences}, 4));
  EXPECT_EQ((Ints{0, 0, 0, 1, 1, 1, 1}), mla_requests({queries, sequences}));
}

TEST(MlaMetadata, TellsTheTwoCollisionFamiliesOfThePublishedKeyApart) {
  const Ints tens{10, 10}, one_three{1, 3}, three_one{3, 1}, four{4}, hundred{100};
  EXPECT_EQ((Ints{10, 8, 9, 10}), mla_lengths({one_three, tens}, 64));
  EXPECT_EQ((Ints{8, 9, 10, 10}), mla_lengths({three_one, tens}, 64));
  EXPECT_EQ((Ints{1, 2, 3, 4}), mla_lengths({four, four}, 4));
  EXPECT_EQ((Ints{4, 4, 4, 4}), mla_lengths({four, hundred}, 4));
}

TEST(MlaMetadata, RefusesWhatDoesNotFitWithTheNumbers) {
  const Ints seven{7}, one{1}, negative{-2};
  EXPECT_EQ("", problem_of(kLimits, kBatch));
  EXPECT_NE(std::string::npos, problem_of(kLimits, {seven, seven}).find("7 tokens")) << "too many";
  EXPECT_NE(std::string::npos, problem_of(kLimits, {negative, one}).find("-2"));
  EXPECT_NE(std::string::npos, problem_of(kLimits, {kQueries, one}).find("2 and 1"));
  EXPECT_NE("", problem_of({.tokens_max = 0, .k = 4}, kBatch));
  EXPECT_NE("", problem_of({.tokens_max = 1 << 20, .k = 1 << 12}, kBatch));
}

TEST(MlaMetadataJudge, TakesTheRightBuffers) {
  EXPECT_EQ("", tensors(judge(kRight)));
}

TEST(MlaMetadataJudge, LeavesOpenWhatLayersHaveNotWrittenAndNothingElse) {
  const std::vector<ExpectedTensor> want = expected_mla_metadata(kLimits, kBatch);
  for (const ExpectedTensor& tensor : want) {
    const auto open = std::count(tensor.wants.begin(), tensor.wants.end(), Want::kAny);
    EXPECT_EQ(tensor.name == "paged_kv_indices" ? 16 : 0, open) << tensor.name;
    EXPECT_EQ(0, std::count(tensor.wants.begin(), tensor.wants.end(), Want::kUntouched));
  }
}

TEST(MlaMetadataJudge, SeesEverySingleWrongElement) {
  for (Ints Buffers::*member : {&Buffers::req_id, &Buffers::qo_indptr, &Buffers::last_page,
                                &Buffers::indices, &Buffers::indptr}) {
    for (size_t i = 0; i < (kRight.*member).size(); ++i) {
      Buffers wrong = kRight;
      (wrong.*member)[i] += 1;
      const bool open = member == &Buffers::indices && i < 16;
      EXPECT_EQ(open ? 0u : 1u, judge(wrong).size()) << i;
    }
  }
}

TEST(MlaMetadataJudge, SeesABufferOfAnotherSize) {
  Buffers wrong = kRight;
  wrong.indptr.pop_back();
  EXPECT_EQ("paged_kv_indptr ", tensors(judge(wrong)));
}

TEST(MlaMetadataJudge, SaysThatAnElementIsStillThatOfTheStepBefore) {
  Buffers wrong = kRight, before = kRight;
  wrong.req_id[4] = before.req_id[4] = 1;
  const auto findings = judge(wrong, before);
  ASSERT_EQ("req_id_per_token ", tensors(findings));
  EXPECT_EQ(
      "req_id_per_token[4] is 1, want 0: it is still that of the step before (1 of 6 elements "
      "are wrong)",
      findings[0].why);
}

// Blocks of 2 slots; request 1 has block 5 first.
TEST(MlaMetadataJudge, WantsTheSlotsThatALayerWrites) {
  const Ints topk{9, 0, 1, 2, 0, 8, 8, 8, 0, 1, 8, 8, 2, -1, 1, 8};
  const Ints table{3, 4, 5, 6};
  const MlaSlots slots{
      topk, {.blocks = table, .requests = 2, .columns = 2, .stride = 2, .block_size = 2}};
  Buffers got = kRight;
  // Token 0: entry 9 is behind the table. Token 3: entry -1.
  const Ints written{0, 6, 7, 8, 10, 10, 11, 12, 0, 11};
  std::copy(written.begin(), written.end(), got.indices.begin());
  EXPECT_EQ("", tensors(judge(got, kPoison, &slots)));
  for (size_t i = 0; i < 24; ++i) {
    Buffers wrong = got;
    wrong.indices[i] += 1;
    const bool open = i >= 10 && i < 16;
    EXPECT_EQ(open ? "" : "paged_kv_indices ", tensors(judge(wrong, kPoison, &slots))) << i;
  }
}

}  // namespace
}  // namespace exactk::oracle
