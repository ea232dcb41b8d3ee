// Both planners give the same bytes, in every array and behind what they write, and the plan keeps
// the rules of every plan and deals the units as kernels/metadata/plan.h says.
#include "kernels/metadata/plan.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernels/device/buffer.h"
#include "kernels/registry.h"
#include "oracle/work_plan.h"
#include "tests/kernels/test_device.h"

namespace exactk::kernels::test {
namespace {

using Ints = std::vector<int32_t>;
using metadata::PlanArrays;
using metadata::PlanShape;

constexpr int32_t kStale = -1515870811;  // what the arrays hold before

struct Plan {
  Ints work_indptr, work_info, reduce_indptr, reduce_final_map, reduce_partial_map;

  std::array<Ints*, 5> arrays() {
    return {&work_indptr, &work_info, &reduce_indptr, &reduce_final_map, &reduce_partial_map};
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

Plan stale_plan(const PlanShape& shape) {
  const metadata::PlanSizes sizes = metadata::plan_sizes(shape.rows_max, shape.workers);
  const auto stale = [](int64_t elements) { return Ints(static_cast<size_t>(elements), kStale); };
  return {stale(sizes.work_indptr), stale(sizes.work_info), stale(sizes.reduce_indptr),
          stale(sizes.reduce_final_map), stale(sizes.reduce_partial_map)};
}

Ints sums_of(const Ints& lengths) {
  Ints sums{0};
  for (const int32_t length : lengths) sums.push_back(sums.back() + length);
  return sums;
}

PlanShape shape_of(const Ints& lengths, int64_t workers, int64_t heads = 16) {
  const auto rows = static_cast<int64_t>(lengths.size());
  return {rows, rows + 3, workers, heads};
}

Plan serial(const PlanShape& shape, const Ints& lengths) {
  Plan plan = stale_plan(shape);
  EXPECT_EQ("", metadata::plan_serially(
                    shape, sums_of(lengths),
                    {plan.work_indptr.data(), plan.work_info.data(), plan.reduce_indptr.data(),
                     plan.reduce_final_map.data(), plan.reduce_partial_map.data()}));
  return plan;
}

class Planners : public testing::Test {
 protected:
  void SetUp() override { device_ = std::move(*open_device(kDeviceKind)); }

  GuardedBuffer upload(const Ints& values) {
    auto buffer = GuardedBuffer::make(*device_, std::ssize(values) * 4);
    EXPECT_TRUE(buffer) << buffer.error();
    EXPECT_TRUE(buffer->upload(std::as_bytes(std::span(values))));
    return std::move(*buffer);
  }
  static int32_t* pointer(const GuardedBuffer& buffer) {
    return reinterpret_cast<int32_t*>(buffer.data());
  }

  // Arrays on the device, and the plan of `lengths` in them: now, or whenever a graph is replayed.
  struct OnDevice {
    std::vector<GuardedBuffer> arrays;
    GuardedBuffer kv_indptr;
  };
  OnDevice enqueue(const PlanShape& shape, const Ints& lengths) {
    std::vector<GuardedBuffer> arrays;
    Plan stale = stale_plan(shape);
    for (const Ints* array : stale.arrays()) arrays.push_back(upload(*array));
    OnDevice on{std::move(arrays), upload(sums_of(lengths))};
    launch(shape, on);
    return on;
  }
  void launch(const PlanShape& shape, const OnDevice& on) {
    EXPECT_EQ("", target_kernels(kDeviceKind)
                      ->metadata.plan(
                          shape, pointer(on.kv_indptr),
                          {pointer(on.arrays[0]), pointer(on.arrays[1]), pointer(on.arrays[2]),
                           pointer(on.arrays[3]), pointer(on.arrays[4])},
                          device_->stream(1)));
  }
  Plan download(const PlanShape& shape, const OnDevice& on) {
    const auto done = device_->synchronize(device_->stream(1));
    EXPECT_TRUE(done) << done.error();
    Plan plan = stale_plan(shape);
    for (size_t i = 0; i < on.arrays.size(); ++i) {
      Ints& values = *plan.arrays()[i];
      EXPECT_TRUE(on.arrays[i].download(std::as_writable_bytes(std::span(values))));
      EXPECT_EQ(0, on.arrays[i].check_guards()->bytes) << "nothing beside array " << i;
    }
    return plan;
  }

  void expect_equal_and_right(const PlanShape& shape, const Ints& lengths) {
    const std::string what = fmt::format("workers {}, heads {}, {} rows: {}", shape.workers,
                                         shape.heads, shape.rows, fmt::join(lengths, " "));
    const Plan want = serial(shape, lengths);
    EXPECT_EQ(want, download(shape, enqueue(shape, lengths))) << what;
    Ints qo_indptr(lengths.size() + 1);
    std::iota(qo_indptr.begin(), qo_indptr.end(), 0);
    const Ints kv_indptr = sums_of(lengths);
    const int64_t turns = (shape.heads + 15) / 16;
    const int64_t running = std::max<int64_t>(shape.workers / turns, 1);
    const oracle::WorkPlanInput input{qo_indptr, kv_indptr, 16,
                                      1,         running,   2 * (shape.workers - 1)};
    const auto judged =
        oracle::judge_work_plan(input, {want.work_indptr, want.work_info, want.reduce_indptr,
                                        want.reduce_final_map, want.reduce_partial_map});
    EXPECT_EQ("", judged.invalid) << what;
    if (!judged.problems.empty()) ADD_FAILURE() << what << ": " << judged.problems.front().what;
    expect_shares(shape, lengths, running, want);
  }

  // Every worker but the last ones has exactly its share of the units.
  static void expect_shares(const PlanShape& shape, const Ints& lengths, int64_t running,
                            const Plan& plan) {
    int64_t left = 0;
    for (const int32_t length : lengths) left += std::max((length + 15) / 16, 1);
    const int64_t share = std::max<int64_t>((left + running - 1) / running, 1);
    for (int64_t worker = 0; worker < shape.workers; ++worker) {
      const auto w = static_cast<size_t>(worker);
      int64_t units = 0;
      for (int32_t i = plan.work_indptr[w]; i < plan.work_indptr[w + 1]; ++i) {
        const auto* work = plan.work_info.data() + i * 8;
        units += std::max((work[5] - work[4] + 15) / 16, 1);
      }
      EXPECT_EQ(worker < running ? std::min(share, left) : 0, units) << "worker " << worker;
      left -= units;
    }
  }

  std::unique_ptr<Device> device_;
};

// Four rows in units of 16: 3, 1 (the empty one is written, too), 3 and 1, together 8. Four workers
// take 2 units each, so the line is cut at the units 2, 4 and 6: within row 0, before row 2, and
// within row 2.
TEST_F(Planners, GiveTheOneDerivedByHand) {
  const Ints lengths{40, 0, 33, 16};
  const PlanShape shape{.rows = 4, .rows_max = 5, .workers = 4, .heads = 16};
  Plan want = stale_plan(shape);
  want.work_indptr = {0, 1, 3, 4, 6};
  const Ints works{0, 0,  0, 1, 0,  32, 8, 0,  //
                   0, 1,  0, 1, 32, 40, 0, 0,  //
                   1, -1, 1, 2, 40, 40, 0, 0,  //
                   2, 2,  2, 3, 40, 72, 1, 0,  //
                   2, 3,  2, 3, 72, 73, 0, 0,  //
                   3, -1, 3, 4, 73, 89, 0, 0};
  std::copy(works.begin(), works.end(), want.work_info.begin());
  want.reduce_indptr = {0, 2, 2, 4, 4, 4};
  want.reduce_final_map = {0, 1, 1, 2, 2, 3, 3, 4, kStale, kStale};
  want.reduce_partial_map = {0, 1, 2, 3, kStale, kStale};
  EXPECT_EQ(want, serial(shape, lengths));
  EXPECT_EQ(want, download(shape, enqueue(shape, lengths)));
}

TEST_F(Planners, AgreeAtTheEdges) {
  for (const int64_t workers : {1, 2, 3, 7, 64, 304}) {
    for (const int64_t heads : {1, 16, 17, 32, 128, 5000}) {
      for (const Ints& lengths :
           {Ints{}, Ints{0}, Ints{0, 0, 0}, Ints{1}, Ints{16}, Ints{17}, Ints{2048},
            Ints{15, 16, 17, 0, 31, 32, 33}, Ints{0, 0, 2048, 0, 0, 5}, Ints{2048, 2048, 1}}) {
        expect_equal_and_right(shape_of(lengths, workers, heads), lengths);
      }
    }
  }
}

// The kernel goes over the rows in rounds of 256.
TEST_F(Planners, AgreeWhereTheRowsTakeSeveralRounds) {
  for (const size_t rows : {255, 256, 257, 513, 1024}) {
    for (const int64_t workers : {1, 5, 64, 304}) {
      Ints lengths(rows);
      for (size_t t = 0; t < rows; ++t)
        lengths[t] = static_cast<int32_t>(t * t % 11 == 0 ? 0 : t * 37 % 300);
      expect_equal_and_right(shape_of(lengths, workers), lengths);
    }
  }
}

TEST_F(Planners, AgreeAtEveryWaveWidthAndSchedule) {
  if (!kOnHost) GTEST_SKIP() << "a GPU has one wave width and its own schedule";
  Ints lengths(300);
  for (size_t t = 0; t < lengths.size(); ++t) lengths[t] = static_cast<int32_t>(t * 53 % 211);
  for (const int wave : wave_widths()) {
    for (const uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7}) {
      ASSERT_TRUE(device_->configure({.wave_width = wave, .schedule_seed = seed, .workers = 1}));
      expect_equal_and_right(shape_of(lengths, 64), lengths);
    }
  }
}

TEST_F(Planners, FillTheirArraysToTheLastElementAndNotBeyond) {
  // Three rows of 4 units and four workers, 3 units each: every boundary is within a row.
  const Ints lengths(3, 64);
  const PlanShape shape{.rows = 3, .rows_max = 3, .workers = 4, .heads = 16};
  expect_equal_and_right(shape, lengths);
  const Plan full = serial(shape, lengths);
  EXPECT_EQ(std::ssize(full.work_info), full.work_indptr.back() * metadata::kWorkColumns);
  EXPECT_EQ(std::ssize(full.reduce_partial_map), full.reduce_indptr.back());
  EXPECT_EQ(0, std::count(full.reduce_partial_map.begin(), full.reduce_partial_map.end(), kStale));
}

TEST_F(Planners, AreReadAgainAtEveryReplayOfAGraph) {
  const Ints first{40, 0, 33, 16}, then{0, 100, 7, 0};
  const Ints then_sums = sums_of(then);
  const PlanShape shape = shape_of(first, 8);
  OnDevice on = enqueue(shape, first);
  ASSERT_TRUE(device_->synchronize(device_->stream(1)));
  ASSERT_TRUE(device_->begin_capture(device_->stream(1)));
  launch(shape, on);
  ASSERT_TRUE(device_->end_capture(device_->stream(1)));
  EXPECT_EQ(1, device_->graph_nodes().kernels);
  EXPECT_EQ(1, device_->graph_nodes().all());
  ASSERT_TRUE(on.kv_indptr.upload(std::as_bytes(std::span(then_sums))));
  Plan stale = stale_plan(shape);
  for (size_t i = 0; i < on.arrays.size(); ++i)
    ASSERT_TRUE(on.arrays[i].upload(std::as_bytes(std::span(*stale.arrays()[i]))));
  ASSERT_TRUE(device_->replay(device_->stream(1)));
  EXPECT_EQ(serial(shape, then), download(shape, on));
}

TEST_F(Planners, RefuseWhatIsNoPlanWithTheNumbers) {
  for (const auto& [shape, words] :
       {std::pair{PlanShape{5, 4, 1, 16}, "5 rows does not fit arrays for 4"},
        std::pair{PlanShape{-1, 4, 1, 16}, "-1 rows"},
        std::pair{PlanShape{1, 4, 0, 16}, "got 0 and 16"},
        std::pair{PlanShape{1, 4, 1, 0}, "got 1 and 0"}}) {
    const std::string host = metadata::plan_serially(shape, Ints{0, 1}, {});
    EXPECT_NE(std::string::npos, host.find(words)) << host;
    EXPECT_EQ(host, target_kernels(kDeviceKind)->metadata.plan(shape, nullptr, {}, nullptr));
  }
}

}  // namespace
}  // namespace exactk::kernels::test
