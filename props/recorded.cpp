#include "props/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

#include "oracle/row_length.h"
#include "props/judge_launch.h"
#include "props/npy.h"
#include "props/topk_report.h"

namespace exactk::props {
namespace {

using fixtures::Error;
using fixtures::Result;

tl::unexpected<Error> refuse(Error sentence) {
  return tl::unexpected(std::move(sentence));
}

// What is wrong with one file, as "F.npy: ...".
tl::unexpected<Error> refuse(const NpyFile& file, const Error& error) {
  return refuse(fmt::format("{}: {}", file.path().string(), error));
}

std::string type_and_shape(const NpyFile& file) {
  return fmt::format("{} {}", name(file.header().type), shape_text(file.header().shape));
}

// Slots as the judge reads them. What does not fit 32 bits becomes a number that no row has: rows
// have at most INT32_MAX columns.
int32_t slot_of(int64_t index) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(index, std::numeric_limits<int32_t>::min(), INT32_MAX));
}

class Rows : public RecordedRows {
 public:
  Rows(NpyFile logits, NpyFile indices, std::vector<fixtures::RowWindow> windows)
      : logits_(std::move(logits)), indices_(std::move(indices)), windows_(std::move(windows)) {}

  const NpyFile& indices() const { return indices_; }

  std::span<const uint32_t> visible(int64_t row, std::vector<uint32_t>& scratch) const override {
    let_go_before(row);
    const fixtures::RowWindow window = windows_[static_cast<size_t>(row)];
    const size_t begin = static_cast<size_t>(row * logits_.header().shape[1] + window.start);
    const size_t length = static_cast<size_t>(window.length);
    if (logits_.header().type == NpyType::kFloat32)
      return logits_.elems<uint32_t>().subspan(begin, length);
    const auto half = logits_.elems<uint16_t>().subspan(begin, length);
    scratch.resize(length);
    const bool ieee = logits_.header().type == NpyType::kFloat16;
    std::transform(half.begin(), half.end(), scratch.begin(),
                   ieee ? float32_of_float16 : float32_of_bfloat16);
    return scratch;
  }

 private:
  // Empty rows are not asked for, so the row asked for before may be further up.
  void let_go_before(int64_t row) const {
    int64_t last = row - 1;
    while (last > 0 && windows_[static_cast<size_t>(last)].length == 0) --last;
    for (const NpyFile* file : {&logits_, &indices_}) {
      const int64_t columns = file->header().shape[1];
      file->done_before(row * columns, (row - last) * columns);
    }
  }

  NpyFile logits_;
  NpyFile indices_;
  std::vector<fixtures::RowWindow> windows_;
};

Result<NpyFile> open_logits(const RecordedFiles& files) {
  Result<NpyFile> file = NpyFile::open(files.logits);
  if (!file) return file;
  const NpyType type = file->header().type;
  const bool number = type == NpyType::kFloat32 || type == NpyType::kFloat16;
  if (file->header().shape.size() != 2 || (!number && type != NpyType::kUint16)) {
    return refuse(*file, fmt::format("is {}; logits are [rows, width] of float32, float16, or "
                                     "uint16 with --bf16",
                                     type_and_shape(*file)));
  }
  if (type == NpyType::kUint16 && !files.bfloat16)
    return refuse(*file, "is uint16; say --bf16 if these are the bits of bfloat16 logits");
  if (number && files.bfloat16) {
    return refuse(*file, fmt::format("is {}, and --bf16 is for uint16; leave it out", name(type)));
  }
  if (file->header().shape[1] > fixtures::kWidthMax) {
    return refuse(*file, fmt::format("has {} columns; 32-bit indices reach {}, so judge slices",
                                     file->header().shape[1], fixtures::kWidthMax));
  }
  return file;
}

Result<NpyFile> open_indices(const RecordedFiles& files, int64_t rows) {
  Result<NpyFile> file = NpyFile::open(files.indices);
  if (!file) return file;
  const NpyType type = file->header().type;
  const bool number = type == NpyType::kInt32 || type == NpyType::kInt64;
  if (file->header().shape.size() != 2 || !number) {
    return refuse(*file, fmt::format("is {}; indices are [rows, k] of int32 or int64",
                                     type_and_shape(*file)));
  }
  if (file->header().shape[0] != rows) {
    return refuse(*file, fmt::format("has indices of {} rows, and the logits have {} rows; record "
                                     "both of one launch",
                                     file->header().shape[0], rows));
  }
  return file;
}

// int32 of one of the shapes that are allowed, said as `wanted`.
Result<std::vector<int32_t>> read_lengths(const std::filesystem::path& path,
                                          const std::vector<std::vector<int64_t>>& shapes,
                                          const std::string& wanted) {
  const Result<NpyFile> file = NpyFile::open(path);
  if (!file) return refuse(file.error());
  const bool fits = std::find(shapes.begin(), shapes.end(), file->header().shape) != shapes.end();
  if (!fits || file->header().type != NpyType::kInt32)
    return refuse(*file, fmt::format("is {}; want int32 {}", type_and_shape(*file), wanted));
  const auto elems = file->elems<int32_t>();
  return std::vector<int32_t>(elems.begin(), elems.end());
}

Error read_seq_lens(const RecordedFiles& files, TopkProblem& p, TopkInputs& inputs) {
  const int64_t next_n = files.next_n;
  if (p.rows % next_n != 0) {
    return fmt::format(
        "{}: has {} rows, not a multiple of next_n {}; give the --next-n of the "
        "launch",
        files.logits.string(), p.rows, next_n);
  }
  const int64_t requests = p.rows / next_n;
  auto lengths = read_lengths(
      files.seq_lens, {{requests}, {requests, next_n}, {p.rows}},
      fmt::format("[{0}], one per request of {1} rows, or [{0}, {1}] or [{2}], one per row",
                  requests, next_n, p.rows));
  if (!lengths) return lengths.error();
  inputs.seq_lens = std::move(*lengths);
  p.c.next_n = next_n;
  p.c.lens_dim = std::ssize(inputs.seq_lens) == requests ? 1 : 2;
  for (int64_t row = 0; row < p.rows; ++row) {
    const int64_t length = oracle::row_length({p.rows, next_n, p.c.lens_dim}, inputs.seq_lens, row);
    if (length > p.width) {
      return fmt::format(
          "{}: row {} has length {}, and the logits have {} columns; give the "
          "lengths that the kernel got, and its --next-n",
          files.seq_lens.string(), row, length, p.width);
    }
    inputs.windows.push_back({0, length});
  }
  return "";
}

Error read_bounds(const RecordedFiles& files, const TopkProblem& p, TopkInputs& inputs) {
  const std::string wanted = fmt::format("[{}], one per row", p.rows);
  auto starts = read_lengths(files.row_starts, {{p.rows}}, wanted);
  if (!starts) return starts.error();
  auto ends = read_lengths(files.row_ends, {{p.rows}}, wanted);
  if (!ends) return ends.error();
  inputs.row_starts = std::move(*starts);
  inputs.row_ends = std::move(*ends);
  for (int64_t row = 0; row < p.rows; ++row) {
    const int32_t start = inputs.row_starts[static_cast<size_t>(row)];
    const int32_t end = inputs.row_ends[static_cast<size_t>(row)];
    const int64_t length = oracle::bounded_length(start, end);
    if (length > 0 && (start < 0 || end > p.width)) {
      return fmt::format(
          "{}: row {} goes from column {} to {}, and the logits have {} columns; "
          "give the bounds that the kernel got",
          files.row_ends.string(), row, start, end, p.width);
    }
    inputs.windows.push_back({start, length});
  }
  return "";
}

// The files as the judge of launches takes them.
struct Recording {
  TopkProblem problem;
  TopkInputs inputs;
  std::shared_ptr<const Rows> rows;
  std::vector<int32_t> narrowed;  // indices of 64 bits
  std::string what;

  std::span<const int32_t> slots() const {
    const NpyFile& indices = rows->indices();
    return indices.header().type == NpyType::kInt32 ? indices.elems<int32_t>()
                                                    : std::span<const int32_t>(narrowed);
  }
};

std::vector<int32_t> narrow(const NpyFile& indices) {
  std::vector<int32_t> slots;
  if (indices.header().type != NpyType::kInt64) return slots;
  slots.reserve(static_cast<size_t>(indices.header().elems));
  for (const int64_t index : indices.elems<int64_t>()) {
    slots.push_back(slot_of(index));
    indices.done_before(std::ssize(slots), 1);
  }
  return slots;
}

Result<Recording> open_recording(const RecordedFiles& files) {
  Result<NpyFile> logits = open_logits(files);
  if (!logits) return refuse(logits.error());
  Recording r;
  TopkProblem& p = r.problem;
  p.rows = logits->header().shape[0];
  p.width = logits->header().shape[1];
  Result<NpyFile> indices = open_indices(files, p.rows);
  if (!indices) return refuse(indices.error());
  p.k = indices->header().shape[1];
  p.row_stride = p.width;
  p.out_stride = p.k;
  p.prefill = files.op == fixtures::Op::kTopkPrefill;
  p.absolute = files.absolute;
  // For messages; which row beside the first is judged twice follows the seed.
  p.c = fixtures::default_case(files.op);
  p.c.rows = p.rows;
  p.c.width = p.width;
  p.c.k = p.k;
  p.c.seed = static_cast<uint64_t>(p.rows / 2);
  const Error error =
      p.prefill ? read_bounds(files, p, r.inputs) : read_seq_lens(files, p, r.inputs);
  if (!error.empty()) return refuse(error);
  r.what = fmt::format("{} rows of {} {} logits, k {}", p.rows, p.width,
                       files.bfloat16 ? "bfloat16" : name(logits->header().type), p.k);
  r.narrowed = narrow(*indices);
  r.rows = std::make_shared<Rows>(std::move(*logits), std::move(*indices), r.inputs.windows);
  r.inputs.recorded = r.rows;
  return r;
}

}  // namespace

// A float16 denormal is a float32 normal: its leading one moves to the hidden bit.
uint32_t float32_of_float16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  constexpr uint32_t kRebias = 127 - 15;
  if (exponent == 0x1f) return sign | 0x7f800000u | (fraction << 13);
  if (exponent != 0) return sign | ((exponent + kRebias) << 23) | (fraction << 13);
  if (fraction == 0) return sign;
  const uint32_t shift = static_cast<uint32_t>(std::countl_zero(fraction)) - 21;  // to bit 10
  return sign | ((kRebias + 1 - shift) << 23) | (((fraction << shift) & 0x3ffu) << 13);
}

Result<RecordedFindings> judge_recorded(const RecordedFiles& files,
                                        oracle::ContractModes promised) {
  const Result<Recording> recording = open_recording(files);
  if (!recording) return refuse(recording.error());
  const TopkProblem& p = recording->problem;
  const TopkInputs& inputs = recording->inputs;
  RecordedFindings result;
  result.what = recording->what;
  if (p.rows == 0 || p.k == 0) return result;
  const std::span<const int32_t> slots = recording->slots();
  const LaunchJudgement judgement = judge_launch(p, inputs, slots, {}, promised);
  result.failing_rows = judgement.failing_rows;
  Findings& found = result.found;
  found.rows = judgement.rows;
  found.rows_selected = judgement.rows_selected;
  found.rows_cut = judgement.rows_cut;
  for (const fixtures::RowWindow& window : inputs.windows) found.elements += window.length;
  if (judgement.ok()) return result;
  const TopkEvidence evidence{p, 0, 0, judgement, inputs, false, inputs, slots};
  found.why = diagnose(evidence);
  found.anatomy = topk_anatomy(evidence);
  found.broke = topk_broke(evidence);
  found.faults = judgement.faults;
  return result;
}

}  // namespace exactk::props
