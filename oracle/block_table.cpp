#include "oracle/block_table.h"

#include <algorithm>

namespace exactk::oracle {
namespace {

constexpr int64_t kSentinel = -1;

class Translator {
 public:
  Translator(const TranslateShape& shape, const TranslateInputs& in, const BlockTable& table)
      : shape_(shape), in_(in), table_(table) {}

  std::vector<ExpectedTensor> positional() const {
    ExpectedTensor slots = matrix();
    ExpectedTensor lens = untouched_vector("lens", shape_.tokens);
    for (int64_t token = 0; token < shape_.tokens; ++token) {
      const std::vector<int64_t> row = row_slots(token);
      set_row(slots, token * shape_.out_stride, row);
      lens.set(token, length(token, row));
    }
    return {std::move(slots), std::move(lens)};
  }

  std::vector<ExpectedTensor> compact() const {
    ExpectedTensor slots = matrix();
    ExpectedTensor lens = untouched_vector("lens", shape_.tokens);
    for (int64_t token = 0; token < shape_.tokens; ++token) {
      std::vector<int64_t> row = row_slots(token);
      lens.set(token, length(token, row));
      std::erase(row, kSentinel);
      row.resize(static_cast<size_t>(shape_.k), kSentinel);
      set_row(slots, token * shape_.out_stride, row);
    }
    return {std::move(slots), std::move(lens)};
  }

  // A row takes its first positions, as many as it has valid indices: an invalid one among them is
  // copied, and a valid one past them is lost, as published.
  std::vector<ExpectedTensor> ragged() const {
    std::vector<std::vector<int64_t>> rows;
    for (int64_t token = 0; token < shape_.tokens; ++token) {
      std::vector<int64_t> row = row_slots(token);
      row.resize(static_cast<size_t>(length(token, row)));
      rows.push_back(std::move(row));
    }
    return rows_and_indptr(rows);
  }

  std::vector<ExpectedTensor> pack() const {
    std::vector<std::vector<int64_t>> rows;
    for (int64_t token = 0; token < shape_.tokens; ++token) {
      const int64_t given = in_.lengths[static_cast<size_t>(token)];
      std::vector<int64_t>& row = rows.emplace_back();
      for (int64_t j = 0; j < std::clamp<int64_t>(given, 0, shape_.k); ++j) {
        const int64_t v = index(token, j);
        const bool in_bound = shape_.slots_bound < 0 || (v >= 0 && v < shape_.slots_bound);
        row.push_back(in_bound ? v : kSentinel);
      }
    }
    return rows_and_indptr(rows);
  }

  // Where an index is invalid the published kernel names slot 0.
  std::vector<ExpectedTensor> flat() const {
    ExpectedTensor slots = list();
    for (int64_t token = 0; token < shape_.tokens; ++token) {
      const int64_t begin = in_.cu_seqlens[static_cast<size_t>(token)];
      const int64_t end = in_.cu_seqlens[static_cast<size_t>(token + 1)];
      slots.row_begins[static_cast<size_t>(token)] = begin;
      for (int64_t j = 0; j < std::min(end - begin, shape_.k); ++j) {
        slots.set(begin + j, slot(token, index(token, j)).value_or(0));
      }
    }
    return {std::move(slots)};
  }

  std::vector<ExpectedTensor> capped() const {
    ExpectedTensor slots = matrix();
    ExpectedTensor lens = untouched_vector("lens", shape_.tokens);
    for (int64_t token = 0; token < shape_.tokens; ++token) {
      const int64_t position = in_.positions[static_cast<size_t>(token)];
      const int64_t n = position < 0 ? 0 : std::min((position + 1) / shape_.ratio, in_.cap);
      std::vector<int64_t> row(static_cast<size_t>(in_.cap), kSentinel);
      for (int64_t j = 0; j < n; ++j) {
        row[static_cast<size_t>(j)] = slot(token, j).value_or(kSentinel);
      }
      set_row(slots, token * shape_.out_stride, row);
      lens.set(token, valid(token) ? n : 0);
    }
    return {std::move(slots), std::move(lens)};
  }

 private:
  // The slot of every index of the row, in place: [k].
  std::vector<int64_t> row_slots(int64_t token) const {
    std::vector<int64_t> slots;
    for (int64_t j = 0; j < shape_.k; ++j) {
      slots.push_back(slot(token, index(token, j)).value_or(kSentinel));
    }
    return slots;
  }

  int64_t index(int64_t token, int64_t j) const {
    return in_.indices[static_cast<size_t>(token * shape_.index_stride + j)];
  }
  bool valid(int64_t token) const { return in_.token_valid[static_cast<size_t>(token)] != 0; }
  std::optional<int64_t> slot(int64_t token, int64_t local_index) const {
    return slot_of(table_, in_.token_to_req[static_cast<size_t>(token)], local_index);
  }
  // A row's valid slots; none where the token is not valid.
  int64_t length(int64_t token, const std::vector<int64_t>& row) const {
    return valid(token) ? shape_.k - std::count(row.begin(), row.end(), kSentinel) : 0;
  }

  ExpectedTensor matrix() const {
    return untouched_matrix(
        "slots", {.rows = shape_.tokens, .columns = shape_.k, .stride = shape_.out_stride});
  }
  // A flat list; its rows are where its writer says.
  ExpectedTensor list() const {
    return untouched_matrix("slots",
                            {.rows = shape_.tokens, .columns = shape_.k, .stride = shape_.k});
  }

  static void set_row(ExpectedTensor& slots, int64_t begin, const std::vector<int64_t>& row) {
    for (size_t j = 0; j < row.size(); ++j) {
      slots.set(begin + static_cast<int64_t>(j), row[j]);
    }
  }

  std::vector<ExpectedTensor> rows_and_indptr(const std::vector<std::vector<int64_t>>& rows) const {
    ExpectedTensor slots = list();
    ExpectedTensor indptr = untouched_vector("indptr", shape_.tokens + 1);
    int64_t begin = 0;
    for (size_t token = 0; token < rows.size(); ++token) {
      slots.row_begins[token] = begin;
      indptr.set(static_cast<int64_t>(token), begin);
      set_row(slots, begin, rows[token]);
      begin += std::ssize(rows[token]);
    }
    indptr.set(shape_.tokens, begin);
    return {std::move(slots), std::move(indptr)};
  }

  const TranslateShape& shape_;
  const TranslateInputs& in_;
  const BlockTable& table_;
};

}  // namespace

std::string_view name(TranslateVariant variant) {
  switch (variant) {
    case TranslateVariant::kPositional:
      return "positional";
    case TranslateVariant::kCompact:
      return "compact";
    case TranslateVariant::kRagged:
      return "ragged";
    case TranslateVariant::kPack:
      return "pack";
    case TranslateVariant::kFlat:
      return "flat";
    case TranslateVariant::kCapped:
      return "capped";
  }
  return "unknown";
}

std::optional<int64_t> slot_of(const BlockTable& table, int64_t request, int64_t local_index) {
  if (local_index < 0 || request < 0 || request >= table.requests) {
    return std::nullopt;
  }
  const int64_t column = local_index / table.block_size;
  if (column >= table.columns) {
    return std::nullopt;
  }
  const int64_t block = table.blocks[static_cast<size_t>(request * table.stride + column)];
  return block * table.block_size + local_index % table.block_size;
}

std::vector<ExpectedTensor> expected_translate(const TranslateShape& shape,
                                               const TranslateInputs& in, const BlockTable& table) {
  const Translator translator(shape, in, table);
  switch (shape.variant) {
    case TranslateVariant::kPositional:
      return translator.positional();
    case TranslateVariant::kCompact:
      return translator.compact();
    case TranslateVariant::kRagged:
      return translator.ragged();
    case TranslateVariant::kPack:
      return translator.pack();
    case TranslateVariant::kFlat:
      return translator.flat();
    case TranslateVariant::kCapped:
      return translator.capped();
  }
  return {};
}

}  // namespace exactk::oracle
