#include "oracle/judge.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <vector>

#include "oracle/row_length.h"

namespace exactk::oracle {
namespace {

constexpr int64_t kRowsShown = 3;
constexpr int64_t kSlotsShown = 5;
constexpr int64_t kMissingShown = 5;

template <typename... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// The visible columns of a row, and what its indices count from.
struct Window {
  int64_t start = 0;
  int64_t length = 0;
  int64_t index_base = 0;
};

std::string shape_problem(const LogitsView& l, const IndicesView& i) {
  if (l.rows < 0 || l.width < 0 || l.row_stride < 0 || l.column_stride < 1) {
    return sentence("logits of ", l.rows, " rows and width ", l.width, " with row stride ",
                    l.row_stride, " and column stride ", l.column_stride,
                    "; give rows, width and row stride of at least 0, column stride of at least 1");
  }
  if (i.k < 0 || (l.rows > 1 && i.row_stride < i.k)) {
    return sentence("indices of k ", i.k, " with row stride ", i.row_stride,
                    "; give k of at least 0 and a row stride of at least k");
  }
  if (i.data == nullptr && l.rows > 0 && i.k > 0) return "indices are null; give [rows, k] of them";
  return "";
}

std::string promise_problem(ContractModes promised) {
  const ContractModes others = promised & ~ContractModes{kSet | kPrefix | kOrdered | kStable};
  if (others == 0) return "";
  std::string names;
  for (const ContractMode mode : {kRepeatable, kKernelsOnly}) {
    if ((others & mode) != 0) names += sentence(names.empty() ? "" : ", ", name(mode));
  }
  return sentence("one answer can't show the promise ", names.empty() ? "of unknown modes" : names,
                  "; give set, prefix, ordered or stable");
}

std::string window_problem(const LogitsView& logits, const std::vector<Window>& windows) {
  for (size_t row = 0; row < windows.size(); ++row) {
    const auto& [start, length, base] = windows[row];
    if (length == 0) continue;
    if (logits.data == nullptr) return "logits are null; give [rows, width] of them";
    if (start < 0 || length > logits.width - start) {
      return sentence("row ", row, " sees columns ", start, " to ", start + length,
                      ", beyond the width ", logits.width, "; a row must lie within the logits");
    }
  }
  return "";
}

AnswerJudgement invalid(const std::string& problem) {
  AnswerJudgement judgement;
  judgement.text = "can't be judged: " + problem;
  return judgement;
}

std::string names_of(FaultSet faults) {
  std::string names;
  for (int kind = 0; kind < kFaultKinds; ++kind) {
    if (!faults.has(static_cast<FaultKind>(kind))) continue;
    names += sentence(names.empty() ? "" : ", ", name(static_cast<FaultKind>(kind)));
  }
  return names;
}

std::string names_of(ContractModes broken) {
  std::string names;
  for (const ContractMode mode : {kSet, kPrefix, kOrdered, kStable}) {
    if ((broken & mode) != 0) names += sentence(names.empty() ? "" : ", ", name(mode));
  }
  return names;
}

// Of a failing row; `slots` as the kernel left them.
std::string row_text(int64_t row, const Window& window, std::span<const int32_t> slots,
                     const RowJudgement& judged) {
  std::string text = sentence(" Row ", row, " (length ", window.length, ", k ", slots.size(), "):");
  const char* joint = " ";
  for (int64_t i = 0; i < std::min(kSlotsShown, judged.bad_slots); ++i) {
    const BadSlot& bad = judged.bad[static_cast<size_t>(i)];
    text += sentence(joint, "slot ", bad.position, " holds ",
                     slots[static_cast<size_t>(bad.position)], ", ", name(bad.kind));
    if (bad.other >= 0) text += sentence(" with slot ", bad.other);
    joint = "; ";
  }
  if (judged.bad_slots > kSlotsShown) {
    text += sentence("; ", judged.bad_slots, " bad slots in all");
  }
  if (judged.missing_columns > 0) {
    text += sentence(joint, "missing ", judged.missing_columns == 1 ? "column" : "columns");
    for (int64_t i = 0; i < std::min(kMissingShown, judged.missing_columns); ++i) {
      const int64_t column = judged.missing[static_cast<size_t>(i)] + window.index_base;
      text += sentence(i == 0 ? " " : ", ", column);
    }
    if (judged.missing_columns > kMissingShown) {
      text += sentence(" and ", judged.missing_columns - kMissingShown, " more");
    }
  }
  return text + ".";
}

class AnswerJudge {
 public:
  AnswerJudge(const LogitsView& logits, const IndicesView& indices)
      : logits_(logits), indices_(indices), judge_(logits.width) {}

  AnswerJudgement judge(const std::vector<Window>& windows, ContractModes promised) {
    bool at_stake = false;
    for (int64_t row = 0; row < logits_.rows; ++row) {
      const Window& window = windows[static_cast<size_t>(row)];
      at_stake = at_stake || (window.length > 0 && indices_.k > 0);
      judge_row(row, window, promised);
    }
    const bool failed = result_.failing_rows > 0;
    result_.verdict = failed ? Verdict::kFailed : at_stake ? Verdict::kPassed : Verdict::kWeak;
    if (failed) {
      result_.text = sentence(result_.failing_rows, " of ", result_.rows, " rows break contract ",
                              names_of(result_.broken), ": ", names_of(result_.faults), ".", rows_);
    } else if (!at_stake) {
      result_.text = "nothing was at stake: no row has a column to select and a slot for it";
    }
    return result_;
  }

 private:
  void judge_row(int64_t row, const Window& window, ContractModes promised) {
    const std::vector<int32_t> relative = row_of(indices_.data, row, window.index_base);
    const std::vector<int32_t> before = row_of(indices_.before, row, window.index_base);
    read_logits(row, window);
    const RowJudgement judged = judge_.judge({logit_bits_, relative, before}, promised);
    ++result_.rows;
    if (judged.ok()) return;
    if (result_.failing_rows++ < kRowsShown) {
      rows_ += row_text(row, window, row_of(indices_.data, row, 0), judged);
    }
    result_.faults.merge(judged.faults);
    result_.broken |= judged.broken;
  }

  std::vector<int32_t> row_of(const int32_t* slots, int64_t row, int64_t base) const {
    if (slots == nullptr) return {};
    return relative_to_row({slots + row * indices_.row_stride, static_cast<size_t>(indices_.k)},
                           base);
  }

  void read_logits(int64_t row, const Window& window) {
    logit_bits_.resize(static_cast<size_t>(window.length));
    if (window.length == 0) return;
    const int64_t stride = logits_.column_stride;
    const float* first = logits_.data + row * logits_.row_stride + window.start * stride;
    if (stride == 1) {
      std::memcpy(logit_bits_.data(), first, logit_bits_.size() * sizeof(float));
      return;
    }
    for (int64_t column = 0; column < window.length; ++column) {
      std::memcpy(&logit_bits_[static_cast<size_t>(column)], first + column * stride,
                  sizeof(float));
    }
  }

  const LogitsView& logits_;
  const IndicesView& indices_;
  TopkJudge judge_;
  std::vector<uint32_t> logit_bits_;  // of the visible part of the row
  std::string rows_;                  // text of the failing rows
  AnswerJudgement result_;
};

AnswerJudgement judge_windows(const LogitsView& logits, const std::vector<Window>& windows,
                              const IndicesView& indices, ContractModes promised) {
  if (const std::string problem = window_problem(logits, windows); !problem.empty()) {
    return invalid(problem);
  }
  return AnswerJudge(logits, indices).judge(windows, promised);
}

std::string argument_problem(const LogitsView& logits, const IndicesView& indices,
                             ContractModes promised) {
  const std::string problem = shape_problem(logits, indices);
  return problem.empty() ? promise_problem(promised) : problem;
}

}  // namespace

AnswerJudgement judge_topk_decode(const LogitsView& logits, const DecodeRows& rows,
                                  const IndicesView& indices, ContractModes promised) {
  std::string problem = argument_problem(logits, indices, promised);
  if (problem.empty() && (rows.next_n < 1 || rows.seq_lens_dim < 1 || rows.seq_lens_dim > 2)) {
    problem = sentence("next_n ", rows.next_n, " and seq_lens_dim ", rows.seq_lens_dim,
                       "; give next_n of at least 1 and seq_lens_dim 1 or 2");
  }
  if (!problem.empty()) return invalid(problem);
  const int64_t rows_per_length = rows.seq_lens_dim == 1 ? rows.next_n : 1;
  const int64_t lengths = logits.rows / rows_per_length + (logits.rows % rows_per_length != 0);
  if (std::ssize(rows.seq_lens) != lengths) {
    return invalid(sentence("seq_lens has ", rows.seq_lens.size(), " lengths, and ", logits.rows,
                            " rows with next_n ", rows.next_n, " and seq_lens_dim ",
                            rows.seq_lens_dim, " take ", lengths));
  }
  const RowLengthSpec spec{logits.rows, rows.next_n, rows.seq_lens_dim};
  std::vector<Window> windows;
  for (const int64_t length : row_lengths(spec, rows.seq_lens)) windows.push_back({0, length, 0});
  return judge_windows(logits, windows, indices, promised);
}

AnswerJudgement judge_topk_prefill(const LogitsView& logits, const PrefillRows& rows,
                                   const IndicesView& indices, ContractModes promised) {
  const std::string problem = argument_problem(logits, indices, promised);
  if (!problem.empty()) return invalid(problem);
  if (std::ssize(rows.starts) != logits.rows || std::ssize(rows.ends) != logits.rows) {
    return invalid(sentence("there are ", rows.starts.size(), " starts and ", rows.ends.size(),
                            " ends, and ", logits.rows, " rows take as many of each"));
  }
  std::vector<Window> windows;
  for (size_t row = 0; row < rows.starts.size(); ++row) {
    const int64_t length = bounded_length(rows.starts[row], rows.ends[row]);
    windows.push_back({rows.starts[row], length, rows.absolute ? rows.starts[row] : 0});
  }
  return judge_windows(logits, windows, indices, promised);
}

}  // namespace exactk::oracle
