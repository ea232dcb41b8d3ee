/* A kernel of a project outside: takes the best column left, k times. C11 and the installed header,
 * nothing else. It compares floats, so it is for logits without NaN and negative zeros. */
#include <exactk/exactk_abi.h>
#include <stdio.h>

static float logit(const exactk_topk_decode* d, int64_t row, int64_t column) {
  return d->logits[row * d->row_stride_elems + column * d->column_stride_elems];
}

static int taken(const int32_t* slots, int64_t count, int64_t column) {
  for (int64_t slot = 0; slot < count; ++slot) {
    if (slots[slot] == column) return 1;
  }
  return 0;
}

static int32_t best_left(const exactk_topk_decode* d, int64_t row, const int32_t* slots,
                         int64_t count) {
  int64_t best = -1;
  for (int64_t column = 0; column < d->seq_lens[row]; ++column) {
    if (taken(slots, count, column)) continue;
    if (best < 0 || logit(d, row, column) > logit(d, row, best)) best = column;
  }
  return (int32_t)best;
}

static exactk_status supports(const void* descriptor, char* message, size_t message_bytes) {
  const exactk_topk_decode* d = descriptor;
  if (d->seq_lens_dim == 2) return EXACTK_OK;
  snprintf(message, message_bytes, "takes one length per row only; got seq_lens_dim %d",
           (int)d->seq_lens_dim);
  return EXACTK_DECLINED;
}

static int64_t workspace_bytes(const void* descriptor) {
  (void)descriptor;
  return 0;
}

static exactk_status launch(const void* descriptor, char* message, size_t message_bytes) {
  const exactk_topk_decode* d = descriptor;
  const exactk_status supported = supports(d, message, message_bytes);
  if (supported != EXACTK_OK) return supported;
  for (int64_t row = 0; row < d->rows; ++row) {
    int32_t* slots = d->indices + row * d->out_stride_elems;
    for (int64_t slot = 0; slot < d->k; ++slot) slots[slot] = best_left(d, row, slots, slot);
  }
  return EXACTK_OK;
}

const exactk_kernel outside_greedy = {
    .struct_size = sizeof(exactk_kernel),
    .modes = EXACTK_MODE_SET | EXACTK_MODE_PREFIX | EXACTK_MODE_ORDERED,
    .name = "topk.greedy",
    .op = "topk.decode",
    .description = "The best column left, k times.",
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
};
