// A right decode top-k in plain C, and a plugin of it: what the hostile plugins spoil one part of.
#pragma once

#include <exactk_abi.h>
#include <stddef.h>
#include <stdint.h>

static const exactk_host* told_host;

static inline int64_t right_length(const exactk_topk_decode* d, int64_t row) {
  const int64_t length = d->seq_lens_dim == 2
                             ? d->seq_lens[row]
                             : d->seq_lens[row / d->next_n] - d->next_n + row % d->next_n + 1;
  return length > 0 ? length : 0;
}

static inline uint32_t right_key(const exactk_topk_decode* d, int64_t row, int64_t column) {
  const uint32_t bits =
      ((const uint32_t*)d->logits)[row * d->row_stride_elems + column * d->column_stride_elems];
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

// Columns in ascending order, ties to the smallest: a column is selected if fewer than k are
// better.
static inline void right_run(const void* arguments) {
  const exactk_topk_decode* d = (const exactk_topk_decode*)arguments;
  for (int64_t row = 0; row < d->rows; ++row) {
    const int64_t length = right_length(d, row);
    int32_t* slots = d->indices + row * d->out_stride_elems;
    int64_t slot = 0;
    for (int64_t column = 0; column < length; ++column) {
      const uint32_t key = right_key(d, row, column);
      int64_t better = 0;
      for (int64_t other = 0; other < length; ++other) {
        const uint32_t other_key = right_key(d, row, other);
        better += other_key > key || (other_key == key && other < column);
      }
      if (better < d->k) slots[slot++] = (int32_t)column;
    }
    while (slot < d->k) slots[slot++] = -1;
  }
}

static inline exactk_status takes_all(const void* descriptor, char* message, size_t message_bytes) {
  (void)descriptor, (void)message, (void)message_bytes;
  return EXACTK_OK;
}

static inline int64_t no_workspace(const void* descriptor) {
  (void)descriptor;
  return 0;
}

static inline exactk_status enqueue(void (*run)(const void*), const void* descriptor, char* message,
                                    size_t message_bytes) {
  const exactk_topk_decode* d = (const exactk_topk_decode*)descriptor;
  return told_host->enqueue(d->stream, run, d, sizeof(*d), message, message_bytes);
}

static inline exactk_status right_launch(const void* descriptor, char* message,
                                         size_t message_bytes) {
  return enqueue(right_run, descriptor, message, message_bytes);
}

static inline exactk_kernel right_kernel(const char* name) {
  const exactk_kernel kernel = {sizeof(exactk_kernel),
                                EXACTK_MODE_STABLE | EXACTK_MODE_REPEATABLE,
                                name,
                                "topk.decode",
                                "a kernel for tests",
                                takes_all,
                                no_workspace,
                                right_launch,
                                EXACTK_NAN_ORDERED,
                                0,
                                {0, 0, 0, 0, 0}};
  return kernel;
}

static inline exactk_status fill_plugin(const exactk_host* host, exactk_plugin* plugin,
                                        const exactk_kernel* const* kernels, int64_t count) {
  told_host = host;
  plugin->struct_size = sizeof(*plugin);
  plugin->abi_version = EXACTK_ABI_VERSION;
  plugin->name = "a plugin for tests";
  plugin->kernels = kernels;
  plugin->kernel_count = count;
  return EXACTK_OK;
}
