// Stored cases of the index operations, worked out by hand: fixtures/golden/ says how they read. A
// difference is a fault of the oracle or a changed contract.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "oracle/swa_window.h"
#include "tests/oracle/index_test_support.h"

namespace exactk::oracle {
namespace {

// One case of a file: its lines by their first word.
class Golden {
 public:
  explicit Golden(std::string name) : name_(std::move(name)) {}

  void add(const std::string& key, std::istringstream& words) {
    std::string& text = key == "want" ? want_[next_word(words)] : given_[key];
    EXPECT_TRUE(text.empty()) << name_ << ": " << key << " twice";
    for (std::string word; words >> word;) {
      if (word != "|") text += (text.empty() ? "" : " ") + word;
    }
  }

  const std::string& name() const { return name_; }
  bool gives(const std::string& key) const { return given_.contains(key); }
  std::string word(const std::string& key) const {
    used_.insert(key);
    return gives(key) ? given_.at(key) : "";
  }
  int64_t number(const std::string& key, int64_t otherwise = 0) const {
    return gives(key) ? std::stoll(word(key)) : otherwise;
  }
  template <class T = int32_t>
  std::vector<T> list(const std::string& key) const {
    std::istringstream words(word(key));
    std::vector<T> values;
    for (int64_t value; words >> value;) values.push_back(static_cast<T>(value));
    return values;
  }

  void expect(const std::vector<ExpectedTensor>& got) const {
    EXPECT_EQ(want_.size(), got.size()) << name_;
    for (const ExpectedTensor& tensor : got) {
      ASSERT_TRUE(want_.contains(tensor.name)) << name_ << ": " << tensor.name;
      EXPECT_EQ(want_.at(tensor.name), describe(tensor)) << name_ << ": " << tensor.name;
    }
    for (const auto& [key, text] : given_) {
      EXPECT_TRUE(used_.contains(key)) << name_ << " gives " << key << ", which nothing reads";
    }
  }

 private:
  static std::string next_word(std::istringstream& words) {
    std::string word;
    words >> word;
    return word;
  }

  std::string name_;
  std::map<std::string, std::string> given_;
  std::map<std::string, std::string> want_;
  mutable std::set<std::string> used_;
};

std::vector<Golden> golden_cases(const std::string& file) {
  std::ifstream stream(std::string(EXACTK_FIXTURES_DIR) + "/golden/" + file);
  EXPECT_TRUE(stream.is_open()) << file;
  std::vector<Golden> cases;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string key;
    if (!(words >> key) || key[0] == '#') continue;
    if (key == "case") {
      cases.emplace_back(line.substr(5));
    } else {
      cases.back().add(key, words);
    }
  }
  return cases;
}

template <class Variant>
Variant variant_named(const std::string& word, std::initializer_list<Variant> variants) {
  for (const Variant variant : variants) {
    if (word == name(variant)) return variant;
  }
  ADD_FAILURE() << "unknown variant " << word;
  return {};
}

BlockTable table_of(const Golden& golden, const std::vector<int32_t>& blocks) {
  const int64_t columns = golden.number("table_blocks");
  return {.blocks = blocks,
          .requests = golden.number("requests"),
          .columns = columns,
          .stride = golden.number("table_stride", columns),
          .block_size = golden.number("block_size", 1)};
}

std::string check_combine(const Golden& golden) {
  CombineCase c;
  const std::string variant = golden.word("variant");
  const int64_t k = golden.number("k");
  const int64_t columns = golden.number("columns");
  c.shape = {
      .variant = variant_named(
          variant, {CombineVariant::kCommon, CombineVariant::kGathered, CombineVariant::kChecked,
                    CombineVariant::kVision, CombineVariant::kRagged}),
      .tokens = golden.number("tokens"),
      .requests = golden.number("requests"),
      .k = k,
      .topk_width = golden.number("topk_width", k),
      .topk_stride = golden.number("topk_stride", k),
      .window = golden.number("window"),
      .ratio = golden.number("ratio"),
      .workspace_rows = golden.number("workspace_rows"),
      .compressed_rows = golden.number("compressed_rows"),
      .columns = columns,
      .out_stride = golden.number("out_stride", columns),
      .max_image_tokens = golden.number("max_image_tokens"),
  };
  c.topk_indices = golden.list("topk_indices");
  c.query_start_loc = golden.list("query_start_loc");
  c.seq_lens = golden.list("seq_lens");
  c.gather_lens = golden.list("gather_lens");
  c.left_visible = golden.list("left_visible");
  c.right_visible = golden.list("right_visible");
  golden.expect(c.expected());
  return variant;
}

std::string check_translate(const Golden& golden) {
  TranslateCase c;
  const std::string variant = golden.word("variant");
  const int64_t k = golden.number("k");
  c.shape = {
      .variant = variant_named(variant, {TranslateVariant::kPositional, TranslateVariant::kCompact,
                                         TranslateVariant::kRagged, TranslateVariant::kPack,
                                         TranslateVariant::kFlat, TranslateVariant::kCapped}),
      .tokens = golden.number("tokens"),
      .k = k,
      .index_stride = golden.number("index_stride", k),
      .out_stride = golden.number("out_stride", k),
      .ratio = golden.number("ratio", 1),
      .slots_bound = golden.number("slots_bound", -1),
  };
  c.indices = golden.list("indices");
  c.token_to_req = golden.list("token_to_req");
  c.token_valid = golden.list<uint8_t>("token_valid");
  c.lengths = golden.list("lengths");
  c.cu_seqlens = golden.list("cu_seqlens");
  c.positions = golden.list("positions");
  c.cap = golden.number("cap");
  c.blocks = golden.list("block_table");
  c.table = table_of(golden, {});
  golden.expect(c.expected());
  return variant;
}

TEST(IndexGolden, CombineGivesTheStoredRowsOfEveryVariant) {
  std::set<std::string> variants;
  for (const Golden& golden : golden_cases("combine.txt")) variants.insert(check_combine(golden));
  EXPECT_EQ((std::set<std::string>{"checked", "common", "gathered", "ragged", "vision"}), variants);
}

TEST(IndexGolden, TranslateGivesTheStoredSlotsOfEveryVariant) {
  std::set<std::string> variants;
  for (const Golden& golden : golden_cases("translate.txt")) {
    variants.insert(check_translate(golden));
  }
  EXPECT_EQ((std::set<std::string>{"capped", "compact", "flat", "pack", "positional", "ragged"}),
            variants);
}

TEST(IndexGolden, SwaGivesTheStoredSlots) {
  const std::vector<Golden> cases = golden_cases("swa.txt");
  EXPECT_FALSE(cases.empty());
  for (const Golden& golden : cases) {
    const int64_t columns = golden.number("columns");
    const SwaShape shape{.tokens = golden.number("tokens"),
                         .window = golden.number("window"),
                         .columns = columns,
                         .out_stride = golden.number("out_stride", columns)};
    const std::vector<int32_t> positions = golden.list("positions");
    const std::vector<int32_t> token_to_req = golden.list("token_to_req");
    const std::vector<uint8_t> token_valid = golden.list<uint8_t>("token_valid");
    const std::vector<int32_t> left = golden.list("left_visible");
    const std::vector<int32_t> right = golden.list("right_visible");
    const std::vector<int32_t> blocks = golden.list("block_table");
    golden.expect(expected_swa(shape, {positions, token_to_req, token_valid, left, right},
                               table_of(golden, blocks)));
  }
}

}  // namespace
}  // namespace exactk::oracle
