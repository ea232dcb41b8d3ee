#include "props/recorded_plan.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "fixtures/counter_hash.h"
#include "props/npy.h"

namespace exactk::props {
namespace {

using fixtures::Error;

// Reads files until one of them cannot be read.
class Reader {
 public:
  std::vector<int32_t> read(const std::filesystem::path& path) {
    if (!error_.empty()) return {};
    const auto file = NpyFile::open(path);
    if (!file) {
      error_ = file.error();
      return {};
    }
    if (file->header().type != NpyType::kInt32) {
      error_ = fmt::format("{}: is {} {}; arrays of a plan are int32", path.string(),
                           name(file->header().type), shape_text(file->header().shape));
      return {};
    }
    const auto elems = file->elems<int32_t>();
    return {elems.begin(), elems.end()};
  }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

// Any two positions differ in value, and nearly so in weight.
oracle::PlanKey key_at(int64_t row, int64_t position) {
  const uint64_t bits =
      fixtures::hash_pair(static_cast<uint64_t>(row), static_cast<uint64_t>(position));
  return {static_cast<int32_t>(bits % 9), static_cast<int32_t>(bits >> 44)};
}

// Query rows of a step, and pairs of a row and a key, that are walked in seconds.
constexpr int64_t kRowsMax = int64_t{1} << 24;
constexpr int64_t kPairsMax = int64_t{1} << 31;

// The error is one sentence.
Error too_large(const oracle::WorkPlanInput& input, const oracle::WorkPlanView& plan,
                const oracle::WorkPlanJudgement& judged) {
  const int64_t pairs = oracle::pairs_directly(input);
  if (pairs > kPairsMax)
    return fmt::format("the step has {} pairs of a query row and a key; at most {} can be judged",
                       pairs, kPairsMax);
  // Of a right plan each partial result has a key of its own, so it walks at most twice as far.
  const int64_t by_plan = oracle::pairs_by_plan(input, plan);
  if (judged.ok() || by_plan <= 2 * kPairsMax) return "";
  return fmt::format(
      "the works read {} pairs of a query row and a key, too many to run, where the step has {}; "
      "the first fault of the plan: {}",
      by_plan, pairs, judged.problems.front().what);
}

}  // namespace

fixtures::Result<RecordedPlanFindings> judge_recorded_plan(const RecordedPlanFiles& files) {
  Reader reader;
  const auto qo_indptr = reader.read(files.qo_indptr);
  const auto kv_indptr = reader.read(files.kv_indptr);
  const auto work_indptr = reader.read(files.work_indptr);
  const auto work_info = reader.read(files.work_info);
  const auto reduce_indptr = reader.read(files.reduce_indptr);
  const auto reduce_final_map = reader.read(files.reduce_final_map);
  const auto reduce_partial_map = reader.read(files.reduce_partial_map);
  if (!reader.error().empty()) return tl::unexpected(reader.error());
  const oracle::WorkPlanInput input{qo_indptr,       kv_indptr,     files.granularity,
                                    files.tile_rows, files.workers, files.partials_max};
  const oracle::WorkPlanView plan{work_indptr, work_info, reduce_indptr, reduce_final_map,
                                  reduce_partial_map};
  if (!qo_indptr.empty() && qo_indptr.back() > kRowsMax)
    return tl::unexpected(fmt::format("qo_indptr has {} query rows; at most {} can be judged",
                                      qo_indptr.back(), kRowsMax));
  RecordedPlanFindings found;
  found.judged = oracle::judge_work_plan(input, plan);
  if (!found.judged.invalid.empty()) return tl::unexpected(found.judged.invalid);
  if (Error error = too_large(input, plan, found.judged); !error.empty())
    return tl::unexpected(std::move(error));
  const auto want = oracle::attend_directly(input, key_at);
  const auto got = oracle::attend_by_plan(input, plan, key_at);
  found.rows = std::ssize(want);
  for (size_t row = 0; row < want.size(); ++row) found.wrong_rows += want[row] != got[row];
  return found;
}

}  // namespace exactk::props
