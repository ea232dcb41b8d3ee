// The attention kernels are right in every form, on every kind of numbers and format of the cache,
// and replayed with other lengths, indices and keys than at capture.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/attention/problem.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

void expect_right(const std::string& text) {
  SCOPED_TRACE(text);
  AttentionCase attention(text);
  for (const std::string_view name : shipped_kernels(attention)) {
    for (const int wave_width : wave_widths()) {
      EXPECT_EQ(run(name, attention, {.wave_width = wave_width}), "") << name;
    }
  }
}

const std::string kPrefill = "attention.sparse_prefill rows=5 k=150 context=200 dim=72 ";
const std::string kDecode =
    "attention.sparse_decode rows=6 next_n=2 k=150 context=200 block_size=16 ";
const std::string kCaches[] = {"cache=bf16 dim=72 dim_v=40", "cache=v32 dim=320 rope=64 dim_v=256",
                               "cache=v4 dim=192 rope=64"};

TEST(Attention, EveryVariantAndPatternOfIndicesIsRight) {
  for (const std::string variant : {"dense", "full", "ragged"}) {
    for (const std::string indices :
         {"prefix", "stale", "interior:300", "hostile:300", "edges", "repeated"}) {
      const std::string form = "variant=" + variant + " indices=" + indices;
      expect_right(kPrefill + "dim_v=40 lens=edges " + form);
      expect_right(kDecode + "cache=v4 extra_k=70 lens=zero_mixed " + form);
    }
  }
}

TEST(Attention, EveryFormatFlavourAndScaleOfTheCacheIsRight) {
  for (const std::string& cache : kCaches) {
    for (const std::string fp8 : {"fn", "fnuz"}) {
      for (const std::string scales : {"ones", "powers", "uniform", "hostile"}) {
        expect_right(kDecode + cache + " fp8=" + fp8 + " scales=" + scales +
                     " extra_k=30 extra_fp8=" + (fp8 == "fn" ? "fnuz" : "fn"));
      }
    }
  }
}

TEST(Attention, EveryKindOfNumbersIsRight) {
  for (const std::string numbers : {"integers:16", "uniform", "wide", "bytes", "apart", "ties"}) {
    for (const std::string rest : {"", " specials=100"}) {
      expect_right(kPrefill + "dim_v=72 numbers=" + numbers + rest);
      for (const std::string& cache : kCaches) {
        expect_right(kDecode + cache + " numbers=" + numbers + rest);
      }
    }
  }
}

TEST(Attention, EverySinkIsRight) {
  for (const std::string sink : {"none", "finite", "low", "high", "mixed"}) {
    for (const std::string rest : {" lens=zero_mixed", " specials=300"}) {
      expect_right(kPrefill + "dim_v=40 heads=5 sink=" + sink + rest);
      expect_right(kDecode + "cache=v4 heads=5 sink=" + sink + rest);
    }
  }
}

TEST(Attention, EveryShapeIsRight) {
  for (const std::string shape :
       {"dim=1 dim_v=1", "dim=33 dim_v=33", "dim=128 dim_v=1", "dim=129 dim_v=129",
        "dim=576 dim_v=512", "dim=1024 dim_v=1024"}) {
    expect_right(
        "attention.sparse_prefill rows=2 k=70 context=80 heads=2 out_stride=2100 misalign=3 " +
        shape);
    expect_right("attention.sparse_decode rows=2 k=70 context=80 heads=2 rope=0 " + shape);
  }
  for (const std::string k : {"1", "63", "64", "65", "128", "129", "300"}) {
    expect_right("attention.sparse_prefill rows=2 heads=1 context=512 lens=edges k=" + k);
    expect_right("attention.sparse_decode rows=2 heads=1 context=512 extra_k=1 lens=edges k=" + k);
  }
}

TEST(Attention, ReplaysWithOtherLengthsIndicesAndKeys) {
  for (const std::string& base : {kPrefill + "dim_v=40 ", kDecode + "cache=v4 extra_k=70 "}) {
    for (const std::string variant : {"dense", "full", "ragged"}) {
      AttentionCase attention(base + "variant=" + variant + " launch=graph replays=3");
      for (const std::string_view name : shipped_kernels(attention)) {
        SCOPED_TRACE(name);
        attention.go_to(0);
        Bench bench(kernel(name), attention, {});
        ASSERT_EQ("", bench.prepare());
        ASSERT_EQ("", bench.capture());
        EXPECT_EQ(name == "attention.decode_split" ? 2 : 1, bench.captured_kernels());
        for (const int64_t step : {0, 1, 2, 3}) {
          attention.go_to(step);
          ASSERT_EQ("", bench.prepare());
          ASSERT_EQ("", bench.replay());
          EXPECT_EQ("", bench.judge()) << step;
        }
      }
    }
  }
}

// -1 and whatever else stands behind a row's entries are never looked at: the same bytes come out.
TEST(Attention, StaleTailsLeaveNoTrace) {
  for (const std::string& base :
       {kPrefill + "dim_v=40 numbers=uniform ", kDecode + "cache=v4 extra_k=70 "}) {
    AttentionCase attention(base + "lens=const:40 indices=stale replays=1 change=tail");
    AttentionCase ended(base + "lens=const:40 indices=prefix");
    for (const std::string_view name : shipped_kernels(attention)) {
      SCOPED_TRACE(name);
      attention.go_to(0);
      const std::vector<int32_t> before = attention.step.in.main.indices;
      ASSERT_EQ("", run(name, attention));
      const auto first = attention.answer();
      attention.go_to(1);
      ASSERT_NE(before, attention.step.in.main.indices);
      ASSERT_EQ("", run(name, attention));
      EXPECT_EQ(first, attention.answer());
      ASSERT_EQ("", run(name, ended));
      EXPECT_EQ(first, ended.answer());
    }
  }
}

// A judge that cannot see the loss of one entry would let wrong indices pass.
TEST(Attention, ApartNumbersLeaveNoEntryUnseen) {
  for (const std::string rest : {"sparse_prefill", "sparse_decode cache=v32 dim=576 dim_v=512",
                                 "sparse_decode cache=v4 dim=512 dim_v=512 extra_k=64"}) {
    AttentionCase attention("attention." + rest +
                            " rows=1 heads=2 context=4096 k=2048 lens=const:2048 numbers=apart");
    for (const std::string_view name : shipped_kernels(attention)) {
      ASSERT_EQ("", run(name, attention)) << rest;
      EXPECT_LE(2 * 2048, attention.judgement().entries);
      EXPECT_EQ(0, attention.judgement().blind_entries) << rest << " by " << name;
    }
  }
}

}  // namespace
}  // namespace exactk::kernels::test
