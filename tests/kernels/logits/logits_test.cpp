// The logits kernels are right in every form, on every kind of numbers, and replayed with other
// lengths, keys and tables than at capture.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/logits/problem.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

void expect_right(const std::string& text) {
  SCOPED_TRACE(text);
  LogitsProblem problem(text);
  for (const int wave_width : wave_widths()) {
    EXPECT_EQ(run(shipped_kernel(problem), problem, {.wave_width = wave_width}), "");
  }
}

const std::string kRagged = "logits.mqa rows=5 width=200 index_heads=6 index_dim=32 ";
const std::string kPaged =
    "logits.mqa_paged rows=6 next_n=2 width=200 index_heads=6 index_dim=32 block_size=16 ";

TEST(Logits, EveryOutsideModeAndFlavourIsRight) {
  for (const char* outside : {"any", "clean", "untouched"}) {
    for (const char* fp8 : {"fn", "fnuz"}) {
      const std::string mode =
          std::string("outside=") + outside + " fp8=" + fp8 + " numbers=integers:4 ";
      expect_right(kRagged + mode + "lens=edges");
      expect_right(kRagged + mode + "compressed=1 out_stride=211");
      expect_right(kPaged + mode + "lens=edges out_stride=211 misalign=1");
      expect_right(kPaged + mode + "lens_dim=2");
    }
  }
}

TEST(Logits, EveryKindOfNumbersAndScalesIsRight) {
  for (const char* numbers : {"integers:16", "uniform", "wide", "bytes", "ties"}) {
    for (const char* scales : {"ones", "powers", "uniform", "hostile"}) {
      const std::string values = std::string("numbers=") + numbers + " scales=" + scales;
      expect_right(kRagged + values);
      expect_right(kPaged + values + " specials=300 fp8=fnuz");
    }
  }
}

TEST(Logits, HeadsAndDimsBeyondWhatIsStagedAreRight) {
  for (const char* shape :
       {"index_heads=1 index_dim=4", "index_heads=33 index_dim=64", "index_heads=3 index_dim=132",
        "index_heads=65 index_dim=260", "index_heads=4 index_dim=1024"}) {
    const std::string rest = std::string(shape) + " width=70 lens=const:70 numbers=";
    for (const char* numbers : {"integers:4", "wide"}) {
      expect_right("logits.mqa rows=2 " + rest + numbers);
      expect_right("logits.mqa_paged rows=2 block_size=64 " + rest + numbers);
    }
  }
}

TEST(Logits, ADimThatIsNoMultipleOfFourIsRight) {
  expect_right("logits.mqa rows=3 width=70 index_heads=3 index_dim=13 numbers=integers:4");
  expect_right("logits.mqa_paged rows=3 width=70 index_heads=3 index_dim=13 block_size=16");
}

TEST(Logits, EmptyRowsAndBoundsPastTheKeysAreRight) {
  for (const char* outside : {"any", "clean", "untouched"}) {
    const std::string rest =
        std::string("lens=zero_mixed numbers=integers:3 outside=") + outside + " ";
    for (const char* seed : {"seed=1", "seed=2", "seed=3", "seed=4"}) {
      expect_right(kRagged + rest + "starts=end " + seed);
      expect_right(kRagged + rest + "starts=ragged compressed=1 " + seed);
      expect_right(kPaged + rest + seed);
    }
  }
}

TEST(Logits, EveryBlockSizeIsRight) {
  for (const char* block_size : {"1", "3", "64", "100", "256"}) {
    expect_right(
        "logits.mqa_paged rows=4 next_n=2 width=300 index_heads=2 index_dim=32 "
        "numbers=integers:4 outside=clean table=ordered lens=edges table_stride=400 "
        "block_size=" +
        std::string(block_size));
  }
}

TEST(Logits, AColumnWhoseBlockIsNoneOfTheCacheIsOutsideTheRow) {
  for (const char* outside : {"any", "clean", "untouched"}) {
    LogitsProblem problem(kPaged + "lens=const:200 numbers=integers:3 outside=" + outside);
    problem.in.block_table[2] = -1;
    problem.in.block_table[5] = static_cast<int32_t>(problem.shape.blocks);
    EXPECT_EQ(run("mqa.paged_tiles", problem), "");
  }
}

TEST(Logits, AReplayReadsLengthsKeysAndTableThatChangedSinceItsCapture) {
  for (const std::string& op : {kRagged, kPaged}) {
    LogitsProblem problem(op +
                          "lens=const:40 replays=3 replay_lens=list:200:0:77 launch=graph "
                          "outside=untouched numbers=integers:4");
    Bench bench(kernel(shipped_kernel(problem)), problem, {});
    ASSERT_EQ(bench.prepare(), "");
    ASSERT_EQ(bench.capture(), "");
    EXPECT_EQ(bench.captured_kernels(), 1);
    for (int64_t step = 0; step < 4; ++step) {
      problem.go_to(step);
      ASSERT_EQ(bench.prepare(), "");
      ASSERT_EQ(bench.replay(), "");
      EXPECT_EQ(bench.judge(), "") << step;
    }
  }
}

// What the judge of the tests must see, or they would all pass.
TEST(Logits, ALogitThatIsOneUnitOffIsFound) {
  LogitsProblem problem(kRagged + "lens=const:200 numbers=integers:3 outside=untouched");
  Bench bench(kernel("mqa.tiles"), problem, {});
  ASSERT_EQ(bench.run(), "");
  problem.in.weights[0] += 1;  // the oracle alone sees it
  EXPECT_NE(bench.judge(), "");
}

}  // namespace
}  // namespace exactk::kernels::test
