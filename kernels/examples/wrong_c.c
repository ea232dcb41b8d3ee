/* Two decode top-k kernels that are wrong on purpose, to see what the suite says of them: one
 * leaves the slots past a short row's end as they were, the other takes the width for the row
 * stride. */
#include <exactk_abi.h>
#include <string.h>

static const exactk_host* host;

typedef struct call {
  exactk_topk_decode d;
  int forgets_tail;
  int ignores_stride;
} call;

static int64_t row_length(const exactk_topk_decode* d, int64_t row) {
  const int64_t length = d->seq_lens_dim == 2
                             ? d->seq_lens[row]
                             : d->seq_lens[row / d->next_n] - d->next_n + row % d->next_n + 1;
  return length > 0 ? length : 0;
}

/* Larger is better, first by the order of the logits, then by the smaller column; never 0. */
static uint64_t rank(const float* logit, int64_t column) {
  uint32_t bits;
  memcpy(&bits, logit, sizeof(bits));
  const uint32_t key = bits >> 31 ? ~bits : bits | 0x80000000u;
  return (uint64_t)key << 32 | (UINT32_MAX - 1 - (uint32_t)column);
}

static int32_t column_of(uint64_t rank) {
  return (int32_t)(UINT32_MAX - 1 - (uint32_t)rank);
}

static void run(const void* arguments) {
  const call* c = arguments;
  const exactk_topk_decode* d = &c->d;
  const int64_t row_stride = c->ignores_stride ? d->width : d->row_stride_elems;
  for (int64_t row = 0; row < d->rows; ++row) {
    const int64_t length = row_length(d, row);
    uint64_t last = UINT64_MAX;
    for (int64_t slot = 0; slot < d->k; ++slot) {
      uint64_t best = 0;
      for (int64_t column = 0; column < length; ++column) {
        const float* logit = &d->logits[row * row_stride + column * d->column_stride_elems];
        const uint64_t here = rank(logit, column);
        if (here < last && here > best) best = here;
      }
      if (best == 0 && c->forgets_tail) break;
      d->indices[row * d->out_stride_elems + slot] = best == 0 ? -1 : column_of(best);
      last = best;
    }
  }
}

static exactk_status supports(const void* descriptor, char* message, size_t message_bytes) {
  (void)descriptor, (void)message, (void)message_bytes;
  return EXACTK_OK;
}

static int64_t workspace_bytes(const void* descriptor) {
  (void)descriptor;
  return 0;
}

static exactk_status without_tail(const void* descriptor, char* message, size_t message_bytes) {
  const call c = {*(const exactk_topk_decode*)descriptor, 1, 0};
  return host->enqueue(c.d.stream, run, &c, sizeof(c), message, message_bytes);
}

static exactk_status without_stride(const void* descriptor, char* message, size_t message_bytes) {
  const call c = {*(const exactk_topk_decode*)descriptor, 0, 1};
  return host->enqueue(c.d.stream, run, &c, sizeof(c), message, message_bytes);
}

static const exactk_kernel tail = {.struct_size = sizeof(exactk_kernel),
                                   .modes = EXACTK_MODE_ORDERED,
                                   .name = "example.wrong_tail",
                                   .op = "topk.decode",
                                   .description = "Forgets the sentinels of a short row.",
                                   .supports = supports,
                                   .workspace_bytes = workspace_bytes,
                                   .launch = without_tail};
static const exactk_kernel stride = {.struct_size = sizeof(exactk_kernel),
                                     .modes = EXACTK_MODE_ORDERED,
                                     .name = "example.wrong_stride",
                                     .op = "topk.decode",
                                     .description = "Takes the width for the row stride.",
                                     .supports = supports,
                                     .workspace_bytes = workspace_bytes,
                                     .launch = without_stride};
static const exactk_kernel* const kernels[] = {&tail, &stride};

exactk_status exactk_plugin_v1(const exactk_host* told, exactk_plugin* plugin) {
  host = told;
  plugin->struct_size = sizeof(*plugin);
  plugin->abi_version = EXACTK_ABI_VERSION;
  plugin->name = "wrong on purpose";
  plugin->kernels = kernels;
  plugin->kernel_count = 2;
  plugin->message = "it has kernels for the host device only";
  return host->enqueue ? EXACTK_OK : EXACTK_DECLINED;
}
