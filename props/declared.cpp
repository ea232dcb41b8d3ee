#include "props/declared.h"

#include <fmt/format.h>

#include "props/topk_problem.h"

namespace exactk::props {
namespace {

std::string beyond(const char* what, int64_t limit, int64_t value) {
  if (limit == 0 || value <= limit) return "";
  return fmt::format("takes {} up to {}; got {}", what, limit, value);
}

}  // namespace

std::string beyond_limits(const exactk_limits& limits, const fixtures::Case& c) {
  using fixtures::Op;
  std::string text = c.op == Op::kSwa ? "" : beyond("k", limits.k, c.k);
  if (c.op == Op::kCombine || c.op == Op::kTranslate || c.op == Op::kSwa) return text;
  const TopkProblem p = topk_problem(c);
  if (text.empty()) text = beyond("a width", limits.width, p.width);
  if (text.empty()) text = beyond("rows", limits.rows, p.rows);
  if (text.empty()) text = beyond("next_n", limits.next_n, c.next_n);
  if (text.empty()) text = beyond("a column stride", limits.column_stride, c.column_stride);
  return text;
}

}  // namespace exactk::props
