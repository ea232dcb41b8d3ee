#include "kernels/check.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace exactk::kernels {

exactk_status refuse(const Refusal& r, exactk_status status, const char* format, ...) {
  if (r.message.text == nullptr || r.message.bytes == 0) {
    return status;
  }
  const int used = std::snprintf(r.message.text, r.message.bytes, "%s ", r.kernel);
  if (used < 0 || static_cast<size_t>(used) >= r.message.bytes) {
    return status;
  }
  va_list values;
  va_start(values, format);
  std::vsnprintf(r.message.text + used, r.message.bytes - static_cast<size_t>(used), format,
                 values);
  va_end(values);
  return status;
}

exactk_status check_numbers(const Refusal& r, std::initializer_list<Number> numbers) {
  for (const Number& n : numbers) {
    if (n.got < n.least) {
      return refuse(r, EXACTK_ERROR, "needs %s of at least %" PRId64 "; got %" PRId64, n.what,
                    n.least, n.got);
    }
    if (n.got > n.most) {
      return refuse(r, EXACTK_DECLINED, "takes %s of at most %" PRId64 "; got %" PRId64, n.what,
                    n.most, n.got);
    }
  }
  return EXACTK_OK;
}

exactk_status check_workspace(const char* kernel, int64_t needed, const void* workspace,
                              int64_t bytes, Message message) {
  const int64_t got = workspace == nullptr ? 0 : bytes;
  if (got >= needed) {
    return EXACTK_OK;
  }
  return refuse({kernel, message}, EXACTK_ERROR,
                "needs a workspace of %" PRId64 " bytes; got %" PRId64, needed, got);
}

}  // namespace exactk::kernels
