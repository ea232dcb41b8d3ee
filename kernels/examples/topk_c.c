/* Decode top-k in plain C, for the host device: the columns of each row, best first. */
#include <exactk_abi.h>
#include <stdlib.h>
#include <string.h>

static const exactk_host* host;

typedef struct candidate {
  uint32_t key; /* orders as the logits do, NaN and -0 included */
  int32_t column;
} candidate;

static int better_first(const void* left, const void* right) {
  const candidate *a = left, *b = right;
  if (a->key != b->key) return a->key > b->key ? -1 : 1;
  return a->column < b->column ? -1 : 1;
}

static int64_t row_length(const exactk_topk_decode* d, int64_t row) {
  const int64_t length = d->seq_lens_dim == 2
                             ? d->seq_lens[row]
                             : d->seq_lens[row / d->next_n] - d->next_n + row % d->next_n + 1;
  return length > 0 ? length : 0;
}

/* What the stream runs, with a copy of the descriptor: lengths are read here and not in launch().
 */
static void run(const void* arguments) {
  const exactk_topk_decode* d = arguments;
  candidate* candidates = d->workspace;
  for (int64_t row = 0; row < d->rows; ++row) {
    const int64_t length = row_length(d, row);
    for (int64_t column = 0; column < length; ++column) {
      uint32_t bits;
      memcpy(&bits, &d->logits[row * d->row_stride_elems + column * d->column_stride_elems], 4);
      candidates[column].key = bits >> 31 ? ~bits : bits | 0x80000000u;
      candidates[column].column = (int32_t)column;
    }
    qsort(candidates, (size_t)length, sizeof(candidate), better_first);
    for (int64_t slot = 0; slot < d->k; ++slot)
      d->indices[row * d->out_stride_elems + slot] = slot < length ? candidates[slot].column : -1;
  }
}

static exactk_status supports(const void* descriptor, char* message, size_t message_bytes) {
  (void)descriptor, (void)message, (void)message_bytes;
  return EXACTK_OK;
}

static int64_t workspace_bytes(const void* descriptor) {
  return ((const exactk_topk_decode*)descriptor)->width * (int64_t)sizeof(candidate);
}

static exactk_status launch(const void* descriptor, char* message, size_t message_bytes) {
  const exactk_topk_decode* d = descriptor;
  return host->enqueue(d->stream, run, d, sizeof(*d), message, message_bytes);
}

static const exactk_kernel kernel = {
    .struct_size = sizeof(exactk_kernel),
    .modes = EXACTK_MODE_ORDERED | EXACTK_MODE_REPEATABLE | EXACTK_MODE_KERNELS_ONLY,
    .name = "example.c_sort",
    .op = "topk.decode",
    .description = "qsort of the whole row.",
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .launch = launch};
static const exactk_kernel* const kernels[] = {&kernel};

exactk_status exactk_plugin_v1(const exactk_host* told, exactk_plugin* plugin) {
  host = told;
  plugin->struct_size = sizeof(*plugin);
  plugin->abi_version = EXACTK_ABI_VERSION;
  plugin->name = "example in C";
  plugin->version = "1";
  plugin->kernels = kernels;
  plugin->kernel_count = 1;
  plugin->message = "it has kernels for the host device only";
  return host->enqueue ? EXACTK_OK : EXACTK_DECLINED;
}
