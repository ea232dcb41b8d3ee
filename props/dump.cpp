#include "props/dump.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <system_error>

#include "oracle/topk_contract.h"
#include "props/npy.h"

namespace exactk::props {
namespace {

using fixtures::Error;

Error write_array(const std::filesystem::path& path, std::span<const int32_t> values,
                  std::span<const int64_t> shape) {
  NpyWriter file(path, NpyType::kInt32, shape);
  file.write(std::as_bytes(values));
  return file.close();
}

// Columns [0, width) of every row; rows are made again where the tensor is not kept.
Error write_logits(const std::filesystem::path& path, const TopkProblem& p,
                   const TopkInputs& inputs) {
  const std::array shape{p.rows, p.width};
  NpyWriter file(path, NpyType::kFloat32, shape);
  std::vector<uint32_t> columns(static_cast<size_t>(p.width));
  for (int64_t row = 0; row < p.rows; ++row) {
    if (inputs.logits.empty()) {
      fixtures::logits_row(p.c, inputs.step, row, inputs.windows[static_cast<size_t>(row)],
                           columns);
    }
    for (int64_t column = 0; !inputs.logits.empty() && column < p.width; ++column) {
      const int64_t at = row * p.row_stride + column * p.c.column_stride;
      columns[static_cast<size_t>(column)] = inputs.logits[static_cast<size_t>(at)];
    }
    file.write(std::as_bytes(std::span(columns)));
  }
  return file.close();
}

Error write_indices(const std::filesystem::path& path, const TopkProblem& p,
                    std::span<const std::byte> indices) {
  const std::array shape{p.rows, p.k};
  NpyWriter file(path, NpyType::kInt32, shape);
  for (int64_t row = 0; row < p.rows; ++row) {
    file.write(
        indices.subspan(static_cast<size_t>(row * p.out_stride * 4), static_cast<size_t>(p.k * 4)));
  }
  return file.close();
}

Error write_lengths(const std::filesystem::path& folder, const TopkProblem& p,
                    const TopkInputs& inputs) {
  std::vector<int64_t> shape{p.rows};
  if (p.prefill) {
    Error error = write_array(folder / "row_starts.npy", inputs.row_starts, shape);
    if (error.empty()) error = write_array(folder / "row_ends.npy", inputs.row_ends, shape);
    return error;
  }
  shape[0] /= p.c.next_n;
  if (p.c.lens_dim == 2) shape.push_back(p.c.next_n);
  return write_array(folder / "seq_lens.npy", inputs.seq_lens, shape);
}

Error write_case(const std::filesystem::path& path, const fixtures::Case& c) {
  std::ofstream file(path);
  file << fixtures::print_case(c) << '\n';
  file.close();
  return file ? "" : fmt::format("{} cannot be written; is there room?", path.string());
}

}  // namespace

void LaunchDump::keep(const Launched& launched) {
  inputs_ = launched.inputs;
  indices_ = launched.after[kIndices];
}

Error LaunchDump::write(const std::filesystem::path& folder) const {
  const auto& inputs = static_cast<const TopkInputs&>(*inputs_);
  std::error_code made;
  std::filesystem::create_directories(folder, made);
  if (made) return fmt::format("{} cannot be made: {}", folder.string(), made.message());
  Error error = write_logits(folder / "logits.npy", problem_, inputs);
  if (error.empty()) error = write_lengths(folder, problem_, inputs);
  if (error.empty()) error = write_indices(folder / "indices.npy", problem_, indices_);
  if (error.empty()) error = write_case(folder / "case.txt", problem_.c);
  return error;
}

std::string LaunchDump::check_line(const std::filesystem::path& folder, uint32_t promised) const {
  const auto file = [&folder](const char* name) { return (folder / name).string(); };
  std::string line =
      fmt::format("exactk check --op {} --logits '{}' --indices '{}'",
                  fixtures::name(problem_.c.op), file("logits.npy"), file("indices.npy"));
  if (problem_.prefill) {
    line += fmt::format(" --row-starts '{}' --row-ends '{}'{}", file("row_starts.npy"),
                        file("row_ends.npy"), problem_.absolute ? " --absolute" : "");
  } else {
    line += fmt::format(" --seq-lens '{}' --next-n {}", file("seq_lens.npy"), problem_.c.next_n);
  }
  line += " --modes set";
  for (const auto mode : {oracle::kPrefix, oracle::kOrdered, oracle::kStable}) {
    if ((promised & mode) != 0) line += fmt::format(",{}", oracle::name(mode));
  }
  return line;
}

}  // namespace exactk::props
