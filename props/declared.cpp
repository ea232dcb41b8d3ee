#include "props/declared.h"

#include <fmt/format.h>

#include "fixtures/lengths.h"

namespace exactk::props {
namespace {

std::string beyond(const char* what, int64_t limit, int64_t value) {
  if (limit == 0 || value <= limit) return "";
  return fmt::format("takes {} up to {}; got {}", what, limit, value);
}

}  // namespace

std::string beyond_limits(const exactk_limits& limits, const fixtures::Case& c) {
  std::string text = fixtures::reads(c.op, "k") ? beyond("k", limits.k, c.k) : "";
  const fixtures::LogitsShape logits = fixtures::logits_shape(c);
  if (logits.rows == 0) return text;
  if (text.empty()) text = beyond("a width", limits.width, logits.width);
  if (text.empty()) text = beyond("rows", limits.rows, logits.rows);
  if (text.empty()) text = beyond("next_n", limits.next_n, c.next_n);
  if (text.empty()) text = beyond("a column stride", limits.column_stride, c.column_stride);
  return text;
}

}  // namespace exactk::props
