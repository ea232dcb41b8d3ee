// What the builder promises beyond the contents of its buffers: addresses that stay, plans that are
// reused where they may be, and refusals. props/mla_session judges the contents.
#include "kernels/metadata/builder.h"

#include <gtest/gtest.h>

#include "kernels/metadata/variants.h"
#include "kernels/mutants/metadata_mutants.h"
#include "kernels/registry.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

using Ints = std::vector<int32_t>;
using metadata::MlaMetadata;
using metadata::MlaShape;

struct Batch {
  Ints query_lens, seq_lens;
};

class Builder : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    device_ = std::move(*open_device(kDeviceKind));
    for (const metadata::Variant& variant : metadata::shipped_variants()) {
      if (variant.name != GetParam()) continue;
      auto builder = metadata::open_builder(
          variant, *device_, {.tokens_max = 8, .k = 4, .workers = 2}, device_->stream(1));
      ASSERT_TRUE(builder) << builder.error();
      builder_ = std::move(*builder);
    }
    auto lens = GuardedBuffer::make(*device_, 8 * 4);
    ASSERT_TRUE(lens) << lens.error();
    lens_ = std::make_unique<GuardedBuffer>(std::move(*lens));
  }

  // A step; `bounds`: the host's lengths, of step `number`.
  Result<MlaMetadata> build(const Batch& batch, std::optional<Ints> bounds, int64_t slack = 0,
                            int64_t late = 0, int64_t heads = 16) {
    EXPECT_TRUE(lens_->upload(std::as_bytes(std::span(batch.seq_lens))));
    ++number_;
    metadata::MlaStep step{.number = number_,
                           .query_lens = batch.query_lens,
                           .seq_lens = reinterpret_cast<const int32_t*>(lens_->data()),
                           .host_lengths = {},
                           .heads = heads};
    if (bounds) step.host_lengths = {*bounds, slack, number_ - late};
    auto built = builder_->build(step);
    EXPECT_TRUE(device_->synchronize(device_->stream(1)));
    return built;
  }
  bool reuses(const Batch& batch, std::optional<Ints> bounds, int64_t slack = 0, int64_t late = 0,
              int64_t heads = 16) {
    const auto built = build(batch, std::move(bounds), slack, late, heads);
    EXPECT_TRUE(built) << built.error();
    return built && built->plan_reused;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<metadata::MlaBuilder> builder_;
  std::unique_ptr<GuardedBuffer> lens_;
  int64_t number_ = 0;
};

TEST_P(Builder, KeepsItsAddressesWhateverTheStep) {
  const auto first = build({{1}, {5}}, Ints{5});
  for (const Batch& batch : {Batch{{8}, {9}}, Batch{{}, {}}, Batch{{1, 2}, {0, 7}}}) {
    const auto built = build(batch, std::nullopt);
    ASSERT_TRUE(built) << built.error();
    EXPECT_EQ(first->req_id_per_token, built->req_id_per_token);
    EXPECT_EQ(first->qo_indptr, built->qo_indptr);
    EXPECT_EQ(first->last_page_len, built->last_page_len);
    EXPECT_EQ(first->kv_indices, built->kv_indices);
    EXPECT_EQ(first->kv_indptr, built->kv_indptr);
    EXPECT_EQ(first->plan.work_indptr, built->plan.work_indptr);
    EXPECT_EQ(first->plan.work_info, built->plan.work_info);
    EXPECT_EQ(first->plan.reduce_indptr, built->plan.reduce_indptr);
    EXPECT_EQ(first->plan.reduce_final_map, built->plan.reduce_final_map);
    EXPECT_EQ(first->plan.reduce_partial_map, built->plan.reduce_partial_map);
    EXPECT_EQ("", *builder_->damage());
  }
}

TEST_P(Builder, ReusesAPlanOfTheSameLengthsAndHeads) {
  EXPECT_FALSE(reuses({{1, 1}, {5, 6}}, Ints{5, 6}));
  EXPECT_TRUE(reuses({{1, 1}, {5, 6}}, Ints{5, 6}));
  EXPECT_TRUE(reuses({{1, 1}, {6, 7}}, Ints{6, 7})) << "k is 4: both tokens see 4 keys as before";
  EXPECT_TRUE(reuses({{2}, {9}}, Ints{9})) << "two tokens of one request see 4 keys each, too";
  EXPECT_FALSE(reuses({{1, 1}, {5, 3}}, Ints{5, 3}));
  EXPECT_FALSE(reuses({{1, 1}, {5, 3}}, Ints{5, 3}, 0, 0, 32));
}

TEST_P(Builder, ReusesNothingWithoutLengthsOfThisStepAndKeepsNothingThen) {
  const Batch batch{{1, 1}, {5, 6}};
  const Ints lens{5, 6};
  EXPECT_FALSE(reuses(batch, lens));
  EXPECT_FALSE(reuses(batch, std::nullopt));
  EXPECT_FALSE(reuses(batch, lens)) << "the plan was made without a key";
  EXPECT_TRUE(reuses(batch, lens));
  EXPECT_FALSE(reuses(batch, lens, 0, 1)) << "lengths of the step before";
  EXPECT_FALSE(reuses(batch, lens));
  EXPECT_FALSE(reuses(batch, Ints{5}, 0)) << "lengths of another number of requests";
}

TEST_P(Builder, TakesABoundThatFixesWhatEveryTokenSees) {
  const Batch batch{{1, 2}, {5, 6}};
  EXPECT_FALSE(reuses(batch, Ints{5, 6}));
  EXPECT_TRUE(reuses(batch, Ints{6, 7}, 1)) << "at least 5 and 6, so the tokens see at least 5";
  EXPECT_TRUE(reuses(batch, Ints{6, 7}, 2)) << "at least 4 and 5, so the tokens see at least 4";
  EXPECT_FALSE(reuses(batch, Ints{6, 7}, 3)) << "a first token of a query may see 3";
}

TEST_P(Builder, RefusesWhatDoesNotFitWithTheNumbers) {
  const auto words = [&](const Batch& batch, int64_t heads = 16) {
    const auto built = build(batch, std::nullopt, 0, 0, heads);
    return built ? std::string("built") : built.error();
  };
  EXPECT_NE(std::string::npos, words({{5, 4}, {9, 9}}).find("9 tokens exceeds the builder's 8"));
  EXPECT_NE(std::string::npos, words({{-1}, {9}}).find("-1 query tokens"));
  EXPECT_NE(std::string::npos, words({{1}, {9}}, 0).find("0 heads"));
  const auto& variant = metadata::shipped_variants()[0];
  for (const MlaShape shape :
       {MlaShape{0, 4, 1}, MlaShape{1, 0, 1}, MlaShape{1, 1, 0}, MlaShape{1 << 20, 1 << 12, 1}})
    EXPECT_FALSE(metadata::open_builder(variant, *device_, shape, nullptr));
}

INSTANTIATE_TEST_SUITE_P(Of, Builder, testing::Values("mla.serial", "mla.parallel"),
                         [](const auto& info) {
                           return info.param == std::string("mla.serial") ? "serial" : "parallel";
                         });

TEST(MetadataVariants, HaveNamesOfTheirOwnAndPlannersThatThereAre) {
  std::vector<std::string_view> names;
  const auto planted = target_kernels(kDeviceKind)->metadata.planted;
  size_t used = 0;
  for (const metadata::Variant& variant : planted::metadata_mutants()) {
    names.push_back(variant.name);
    EXPECT_TRUE(variant.name.starts_with("mutant.mla_"));
    const auto named = [&](const metadata::PlantedPlanner& p) { return p.name == variant.planner; };
    const bool found = std::any_of(planted.begin(), planted.end(), named);
    used += found;
    EXPECT_TRUE(found || variant.planner == "parallel") << variant.name;
  }
  EXPECT_EQ(planted.size(), used) << "a planted planner that no variant has";
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names.end(), std::adjacent_find(names.begin(), names.end()));
}

}  // namespace
}  // namespace exactk::kernels::test
