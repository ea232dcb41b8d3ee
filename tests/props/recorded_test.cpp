#include "props/recorded.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "fixtures/materialize.h"
#include "oracle/logit_order.h"
#include "oracle/topk.h"
#include "props/npy.h"
#include "tests/props/temp_folder.h"

namespace exactk::tests {
namespace {

using oracle::FaultKind;
using props::NpyType;

TEST(Recorded, Float16BecomesTheFloat32OfTheSameValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint32_t exponent = (bits >> 10) & 0x1f;
    const uint32_t fraction = bits & 0x3ff;
    const uint32_t got = props::float32_of_float16(static_cast<uint16_t>(bits));
    ASSERT_EQ(bits >> 15, got >> 31);
    if (exponent == 0x1f) {
      ASSERT_EQ(0x7f800000u | (fraction << 13), got & 0x7fffffffu) << bits;
      continue;
    }
    const float value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                      : std::ldexp(static_cast<float>(1024 + fraction),
                                                   static_cast<int>(exponent) - 25);
    ASSERT_EQ(value, std::bit_cast<float>(got & 0x7fffffffu)) << bits;
  }
}

// Signs apart, both formats order their bits as integers do.
template <class Convert>
void expect_keeps_the_order(Convert convert) {
  const auto key = [&](uint32_t bits) { return oracle::order_key(convert(bits)); };
  for (uint32_t bits = 0; bits < 0x7fff; ++bits) {
    ASSERT_LT(key(bits), key(bits + 1)) << bits;
    ASSERT_GT(key(0x8000 | bits), key(0x8000 | (bits + 1))) << bits;
  }
  ASSERT_LT(key(0x8000), key(0));
}

TEST(Recorded, ConversionKeepsTheOrderOfAllBitsNanAmongThem) {
  expect_keeps_the_order(
      [](uint32_t bits) { return props::float32_of_float16(static_cast<uint16_t>(bits)); });
  expect_keeps_the_order(
      [](uint32_t bits) { return props::float32_of_bfloat16(static_cast<uint16_t>(bits)); });
}

TEST(Recorded, Bfloat16IsTheUpperHalfOfAFloat32) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    ASSERT_EQ(bits << 16, props::float32_of_bfloat16(static_cast<uint16_t>(bits)));
}

class RecordedLaunch : public testing::Test {
 protected:
  static constexpr int64_t kRows = 6, kWidth = 40, kK = 8;

  RecordedLaunch() {
    // Positive, distinct within a row, exact in all three formats: 1.0 and 128 steps of the 7 bits
    // that bfloat16 has.
    for (int64_t i = 0; i < kRows * kWidth; ++i)
      logits.push_back(0x3f800000u + (static_cast<uint32_t>(i * 37 % 127) << 16));
    files.logits = folder / "logits.npy";
    files.indices = folder / "indices.npy";
    decode({40, 40, 20, 8, 3, 0}, 1);
    save_logits();
  }

  template <class T>
  void save(const char* name, NpyType type, const std::vector<T>& values,
            const std::vector<int64_t>& shape) {
    props::NpyWriter file(folder / name, type, shape);
    file.write(std::as_bytes(std::span(values)));
    ASSERT_EQ("", file.close());
  }

  void save_logits(NpyType type = NpyType::kFloat32, bool bfloat16 = false) {
    files.bfloat16 = bfloat16;
    if (type == NpyType::kFloat32) return save("logits.npy", type, logits, {kRows, kWidth});
    std::vector<uint16_t> half;
    for (const uint32_t bits : logits) {
      const uint32_t as_float16 = ((bits >> 13) & 0x3ffu) | 0x3c00u;
      half.push_back(static_cast<uint16_t>(bfloat16 ? bits >> 16 : as_float16));
    }
    save("logits.npy", type, half, {kRows, kWidth});
  }

  void save_indices() { save("indices.npy", NpyType::kInt32, slots, {kRows, kK}); }

  // The right answer for rows of columns [start, start + length), relative to the start.
  void answer(const std::vector<fixtures::RowWindow>& windows) {
    slots.clear();
    for (int64_t row = 0; row < kRows; ++row) {
      const auto window = windows[static_cast<size_t>(row)];
      const auto visible = std::span(logits).subspan(
          static_cast<size_t>(row * kWidth + window.start), static_cast<size_t>(window.length));
      for (const int32_t index : oracle::topk_reference(visible, kK)) slots.push_back(index);
    }
    save_indices();
  }

  void decode(const std::vector<int32_t>& row_lengths, int64_t next_n) {
    files.op = fixtures::Op::kTopkDecode;
    files.seq_lens = folder / "seq_lens.npy";
    files.next_n = next_n;
    std::vector<fixtures::RowWindow> windows;
    for (const int32_t length : row_lengths) windows.push_back({0, std::max(0, length)});
    save("seq_lens.npy", NpyType::kInt32, row_lengths, {kRows});
    answer(windows);
  }

  void prefill() {
    files.op = fixtures::Op::kTopkPrefill;
    files.row_starts = folder / "starts.npy";
    files.row_ends = folder / "ends.npy";
    save<int32_t>("starts.npy", NpyType::kInt32, {0, 5, 10, 39, 7, 50}, {kRows});
    save<int32_t>("ends.npy", NpyType::kInt32, {40, 40, 22, 40, 7, 3}, {kRows});
    answer({{0, 40}, {5, 35}, {10, 12}, {39, 1}, {7, 0}, {0, 0}});
  }

  fixtures::Result<props::RecordedFindings> judge(
      oracle::ContractModes promised = oracle::kPrefix) const {
    return props::judge_recorded(files, promised);
  }

  void expect_right(oracle::ContractModes promised = oracle::kPrefix) const {
    const auto judged = judge(promised);
    ASSERT_TRUE(judged.has_value()) << judged.error();
    EXPECT_TRUE(judged->found.ok()) << judged->found.why << judged->found.anatomy;
    EXPECT_EQ(kRows, judged->found.rows);
    EXPECT_EQ(0, judged->failing_rows);
  }

  // The row, and it alone, is wrong in this way.
  void expect_wrong(int64_t row, FaultKind kind,
                    oracle::ContractModes promised = oracle::kPrefix) const {
    const auto judged = judge(promised);
    ASSERT_TRUE(judged.has_value()) << judged.error();
    EXPECT_EQ(1, judged->failing_rows);
    EXPECT_TRUE(judged->found.faults.has(kind)) << judged->found.anatomy;
    EXPECT_NE(std::string::npos, judged->found.anatomy.find("row " + std::to_string(row)));
    EXPECT_NE(std::string::npos, judged->found.why.find("1 of 6 rows")) << judged->found.why;
    EXPECT_NE("", judged->found.broke);
  }

  void expect_refused(const std::string& words) const {
    const auto judged = judge();
    ASSERT_FALSE(judged.has_value()) << "taken; want: " << words;
    EXPECT_NE(std::string::npos, judged.error().find(words)) << judged.error();
    EXPECT_EQ(std::string::npos, judged.error().find('\n'));
  }

  int32_t& slot(int64_t row, int64_t position) {
    return slots[static_cast<size_t>(row * kK + position)];
  }

  TempFolder folder;
  props::RecordedFiles files;
  std::vector<uint32_t> logits;
  std::vector<int32_t> slots;
};

TEST_F(RecordedLaunch, IsRightInEveryTypeOfLogits) {
  expect_right(oracle::kStable);
  save_logits(NpyType::kFloat16);
  expect_right(oracle::kStable);
  save_logits(NpyType::kUint16, true);
  expect_right(oracle::kStable);
}

TEST_F(RecordedLaunch, CountsWhatWasAtStake) {
  const auto judged = judge();
  ASSERT_TRUE(judged.has_value()) << judged.error();
  EXPECT_EQ(5, judged->found.rows_selected);
  EXPECT_EQ(3, judged->found.rows_cut);
  EXPECT_EQ(40 + 40 + 20 + 8 + 3, judged->found.elements);
  EXPECT_EQ("6 rows of 40 float32 logits, k 8", judged->what);
}

TEST_F(RecordedLaunch, IsWrongByOneIndexInEveryTypeOfLogits) {
  const std::vector<int32_t> right(slots.begin(), slots.begin() + kK);
  int32_t loser = 0;
  while (std::find(right.begin(), right.end(), loser) != right.end()) ++loser;
  slot(0, 3) = loser;
  save_indices();
  expect_wrong(0, FaultKind::kIntruder);
  expect_wrong(0, FaultKind::kMissingWinner);
  save_logits(NpyType::kFloat16);
  expect_wrong(0, FaultKind::kIntruder);
  save_logits(NpyType::kUint16, true);
  expect_wrong(0, FaultKind::kIntruder);
}

TEST_F(RecordedLaunch, IsWrongByOneSlotOfEveryClass) {
  struct Planted {
    int64_t row, position;
    int32_t index;
    FaultKind kind;
  };
  for (const Planted& p :
       {Planted{1, 0, slot(1, 7), FaultKind::kDuplicate},
        Planted{1, 7, slot(1, 0), FaultKind::kDuplicate},
        Planted{2, 4, -1, FaultKind::kSentinelInside}, Planted{2, 0, 20, FaultKind::kOutOfRange},
        Planted{3, 7, 8, FaultKind::kOutOfRange}, Planted{2, 7, -2, FaultKind::kOutOfRange},
        Planted{4, 3, 2, FaultKind::kSentinelMissing}, Planted{4, 7, 5, FaultKind::kOutOfRange},
        Planted{5, 0, 0, FaultKind::kOutOfRange},
        Planted{5, 7, INT32_MIN, FaultKind::kOutOfRange}}) {
    const std::vector<int32_t> right = slots;
    slot(p.row, p.position) = p.index;
    save_indices();
    SCOPED_TRACE(testing::Message() << "row " << p.row << " pos " << p.position);
    const auto judged = judge();
    ASSERT_TRUE(judged.has_value()) << judged.error();
    EXPECT_EQ(1, judged->failing_rows);
    EXPECT_FALSE(judged->found.faults.empty());
    EXPECT_NE(std::string::npos, judged->found.anatomy.find("row " + std::to_string(p.row) + " "));
    EXPECT_NE(std::string::npos, judged->found.anatomy.find("pos " + std::to_string(p.position)));
    slots = right;
  }
  save_indices();
  expect_right();
}

TEST_F(RecordedLaunch, IsHeldOnlyToWhatIsPromised) {
  std::swap(slot(0, 0), slot(0, 7));
  save_indices();
  expect_right(oracle::kPrefix);
  expect_wrong(0, FaultKind::kOrder, oracle::kStable);
  std::swap(slot(0, 0), slot(0, 7));
  std::swap(slot(4, 0), slot(4, 7));
  save_indices();
  expect_right(oracle::kSet);
  expect_wrong(4, FaultKind::kSentinelInside, oracle::kPrefix);
}

TEST_F(RecordedLaunch, TakesIndicesOf64BitsAndDoesNotWrapThem) {
  std::vector<int64_t> wide(slots.begin(), slots.end());
  save("indices.npy", NpyType::kInt64, wide, {kRows, kK});
  expect_right(oracle::kStable);
  for (const int64_t far : {int64_t{1} << 32, -(int64_t{1} << 32)}) {
    const int64_t right = wide[8];
    wide[8] = right + far;
    save("indices.npy", NpyType::kInt64, wide, {kRows, kK});
    expect_wrong(1, FaultKind::kOutOfRange);
    wide[8] = right;
  }
}

TEST_F(RecordedLaunch, TakesLengthsPerRequestAndPerRow) {
  decode({19, 20, 21, 1, 2, 3}, 3);  // one per row; of requests: 21 and 3
  expect_right();
  save<int32_t>("seq_lens.npy", NpyType::kInt32, {19, 20, 21, 1, 2, 3}, {2, 3});
  expect_right();
  save<int32_t>("seq_lens.npy", NpyType::kInt32, {21, 3}, {2});
  expect_right();
  save<int32_t>("seq_lens.npy", NpyType::kInt32, {21, 2}, {2});
  EXPECT_EQ(3, judge()->failing_rows) << "the second request's rows have other lengths";
}

TEST_F(RecordedLaunch, TakesLengthsBelowZeroAsEmptyRows) {
  decode({40, 40, 20, 8, 3, -7}, 1);
  expect_right();
}

TEST_F(RecordedLaunch, OfPrefillIsRelativeOrAbsoluteAsSaid) {
  prefill();
  expect_right(oracle::kStable);
  files.absolute = true;
  EXPECT_FALSE(judge()->found.ok()) << "relative indices are no columns";
  const std::array<int32_t, 6> starts{0, 5, 10, 39, 7, 50};
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t position = 0; position < kK; ++position) {
      if (slot(row, position) >= 0) slot(row, position) += starts[static_cast<size_t>(row)];
    }
  }
  save_indices();
  expect_right(oracle::kStable);
  slot(1, 0) = 4;  // in front of the row
  save_indices();
  expect_wrong(1, FaultKind::kOutOfRange);
  files.absolute = false;
  EXPECT_FALSE(judge()->found.ok()) << "columns are no relative indices";
}

TEST_F(RecordedLaunch, OfPrefillFindsOneWrongIndex) {
  prefill();
  slot(3, 0) = 1;
  save_indices();
  expect_wrong(3, FaultKind::kOutOfRange);
}

TEST_F(RecordedLaunch, WithoutRowsOrSlotsJudgesNothing) {
  save<uint32_t>("logits.npy", NpyType::kFloat32, {}, {0, kWidth});
  save<int32_t>("indices.npy", NpyType::kInt32, {}, {0, kK});
  save<int32_t>("seq_lens.npy", NpyType::kInt32, {}, {0});
  ASSERT_TRUE(judge().has_value()) << judge().error();
  EXPECT_EQ(0, judge()->found.rows);
  save_logits();
  decode({40, 40, 20, 8, 3, 0}, 1);
  save<int32_t>("indices.npy", NpyType::kInt32, {}, {kRows, 0});
  ASSERT_TRUE(judge().has_value()) << judge().error();
  EXPECT_EQ(0, judge()->found.rows);
}

TEST_F(RecordedLaunch, IsRefusedForLogitsThatAreNotWhatTheyAreSaidToBe) {
  save_logits(NpyType::kUint16, true);
  files.bfloat16 = false;
  expect_refused("say --bf16");
  save_logits();
  files.bfloat16 = true;
  expect_refused("--bf16 is for uint16");
  files.bfloat16 = false;
  save("logits.npy", NpyType::kInt32, std::vector<int32_t>(240), {kRows, kWidth});
  expect_refused("logits.npy: is int32 [6, 40]; logits are");
  save("logits.npy", NpyType::kFloat32, logits, {kRows * kWidth});
  expect_refused("logits are [rows, width]");
  save<uint32_t>("logits.npy", NpyType::kFloat32, {}, {0, int64_t{1} << 31});
  expect_refused("has 2147483648 columns");
  files.logits = folder / "no.npy";
  expect_refused("no.npy: cannot be opened");
}

TEST_F(RecordedLaunch, IsRefusedForIndicesThatDoNotFit) {
  save("indices.npy", NpyType::kInt32, slots, {kRows * kK});
  expect_refused("indices are [rows, k]");
  save("indices.npy", NpyType::kInt32, slots, {kRows / 2, kK * 2});
  expect_refused("has indices of 3 rows, and the logits have 6 rows");
  save("indices.npy", NpyType::kFloat32, slots, {kRows, kK});
  expect_refused("indices are [rows, k] of int32 or int64");
  files.indices = folder / "no.npy";
  expect_refused("no.npy: cannot be opened");
}

TEST_F(RecordedLaunch, IsRefusedForLengthsThatDoNotFit) {
  files.next_n = 4;
  expect_refused("not a multiple of next_n 4");
  files.next_n = 3;
  save<int32_t>("seq_lens.npy", NpyType::kInt32, {1, 2, 3}, {3});
  expect_refused("is int32 [3]; want int32 [2], one per request of 3 rows, or [2, 3] or [6]");
  save<int32_t>("seq_lens.npy", NpyType::kInt32, {1, 2, 3, 4, 5, 6}, {3, 2});
  expect_refused("is int32 [3, 2]; want");
  save<int64_t>("seq_lens.npy", NpyType::kInt64, {1, 2}, {2});
  expect_refused("is int64 [2]; want int32");
  save<int32_t>("seq_lens.npy", NpyType::kInt32, {41, 40}, {2});
  expect_refused("row 2 has length 41, and the logits have 40 columns");
}

TEST_F(RecordedLaunch, IsRefusedForBoundsThatReachBeyondTheLogits) {
  prefill();
  save<int32_t>("ends.npy", NpyType::kInt32, {40, 41, 22, 40, 7, 3}, {kRows});
  expect_refused("row 1 goes from column 5 to 41");
  prefill();
  save<int32_t>("starts.npy", NpyType::kInt32, {0, 5, -1, 39, 7, 50}, {kRows});
  expect_refused("row 2 goes from column -1 to 22");
  prefill();
  save<int32_t>("starts.npy", NpyType::kInt32, {0, 5}, {2});
  expect_refused("starts.npy: is int32 [2]; want int32 [6]");
  prefill();
  save<int32_t>("ends.npy", NpyType::kInt32, {0, 5}, {2});
  expect_refused("ends.npy: is int32 [2]; want int32 [6]");
}

}  // namespace
}  // namespace exactk::tests
