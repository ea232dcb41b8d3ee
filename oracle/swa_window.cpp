#include "oracle/swa_window.h"

#include <algorithm>

namespace exactk::oracle {

Window swa_window(int64_t position, int64_t window, int64_t left_visible, int64_t right_visible) {
  if (position < 0) {
    return {};
  }
  // What an image shows to the left counts only as far as it is beyond the window.
  const int64_t beyond = std::max<int64_t>(left_visible - (window - 1), 0);
  return {.begin = std::max<int64_t>(position - (window - 1) - beyond, 0),
          .end = position + right_visible + 1};
}

std::vector<ExpectedTensor> expected_swa(const SwaShape& shape, const SwaInputs& in,
                                         const BlockTable& table) {
  ExpectedTensor slots = untouched_matrix(
      "slots", {.rows = shape.tokens, .columns = shape.columns, .stride = shape.out_stride});
  ExpectedTensor lens = untouched_vector("lens", shape.tokens);
  for (int64_t token = 0; token < shape.tokens; ++token) {
    const auto t = static_cast<size_t>(token);
    const int64_t left = in.left_visible.empty() ? 0 : in.left_visible[t];
    const int64_t right = in.right_visible.empty() ? 0 : in.right_visible[t];
    const Window seen =
        in.token_valid[t] ? swa_window(in.positions[t], shape.window, left, right) : Window{};
    lens.set(token, seen.end - seen.begin);
    for (int64_t column = 0; column < shape.columns; ++column) {
      const int64_t position = seen.begin + column;
      const auto slot =
          position < seen.end ? slot_of(table, in.token_to_req[t], position) : std::nullopt;
      slots.set(token * shape.out_stride + column, slot.value_or(-1));
    }
  }
  return {std::move(slots), std::move(lens)};
}

}  // namespace exactk::oracle
