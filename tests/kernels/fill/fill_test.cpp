// A device fills its inputs exactly as the host does, and its checksums are the host's.
#include "kernels/fill/fill.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "fixtures/checksum.h"
#include "fixtures/lengths.h"
#include "fixtures/materialize.h"
#include "kernels/device/buffer.h"
#include "kernels/device/device.h"
#include "kernels/registry.h"
#include "tests/fixtures/some_case.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

using fixtures::Case;

constexpr uint32_t kStale = 0xa5a5a5a5u;  // what device memory holds before

class Fill : public testing::Test {
 protected:
  void SetUp() override { device_ = std::move(*open_device(kDeviceKind)); }

  template <class T>
  GuardedBuffer upload(const std::vector<T>& values) {
    auto buffer = GuardedBuffer::make(*device_, static_cast<int64_t>(values.size() * sizeof(T)));
    EXPECT_TRUE(buffer) << buffer.error();
    EXPECT_TRUE(buffer->upload(std::as_bytes(std::span(values))));
    return std::move(*buffer);
  }

  template <class T>
  std::vector<T> download(const GuardedBuffer& buffer) {
    std::vector<T> values(static_cast<size_t>(buffer.bytes()) / sizeof(T));
    EXPECT_TRUE(device_->synchronize(stream()));
    EXPECT_TRUE(buffer.download(std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(0, buffer.check_guards()->bytes) << "nothing beside the tensor is written";
    return values;
  }

  static LogitsLayout layout(const Case& c) {
    const fixtures::LogitsShape shape = fixtures::logits_shape(c);
    return {shape.rows, shape.width, fixtures::row_stride_elems(c), c.column_stride};
  }
  const FillFunctions& functions() { return target_kernels(kDeviceKind)->fill; }
  void* stream() { return device_->stream(1); }

  std::vector<uint32_t> filled(const Case& c, int64_t step) {
    const GuardedBuffer lengths = upload(fixtures::row_lengths(c, step));
    const GuardedBuffer starts = upload(fixtures::row_starts(c, step));
    const GuardedBuffer logits =
        upload(std::vector<uint32_t>(static_cast<size_t>(fixtures::logits_elems(c)), kStale));
    EXPECT_EQ("", functions().logits(fixtures::pattern_spec(c, step), layout(c),
                                     reinterpret_cast<const int64_t*>(lengths.data()),
                                     reinterpret_cast<const int64_t*>(starts.data()),
                                     reinterpret_cast<uint32_t*>(logits.data()), stream()));
    return download<uint32_t>(logits);
  }

  void expect_filled_as_on_the_host(const Case& c, int64_t step) {
    std::vector<uint32_t> want(static_cast<size_t>(fixtures::logits_elems(c)));
    fixtures::logits_tensor(c, step, fixtures::row_windows(c, step), want);
    const std::vector<uint32_t> got = filled(c, step);
    const auto at = std::mismatch(want.begin(), want.end(), got.begin());
    EXPECT_TRUE(at.first == want.end())
        << fixtures::print_case(c) << " launch " << step << " element " << at.first - want.begin()
        << ": want " << std::hex << *at.first << ", got " << *at.second;
  }

  std::vector<uint64_t> row_sums(const LogitsLayout& shape, const GuardedBuffer& words) {
    const GuardedBuffer sums =
        upload(std::vector<uint64_t>(static_cast<size_t>(shape.rows), uint64_t{kStale}));
    EXPECT_EQ("", functions().row_checksums(shape, reinterpret_cast<const uint32_t*>(words.data()),
                                            reinterpret_cast<uint64_t*>(sums.data()), stream()));
    return download<uint64_t>(sums);
  }

  uint64_t words_sum(const GuardedBuffer& words) {
    const GuardedBuffer sum = upload(std::vector<uint64_t>(1, uint64_t{kStale}));
    EXPECT_EQ("", functions().words_checksum(words.data(), words.bytes() / 4,
                                             reinterpret_cast<uint64_t*>(sum.data()), stream()));
    return download<uint64_t>(sum)[0];
  }

  std::unique_ptr<Device> device_;
};

Case parse_line(const std::string& line) {
  const auto parsed = fixtures::parse_case(line);
  EXPECT_TRUE(parsed) << parsed.error();
  return parsed.value_or(Case{});
}
Case parse(const std::string& words) {
  return parse_line("topk.decode " + words);
}

// A valid argument for the patterns that need one.
std::string pattern_words(const fixtures::PatternInfo& pattern) {
  const bool needs = !pattern.arguments.empty() && pattern.arguments.front() == ':';
  return std::string(pattern.name) + (needs ? ":37" : "");
}

TEST_F(Fill, MakesEveryPatternAsTheHostDoes) {
  for (const fixtures::PatternInfo& pattern : fixtures::pattern_list()) {
    for (const char* shape : {"rows=3 width=700 k=64 lens=list:700:64:0",
                              "rows=2 width=33000 k=512 lens=list:33000:20000"}) {
      expect_filled_as_on_the_host(
          parse(fmt::format("{} pattern={} seed=5", shape, pattern_words(pattern))), 0);
    }
  }
}

TEST_F(Fill, MakesEveryTailAndGapAsTheHostDoes) {
  for (const char* tail : {"win", "nan", "inf", "go_on", "lose"}) {
    for (const char* stride :
         {"", "row_stride=130", "column_stride=3", "column_stride=2 row_stride=300"}) {
      expect_filled_as_on_the_host(
          parse(fmt::format("rows=4 width=100 k=8 lens=list:100:7:0:99 pattern=normal tail={} {}",
                            tail, stride)),
          0);
    }
  }
}

TEST_F(Fill, MakesEveryLengthRuleAsTheHostDoes) {
  for (const char* rule : {"const:300", "ragged", "ramp", "around_k", "zero_mixed", "edges"}) {
    expect_filled_as_on_the_host(
        parse(fmt::format("rows=12 next_n=3 width=1200 k=100 lens={} pattern=boundary_ties:20",
                          rule)),
        0);
  }
}

TEST_F(Fill, MakesRowsThatStartAnywhereAsTheHostDoes) {
  for (const char* starts : {"ragged", "zero", "const:300", "end"}) {
    for (const char* tail : {"win", "go_on"}) {
      expect_filled_as_on_the_host(
          parse_line(fmt::format("topk.prefill rows=9 width=1200 k=100 lens=zero_mixed starts={} "
                                 "tail={} pattern=boundary_ties:20 column_stride=2",
                                 starts, tail)),
          0);
    }
  }
}

TEST_F(Fill, MakesTheRowsOfAChainAsTheHostDoes) {
  const Case c = parse_line(
      "chain.prefill requests=3 query_lens=list:5:0:9 context=900 pattern=normal extra=2 "
      "replays=3");
  for (int64_t step = 0; step <= c.replays; ++step) expect_filled_as_on_the_host(c, step);
  expect_filled_as_on_the_host(parse_line("chain.decode rows=6 next_n=3 width=500"), 0);
}

TEST_F(Fill, FollowsTheChangesOfEveryLaunch) {
  const Case c = parse("rows=6 width=500 k=50 pattern=masked_prefix:100 launch=graph replays=6");
  for (int64_t step = 0; step <= c.replays; ++step) expect_filled_as_on_the_host(c, step);
}

TEST_F(Fill, MakesArbitraryCasesAsTheHostDoes) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Case c = fixtures::small_case(seed);
    c.override_count = 0;
    c.overrides = {};
    expect_filled_as_on_the_host(c, c.replays);
  }
}

TEST_F(Fill, ClampsLengthsToTheWidth) {
  const Case c = parse("rows=2 width=64 k=8 lens=const:64");
  const GuardedBuffer beyond = upload(std::vector<int64_t>{1000, -5});
  const GuardedBuffer logits = upload(std::vector<uint32_t>(128, kStale));
  ASSERT_EQ("", functions().logits(fixtures::pattern_spec(c, 0), layout(c),
                                   reinterpret_cast<const int64_t*>(beyond.data()), nullptr,
                                   reinterpret_cast<uint32_t*>(logits.data()), stream()));
  std::vector<uint32_t> want(128);
  const std::vector<fixtures::RowWindow> clamped = {{0, 64}, {0, 0}};
  fixtures::logits_tensor(c, 0, clamped, want);
  EXPECT_EQ(want, download<uint32_t>(logits));
}

TEST_F(Fill, ClampsStartsToTheWidth) {
  const Case c = parse("rows=3 width=64 k=8 lens=const:64");
  const GuardedBuffer lengths = upload(std::vector<int64_t>{64, 64, 5});
  const GuardedBuffer starts = upload(std::vector<int64_t>{60, 1000, -7});
  const GuardedBuffer logits = upload(std::vector<uint32_t>(192, kStale));
  ASSERT_EQ("", functions().logits(fixtures::pattern_spec(c, 0), layout(c),
                                   reinterpret_cast<const int64_t*>(lengths.data()),
                                   reinterpret_cast<const int64_t*>(starts.data()),
                                   reinterpret_cast<uint32_t*>(logits.data()), stream()));
  std::vector<uint32_t> want(192);
  const std::vector<fixtures::RowWindow> clamped = {{60, 4}, {64, 0}, {0, 5}};
  fixtures::logits_tensor(c, 0, clamped, want);
  EXPECT_EQ(want, download<uint32_t>(logits));
}

TEST_F(Fill, ChecksumsOfRowsAreTheHostS) {
  for (const char* shape :
       {"rows=1 width=1 k=1", "rows=5 width=700 k=64", "rows=3 width=40000 k=64",
        "rows=4 width=100 k=8 column_stride=3 row_stride=400"}) {
    const Case c = parse(shape);
    std::vector<uint32_t> words(static_cast<size_t>(fixtures::logits_elems(c)));
    fixtures::logits_tensor(c, 0, fixtures::row_windows(c, 0), words);
    const GuardedBuffer on_device = upload(words);
    std::vector<uint64_t> want;
    for (int64_t row = 0; row < c.rows; ++row) {
      want.push_back(
          fixtures::checksum(words.data() + row * layout(c).row_stride, c.width, c.column_stride));
    }
    EXPECT_EQ(want, row_sums(layout(c), on_device)) << shape;
    EXPECT_EQ(fixtures::checksum(words.data(), static_cast<int64_t>(words.size())),
              words_sum(on_device))
        << shape;
  }
}

TEST_F(Fill, ChecksumsOfRowsChangeWithAnySingleBit) {
  constexpr int64_t kRows = 2, kWidth = 40;
  const LogitsLayout shape{kRows, kWidth, kWidth, 1};
  const std::vector<uint32_t> words(kRows * kWidth, kStale);
  GuardedBuffer on_device = upload(words);
  const std::vector<uint64_t> before = row_sums(shape, on_device);
  for (size_t place = 0; place < words.size(); place += 3) {
    for (int bit = 0; bit < 32; bit += 5) {
      std::vector<uint32_t> changed = words;
      changed[place] ^= 1u << bit;
      ASSERT_TRUE(on_device.upload(std::as_bytes(std::span(changed))));
      const std::vector<uint64_t> after = row_sums(shape, on_device);
      for (int64_t row = 0; row < kRows; ++row) {
        const bool changed_here = static_cast<int64_t>(place) / kWidth == row;
        EXPECT_EQ(changed_here, before[static_cast<size_t>(row)] != after[static_cast<size_t>(row)])
            << "word " << place << " bit " << bit << " row " << row;
      }
    }
  }
}

TEST_F(Fill, ChecksumsOfRowsDoNotReadGaps) {
  const LogitsLayout shape{2, 3, 10, 2};
  std::vector<uint32_t> words(15, kStale);
  GuardedBuffer on_device = upload(words);
  const std::vector<uint64_t> before = row_sums(shape, on_device);
  for (const size_t gap : {1u, 3u, 5u, 9u, 11u}) words[gap] = 7;
  ASSERT_TRUE(on_device.upload(std::as_bytes(std::span(words))));
  EXPECT_EQ(before, row_sums(shape, on_device));
}

TEST_F(Fill, ALaunchThatIsImpossibleIsReported) {
  const GuardedBuffer sums = upload(std::vector<uint64_t>(1));
  EXPECT_NE("", functions().row_checksums({int64_t{1} << 40, 1, 1, 1}, nullptr,
                                          reinterpret_cast<uint64_t*>(sums.data()), stream()));
}

}  // namespace
}  // namespace exactk::kernels::test
