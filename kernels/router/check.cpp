#include "kernels/router/check.h"

#include <cinttypes>
#include <cmath>

#include "kernels/router/limits.h"

namespace exactk::kernels::router {
namespace {

exactk_status check_flag(const Refusal& r, const char* what, int32_t flag) {
  return flag == 0 || flag == 1
             ? EXACTK_OK
             : refuse(r, EXACTK_ERROR, "needs %s of 0 or 1; got %" PRId32, what, flag);
}

exactk_status check_kinds(const Refusal& r, const exactk_router& d) {
  if (d.scoring != EXACTK_ROUTER_SIGMOID && d.scoring != EXACTK_ROUTER_SOFTMAX) {
    return refuse(r, EXACTK_ERROR, "needs a scoring of 0 or 1; got %" PRId32, d.scoring);
  }
  if (d.logit_bytes != 2 && d.logit_bytes != 4) {
    return refuse(r, EXACTK_ERROR, "needs logits of 2 or 4 bytes; got %" PRId32, d.logit_bytes);
  }
  if (!std::isfinite(d.scaling)) {
    return refuse(r, EXACTK_ERROR, "needs a finite scaling; got %g", double{d.scaling});
  }
  const exactk_status status = check_flag(r, "a bias flag", d.has_bias);
  return status == EXACTK_OK ? check_flag(r, "a renormalize flag", d.renormalize) : status;
}

exactk_status check(const Refusal& r, const exactk_router& d, const Limits& limits) {
  exactk_status status = check_kinds(r, d);
  if (status == EXACTK_OK) {
    status = check_numbers(r, {{"a token count", d.tokens, 1, kTokensMax},
                               {"an expert count", d.experts, 1, limits.experts},
                               {"a group count", d.groups, 1, limits.groups}});
  }
  if (status == EXACTK_OK && d.experts % d.groups != 0) {
    return refuse(r, EXACTK_ERROR,
                  "needs groups of one size; got %" PRId64 " experts in %" PRId64 " groups",
                  d.experts, d.groups);
  }
  if (status == EXACTK_OK && d.topk_groups > d.groups) {
    return refuse(r, EXACTK_ERROR, "needs at most as many chosen groups as groups; got %" PRId64,
                  d.topk_groups);
  }
  if (status == EXACTK_OK) {
    status = check_numbers(
        r, {{"a count of chosen groups", d.topk_groups, 1},
            {"a k", d.k, 1, limits.k},
            {"a logit stride", d.logit_stride_elems, least_stride(d.tokens, d.experts)},
            {"an output stride", d.out_stride_elems, least_stride(d.tokens, d.k)}});
  }
  const int64_t candidates = status == EXACTK_OK ? d.experts / d.groups * d.topk_groups : 0;
  if (status == EXACTK_OK && d.k > candidates) {
    return refuse(r, EXACTK_ERROR,
                  "needs a k of at most the %" PRId64 " experts of the chosen groups; got %" PRId64,
                  candidates, d.k);
  }
  return status;
}

}  // namespace

exactk_status check_wave(const char* kernel, const exactk_router& d, Message message) {
  return check({kernel, message}, d, kWaveLimits);
}

exactk_status check_block(const char* kernel, const exactk_router& d, Message message) {
  return check({kernel, message}, d, kBlockLimits);
}

}  // namespace exactk::kernels::router
